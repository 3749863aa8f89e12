import { createFileRoute, Navigate } from "@tanstack/react-router";
import { useRead } from "~/platform/cache";

export const Route = createFileRoute("/")({ component: Start });

/** Where the program opens: the bank that was open last. */
function Start() {
  const status = useRead("appStatus", []).data;
  const banks = useRead("listBanks", []).data;
  const bank = status?.bank ?? status?.sample_bank ?? banks?.[0]?.id;
  return bank ? (
    <Navigate to="/b/$bank/review/{-$proposal}" params={{ bank, proposal: undefined }} replace />
  ) : null;
}
