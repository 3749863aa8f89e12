import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "~/components/button";
import { Checkbox } from "~/components/field";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import type { EndpointView, FoundServer } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { Card, Row } from "./card";
import { Endpoint } from "./endpoint";
import { type Draft, draftOf, EndpointDialog, emptyDraft } from "./endpoint-dialog";
import { Found } from "./found";
import { RemoveDialog } from "./remove-dialog";
import { strings } from "./strings";

const words = strings.models;

/** Language models: what is set up, what was found, how well it does, and what happens without. */
export function ModelsPage() {
  const settings = useRead("llmSettings", []);
  const status = useRead("appStatus", []).data;
  const extractive = useWrite("setExtractive");
  const choose = useWrite("chooseEndpoint");
  const check = useWrite("checkEndpoint");
  const [draft, setDraft] = useState<Draft | null>(null);
  const [removing, setRemoving] = useState<EndpointView | null>(null);
  if (settings.error)
    return <ReportCard report={settings.error} onRetry={() => void settings.refetch()} />;
  if (!settings.data) return <SkeletonRows rows={4} />;
  const { endpoints, keychain } = settings.data;
  const fault = choose.error ?? check.error;
  const answering = status?.answering;
  const addFound = (server: FoundServer) =>
    setDraft({
      ...emptyDraft,
      name: server.name,
      protocol: server.protocol,
      base_url: server.base_url,
      llm: server.llms[0] ?? "",
      known: server.llms,
    });
  return (
    <>
      {answering && (
        <p>
          <span className="text-muted">{words.now}: </span>
          {answering.kind === "llm"
            ? `${answering.llm}, ${answering.endpoint}`
            : words.answering[answering.kind]}
        </p>
      )}
      <div>
        <Card title={words.endpoints}>
          {endpoints.length === 0 && <p className="px-4 py-3 text-muted">{words.none}</p>}
          {endpoints.map((endpoint) => (
            <Endpoint
              key={endpoint.id}
              endpoint={endpoint}
              onEdit={() => setDraft(draftOf(endpoint))}
              onRemove={() => setRemoving(endpoint)}
            />
          ))}
        </Card>
        {fault && <ReportCard className="mt-2" report={fault} />}
        <Button icon={Plus} className="mt-2" onClick={() => setDraft(emptyDraft)}>
          {words.add}
        </Button>
      </div>
      <Found endpoints={endpoints} onAdd={addFound} />
      <Card title={words.extractive}>
        <div className="px-4 py-3">
          <Checkbox
            label={words.extractiveOn}
            help={words.extractiveHelp}
            checked={settings.data.extractive}
            onChange={({ target }) => extractive.mutate([target.checked])}
          />
        </div>
        {extractive.error && <Row title={<ReportCard report={extractive.error} />} />}
      </Card>
      {draft && (
        <EndpointDialog
          draft={draft}
          keychain={keychain}
          onSaved={(saved) => {
            // The first one is meant to be used; a later one is chosen by hand.
            if (draft.id === null) choose.mutate([saved.id]);
            if (saved.llm !== null) check.mutate([saved.id]);
          }}
          onClose={() => setDraft(null)}
        />
      )}
      {removing && <RemoveDialog endpoint={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}
