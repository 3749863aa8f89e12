import { createFileRoute, Outlet } from "@tanstack/react-router";
import { Tour } from "~/features/first-run/tour";
import { Frame } from "~/frame/frame";
import type { BankId } from "~/platform/bindings";

export const Route = createFileRoute("/b/$bank")({
  params: { parse: ({ bank }) => ({ bank: bank as BankId }) },
  component: Bank,
});

function Bank() {
  const { bank } = Route.useParams();
  return (
    <Frame bank={bank} key={bank}>
      <Outlet />
      <Tour bank={bank} />
    </Frame>
  );
}
