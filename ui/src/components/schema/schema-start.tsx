import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "~/components/button";
import { FormDialog } from "~/components/dialog";
import { Empty } from "~/components/empty";
import { TextArea } from "~/components/field";
import { inferred } from "./fields";
import { readJson } from "./json-text";
import { type Place, strings } from "./schema-strings";

const written = (schema: unknown) => `${JSON.stringify(schema, null, 2)}\n`;

/** Before there is a field: add one, take a template, or show a sample. */
export function SchemaStart({ place, onText }: { place: Place; onText: (text: string) => void }) {
  const [asking, setAsking] = useState(false);
  const first = { type: "object", properties: { field: { type: "string" } } };
  return (
    <>
      <Empty
        title={strings.empty}
        actions={
          <>
            <Button kind="primary" icon={Plus} onClick={() => onText(written(first))}>
              {strings.add}
            </Button>
            <Button onClick={() => setAsking(true)}>{strings.sample}</Button>
          </>
        }
      >
        <p>{strings.places[place].about}</p>
        <p className="type-small mt-2 text-faint">{strings.templates}</p>
        <div className="grid divide-y divide-line rounded-md border border-line bg-raised">
          {strings.template.map(({ name, about, schema }) => (
            <button
              key={name}
              type="button"
              onClick={() => onText(written(schema))}
              className="px-3 py-2 text-left text-text first:rounded-t-md last:rounded-b-md hover:bg-hover"
            >
              {name}
              <span className="type-small block text-muted">{about}</span>
            </button>
          ))}
        </div>
      </Empty>
      {asking && (
        <SampleDialog
          onUse={(schema) => {
            setAsking(false);
            onText(written(schema));
          }}
          onLeave={() => setAsking(false)}
        />
      )}
    </>
  );
}

function SampleDialog({
  onUse,
  onLeave,
}: {
  onUse: (schema: unknown) => void;
  onLeave: () => void;
}) {
  const [text, setText] = useState("");
  const [fault, setFault] = useState<string | undefined>();
  const use = () => {
    const { node, fault: broken } = readJson(text);
    if (broken) setFault(strings.sampleFault(broken.line, broken.column, broken.message));
    else if (node.kind !== "object" || node.members.length === 0) setFault(strings.sampleShape);
    else onUse(inferred(JSON.parse(text)));
  };
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onLeave()}
      title={strings.sampleTitle}
      about={strings.sampleAbout}
      foot={
        <>
          <Button onClick={onLeave}>{strings.sampleBack}</Button>
          <Button kind="primary" onClick={use}>
            {strings.sampleUse}
          </Button>
        </>
      }
    >
      <TextArea
        label={strings.sampleText}
        rows={10}
        value={text}
        fault={fault}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
      />
    </FormDialog>
  );
}
