import { Plus } from "lucide-react";
import { Button } from "~/components/button";
import { Empty } from "~/components/empty";
import { strings } from "./strings";

export function ModelsEmpty({ onCreate }: { onCreate: (template?: string) => void }) {
  const words = strings.empty;
  return (
    <Empty
      title={words.title}
      example={words.example}
      actions={
        <Button kind="primary" icon={Plus} command="models.new" onClick={() => onCreate()}>
          {strings.newModel}
        </Button>
      }
    >
      <p>{words.about}</p>
      <p className="type-small mt-2 text-faint">{words.templates}</p>
      <div className="grid divide-y divide-line rounded-md border border-line bg-raised">
        {strings.templates.map((template) => (
          <button
            key={template.id}
            type="button"
            onClick={() => onCreate(template.id)}
            className="px-3 py-2 text-left text-text first:rounded-t-md last:rounded-b-md hover:bg-hover"
          >
            {template.name}
            <span className="type-small block text-muted">{template.about}</span>
          </button>
        ))}
      </div>
    </Empty>
  );
}

export function NoModelMatches({ total, onClear }: { total: number; onClear: () => void }) {
  const words = strings.noneMatch;
  return (
    <Empty
      title={words.title}
      actions={
        <Button kind="primary" onClick={onClear}>
          {words.clear}
        </Button>
      }
    >
      <p>{words.about(total)}</p>
    </Empty>
  );
}
