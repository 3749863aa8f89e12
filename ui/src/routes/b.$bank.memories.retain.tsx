import { createFileRoute } from "@tanstack/react-router";
import { RetainScreen } from "~/features/memories/retain-screen";

export const Route = createFileRoute("/b/$bank/memories/retain")({ component: Retain });

function Retain() {
  const { bank } = Route.useParams();
  return <RetainScreen bank={bank} />;
}
