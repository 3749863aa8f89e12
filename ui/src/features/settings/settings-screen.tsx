import { Link } from "@tanstack/react-router";
import { ScrollText } from "~/components/scroll";
import type { BankId } from "~/platform/bindings";
import { AboutPage } from "./about-page";
import { DataPage } from "./data-page";
import { LookPage } from "./look-page";
import { ModelsPage } from "./models-page";
import { type SettingsPage, settingsPages } from "./pages";
import { strings } from "./strings";
import { WorkPage } from "./work-page";

/** Settings: pages at the left, one of them at the right. Every change is kept at once. */
export function SettingsScreen({ bank, page }: { bank: BankId; page: SettingsPage }) {
  return (
    <div className="grid min-h-0 min-w-0 flex-1 grid-cols-[12rem_minmax(0,1fr)] max-[1100px]:grid-cols-[10.25rem_minmax(0,1fr)]">
      <nav
        aria-label={strings.pagesLabel}
        data-pane
        tabIndex={-1}
        data-focus-inside
        className="grid content-start gap-px border-line border-r p-2"
      >
        {settingsPages.map((each) => (
          <Link
            key={each}
            to="/b/$bank/settings/{-$page}"
            params={{ bank, page: each }}
            data-plain
            aria-current={each === page ? "page" : undefined}
            className="flex min-h-(--row) items-center rounded-md px-2 text-muted hover:bg-hover aria-[current=page]:bg-selected aria-[current=page]:font-semibold aria-[current=page]:text-text"
          >
            {strings.pages[each]}
          </Link>
        ))}
      </nav>
      <div data-pane tabIndex={-1} data-focus-inside className="flex min-h-0 min-w-0">
        <ScrollText label={strings.pages[page]} className="px-8 py-6 max-[1100px]:px-5">
          <div className="grid max-w-[43.5rem] gap-6 pb-8">
            <div>
              <h1 className="type-title">{strings.pages[page]}</h1>
              <p className="max-w-(--measure) text-pretty text-muted">{strings[page].about}</p>
            </div>
            {page === "models" && <ModelsPage />}
            {page === "work" && <WorkPage bank={bank} />}
            {page === "look" && <LookPage />}
            {page === "data" && <DataPage bank={bank} />}
            {page === "about" && <AboutPage />}
          </div>
        </ScrollText>
      </div>
    </div>
  );
}
