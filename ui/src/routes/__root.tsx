import { createRootRoute, Outlet } from "@tanstack/react-router";
import { ReportCard } from "~/components/report";
import { Blocked } from "~/frame/blocked";
import { useRead } from "~/platform/cache";

export const Route = createRootRoute({ component: Root });

function Root() {
  const status = useRead("appStatus", []);
  if (status.data?.blocked) return <Blocked status={status.data} report={status.data.blocked} />;
  if (status.error && !status.data) {
    return (
      <main className="p-8">
        <ReportCard report={status.error} onRetry={() => void status.refetch()} />
      </main>
    );
  }
  return status.data ? <Outlet /> : null;
}
