import { createFileRoute } from "@tanstack/react-router";
import { isSettingsPage } from "~/features/settings/pages";
import { SettingsScreen } from "~/features/settings/settings-screen";

export const Route = createFileRoute("/b/$bank/settings/{-$page}")({ component: Settings });

function Settings() {
  const { bank, page } = Route.useParams();
  return <SettingsScreen bank={bank} page={isSettingsPage(page) ? page : "models"} />;
}
