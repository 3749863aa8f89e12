import { createFileRoute, Navigate } from "@tanstack/react-router";
import { useState } from "react";
import { ReportCard } from "~/components/report";
import { FirstRunScreen } from "~/features/first-run/first-run-screen";
import { Frame } from "~/frame/frame";
import { NewBank } from "~/frame/new-bank";
import { useRead, useWrite } from "~/platform/cache";

export const Route = createFileRoute("/")({ component: Start });

/** Where the program opens: the first page until it has been left, then the bank of last time. */
function Start() {
  const status = useRead("appStatus", []).data;
  const listed = useRead("listBanks", []);
  const banks = listed.data;
  const finish = useWrite("finishFirstRun");
  const [making, setMaking] = useState(false);
  if (listed.error && !banks)
    return (
      <main className="p-8">
        <ReportCard report={listed.error} onRetry={() => void listed.refetch()} />
      </main>
    );
  if (!status || !banks) return null;
  const bank = status.bank ?? status.sample_bank ?? banks[0]?.id;
  if (status.first_run_done && bank) {
    return (
      <Navigate to="/b/$bank/review/{-$proposal}" params={{ bank, proposal: undefined }} replace />
    );
  }
  const first = (
    <FirstRunScreen
      sample={status.sample_bank}
      ready={status.sample_ready}
      onNewBank={() => setMaking(true)}
    />
  );
  return (
    <>
      {bank ? <Frame bank={bank}>{first}</Frame> : <main className="flex h-full">{first}</main>}
      {/* Beside the frame, which comes with the sample bank: a name half typed stays. */}
      {making && <NewBank onClose={() => setMaking(false)} onMade={() => finish.mutate([])} />}
    </>
  );
}
