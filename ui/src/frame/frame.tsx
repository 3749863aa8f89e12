import { useLocation, useNavigate } from "@tanstack/react-router";
import { Menu as MenuIcon, Search } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { IconButton } from "~/components/button";
import { Icon } from "~/components/icon";
import { Keys } from "~/components/keys";
import { LeftBehind } from "~/components/left-behind";
import { BrokenPane } from "~/components/report";
import { useCommands } from "~/keys/use-commands";
import type { BankId } from "~/platform/bindings";
import { Activity } from "./activity";
import { BankMenu } from "./bank-menu";
import { useFocusStays } from "./focus-stays";
import { Help } from "./help";
import { Palette } from "./palette";
import { Rail } from "./rail";
import { strings } from "./strings";
import { Unattended } from "./unattended";
import { useZoom } from "./zoom";

/** Bar, rail and the panes of the screen. Below 900 px the rail folds behind a menu button. */
export function Frame({ bank, children }: { bank: BankId; children: ReactNode }) {
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const [unfolded, setUnfolded] = useState(false);
  const navigate = useNavigate();
  const pathname = useLocation({ select: ({ pathname: path }) => path });
  const zoom = useZoom();
  useFocusStays();

  useCommands({
    "app.palette": () => setPalette(true),
    "app.help": () => setHelp(true),
    "app.banks": () => openBankMenu(),
    "app.zoomIn": () => zoom(10),
    "app.zoomOut": () => zoom(-10),
    "app.zoomReset": () => zoom(0),
    "app.nextPane": () => movePane(1),
    "app.previousPane": () => movePane(-1),
    "go.review": () =>
      void navigate({
        to: "/b/$bank/review/{-$proposal}",
        params: { bank, proposal: undefined },
        search: {},
      }),
    "go.models": () => void navigate({ to: "/b/$bank/models", params: { bank } }),
    "go.memories": () =>
      void navigate({
        to: "/b/$bank/memories/{-$memory}",
        params: { bank, memory: undefined },
        search: {},
      }),
    "go.directives": () =>
      void navigate({
        to: "/b/$bank/directives/{-$directive}",
        params: { bank, directive: undefined },
        search: {},
      }),
    "go.activity": () =>
      void navigate({
        to: "/b/$bank/activity/{-$operation}",
        params: { bank, operation: undefined },
        search: {},
      }),
    "go.settings": () =>
      void navigate({ to: "/b/$bank/settings/{-$page}", params: { bank, page: undefined } }),
    "go.reflect": () =>
      void navigate({ to: "/b/$bank/reflect/{-$run}", params: { bank, run: undefined } }),
  });

  return (
    <div className="grid h-full grid-rows-[var(--bar)_minmax(0,1fr)]">
      <a
        href="#content"
        className="type-list fixed top-1 left-1 z-30 -translate-y-16 rounded-md bg-raised px-3 py-1 shadow-float focus-visible:translate-y-0"
      >
        {strings.skip}
      </a>
      <header className="grid grid-cols-[minmax(0,1fr)_minmax(120px,240px)_minmax(0,1fr)] folded:grid-cols-[minmax(0,1fr)_minmax(200px,400px)_minmax(0,1fr)] items-center gap-4 border-line border-b bg-sunken px-2">
        <div className="flex min-w-0 items-center gap-1">
          <IconButton
            icon={MenuIcon}
            name={strings.menu}
            aria-expanded={unfolded}
            onClick={() => setUnfolded(!unfolded)}
            className="folded:hidden"
          />
          <BankMenu bank={bank} />
        </div>
        <button
          type="button"
          onClick={() => setPalette(true)}
          className="flex h-(--control) min-w-0 items-center gap-2 rounded-md border border-edge bg-ground pr-1.5 pl-2 text-faint hover:bg-hover"
        >
          <Icon of={Search} className="text-muted" />
          <span className="min-w-0 flex-1 truncate text-left">{strings.search}</span>
          <Keys of="app.palette" />
        </button>
        <div className="flex items-center justify-end gap-1">
          <Activity bank={bank} />
        </div>
      </header>
      <div className="grid min-h-0 grid-cols-[minmax(0,1fr)] folded:grid-cols-[var(--rail)_minmax(0,1fr)]">
        <Rail bank={bank} className="hidden border-line border-r folded:flex" />
        {unfolded && (
          <div className="fixed inset-x-0 top-(--bar) bottom-0 z-10 bg-(--scrim) folded:hidden">
            <Rail
              bank={bank}
              onGone={() => setUnfolded(false)}
              className="h-full w-48 shadow-float"
            />
          </div>
        )}
        <main
          id="content"
          tabIndex={-1}
          data-focus-inside
          className="flex min-h-0 min-w-0 flex-col"
        >
          <Unattended bank={bank} />
          <LeftBehind />
          <div className="flex min-h-0 min-w-0 flex-1">
            <ErrorBoundary FallbackComponent={BrokenPane} resetKeys={[pathname]}>
              {children}
            </ErrorBoundary>
          </div>
        </main>
      </div>
      <Palette bank={bank} open={palette} onOpenChange={setPalette} />
      <Help open={help} onOpenChange={setHelp} />
    </div>
  );
}

function openBankMenu(): void {
  const trigger = document.getElementById("bank-menu");
  trigger?.focus();
  trigger?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
}

/** Moves the focus to the next landmark pane, round and round. */
function movePane(step: 1 | -1): void {
  const panes = [...document.querySelectorAll<HTMLElement>("[data-pane]")].filter(
    (pane) => pane.offsetParent !== null,
  );
  const at = panes.findIndex((pane) => pane.contains(document.activeElement));
  const next = panes[(at + step + panes.length) % panes.length];
  const inside = next?.querySelector<HTMLElement>("[role=listbox],[aria-current=page]");
  (inside ?? next)?.focus();
}
