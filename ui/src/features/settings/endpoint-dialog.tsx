import { useId } from "react";
import { useForm, useWatch } from "react-hook-form";
import { useAnnounce } from "~/components/announce";
import { Button } from "~/components/button";
import { FormDialog } from "~/components/dialog";
import { useDiscard } from "~/components/discard";
import { RadioField, SelectField, TextField } from "~/components/field";
import { FormReport } from "~/components/form-report";
import type {
  EndpointId,
  EndpointView,
  KeyStore,
  Protocol,
  SaveEndpoint,
} from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { fieldMessage } from "~/platform/errors";
import { strings } from "./strings";

const words = strings.form;

/** Fields that show their own fault. */
const placed = ["name", "protocol", "base_url", "llm", "window", "call_seconds", "key"];

export interface Draft {
  id: EndpointId | null;
  name: string;
  protocol: Protocol;
  base_url: string;
  llm: string;
  /** Tokens and seconds as a person stated them; empty for what is usual. */
  window: string;
  callSeconds: string;
  /** The end of the key that is set; null when none is. */
  last4: string | null;
  /** Models that the server is known to offer. */
  known: readonly string[];
}

export const emptyDraft: Draft = {
  id: null,
  name: "",
  protocol: "openai",
  base_url: "",
  llm: "",
  window: "",
  callSeconds: "",
  last4: null,
  known: [],
};

export const draftOf = (endpoint: EndpointView): Draft => ({
  id: endpoint.id,
  name: endpoint.name,
  protocol: endpoint.protocol,
  base_url: endpoint.base_url,
  llm: endpoint.llm ?? "",
  window: endpoint.window?.toString() ?? "",
  callSeconds: endpoint.call_seconds?.toString() ?? "",
  last4: endpoint.key?.last4 ?? null,
  known: [],
});

interface Values {
  name: string;
  protocol: Protocol;
  base_url: string;
  llm: string;
  window: string;
  callSeconds: string;
  key: string;
  fallback: KeyStore;
}

/** A whole number as it was typed, with or without marks between thousands; null for none. */
function number(text: string): number | null {
  const digits = text.replaceAll(/[\s,.]/g, "");
  return digits === "" ? null : Number(digits);
}

const whole = (text: string) => /^[\d\s,.]*$/.test(text) || words.wholeNumber;

/** Adds or changes an endpoint. The key goes to its store at once and never comes back. */
export function EndpointDialog({
  draft,
  keychain,
  onSaved,
  onClose,
}: {
  draft: Draft;
  keychain: boolean;
  /** Told what was saved, before the dialog goes. */
  onSaved: (endpoint: EndpointView) => void;
  onClose: () => void;
}) {
  const save = useWrite("saveEndpoint");
  const announce = useAnnounce();
  const form = useId();
  const listed = useRead("listLlms", draft.id ? [draft.id] : null).data;
  const { register, handleSubmit, setValue, control, formState } = useForm<Values>({
    defaultValues: {
      name: draft.name,
      protocol: draft.protocol,
      base_url: draft.base_url,
      llm: draft.llm,
      window: draft.window,
      callSeconds: draft.callSeconds,
      key: "",
      fallback: "session",
    },
  });
  const { leave, question } = useDiscard(formState.isDirty, onClose);
  const protocol = useWatch({ control, name: "protocol" });
  const fallback = useWatch({ control, name: "fallback" });
  const key = useWatch({ control, name: "key" });
  const report = save.error;
  // A key store can be there and still refuse: locked, or the person said no.
  const asksWhere = key !== "" && (!keychain || report?.code === "keychain_unavailable");
  const known = listed ?? draft.known;

  const submit = handleSubmit((values) => {
    const input: SaveEndpoint = {
      id: draft.id,
      name: values.name.trim(),
      protocol: values.protocol,
      base_url: values.base_url.trim(),
      llm: values.llm.trim() || null,
      window: number(values.window),
      call_seconds: number(values.callSeconds),
      key: values.key === "" ? null : values.key,
      key_fallback: asksWhere ? values.fallback : null,
    };
    save.mutate([input], {
      onSuccess: (saved) => {
        announce(words.saved);
        onSaved(saved);
        onClose();
      },
    });
  });

  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && leave()}
      title={draft.id ? words.editTitle : words.addTitle}
      foot={
        <>
          <Button onClick={leave}>{words.cancel}</Button>
          <Button kind="primary" type="submit" form={form} disabled={save.isPending}>
            {words.saveCheck}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate autoComplete="off" className="grid gap-3">
        <FormReport report={report} placed={placed} />
        <div className="grid grid-cols-2 gap-3">
          <TextField
            label={words.name}
            fault={formState.errors.name?.message ?? fieldMessage(report, "name")}
            {...register("name", { validate: (text) => text.trim() !== "" || words.blankName })}
          />
          <SelectField
            label={words.protocol}
            fault={fieldMessage(report, "protocol")}
            options={Object.entries(words.protocols).map(([value, label]) => ({ value, label }))}
            {...register("protocol")}
          />
        </div>
        <TextField
          label={words.address}
          placeholder={words.addresses[protocol]}
          spellCheck={false}
          fault={formState.errors.base_url?.message ?? fieldMessage(report, "base_url")}
          {...register("base_url", {
            validate: (text) => text.trim() !== "" || words.blankAddress,
          })}
        />
        <TextField
          label={words.model}
          help={words.modelHelp}
          list={`${form}-models`}
          spellCheck={false}
          fault={fieldMessage(report, "llm")}
          {...register("llm")}
        />
        <datalist id={`${form}-models`}>
          {known.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <details open={draft.window !== "" || draft.callSeconds !== ""}>
          <summary className="type-small min-h-6 content-center text-muted">{words.limits}</summary>
          <div className="mt-1 grid grid-cols-2 gap-3">
            <TextField
              label={words.window}
              help={words.windowHelp[protocol]}
              inputMode="numeric"
              fault={formState.errors.window?.message ?? fieldMessage(report, "window")}
              {...register("window", { validate: whole })}
            />
            <TextField
              label={words.callSeconds}
              help={words.callSecondsHelp}
              inputMode="numeric"
              fault={formState.errors.callSeconds?.message ?? fieldMessage(report, "call_seconds")}
              {...register("callSeconds", { validate: whole })}
            />
          </div>
        </details>
        <TextField
          type="password"
          label={words.key}
          autoComplete="new-password"
          spellCheck={false}
          help={
            <>
              {draft.last4 ? words.keyKept(draft.last4) : words.keyHelp}
              {keychain && ` ${words.keychain}`}
            </>
          }
          fault={fieldMessage(report, "key")}
          {...register("key")}
        />
        {asksWhere && (
          <div className="grid gap-2 rounded-md bg-warn-soft p-3">
            <p>{words.noKeychain}</p>
            <RadioField
              label={words.fallback}
              name="fallback"
              value={fallback}
              onValue={(store) => setValue("fallback", store as KeyStore)}
              options={[
                { value: "session", label: words.session, help: words.sessionHelp },
                { value: "file", label: words.file, help: words.fileHelp },
              ]}
            />
          </div>
        )}
      </form>
      {question}
    </FormDialog>
  );
}
