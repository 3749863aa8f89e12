import { useState } from "react";
import { Button } from "~/components/button";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { useRead } from "~/platform/cache";
import { Card, Row } from "./card";
import { strings } from "./strings";

const words = strings.about;

/** Version, licence, and what the program is made of. */
export function AboutPage() {
  const version = useRead("appStatus", []).data?.version ?? "";
  const [open, setOpen] = useState(false);
  const notices = useRead("thirdPartyNotices", open ? [] : null);
  return (
    <>
      <Card title="Palimpsest">
        <Row title={words.version}>
          <span className="select-text text-muted">{version}</span>
        </Row>
        <Row title={words.licence}>
          <span className="text-muted">{words.licenceName}</span>
        </Row>
        <Row title={words.notices}>
          <Button size="small" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? words.hideNotices : words.showNotices}
          </Button>
        </Row>
        {open && (
          <div className="p-3">
            {notices.error ? (
              <ReportCard report={notices.error} onRetry={() => void notices.refetch()} />
            ) : (
              <ScrollText label={words.notices} className="max-h-96">
                <pre className="type-code select-text whitespace-pre-wrap">
                  {notices.data ?? words.loading}
                </pre>
              </ScrollText>
            )}
          </div>
        )}
      </Card>
      <Card title={words.leaves}>
        <p className="text-pretty px-4 py-3 text-muted">{words.nothing}</p>
      </Card>
    </>
  );
}
