import { Button } from "~/components/button";
import { Back, Confirm } from "~/components/dialog";
import { ReportCard } from "~/components/report";
import type { EndpointView } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.models;

export function RemoveDialog({
  endpoint,
  onClose,
}: {
  endpoint: EndpointView;
  onClose: () => void;
}) {
  const remove = useWrite("deleteEndpoint");
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onClose()}
      title={words.removeTitle(endpoint.name)}
      about={words.removeAbout}
      foot={
        <>
          <Back asChild>
            <Button>{words.keep}</Button>
          </Back>
          <Button
            kind="danger"
            disabled={remove.isPending}
            onClick={() => remove.mutate([endpoint.id], { onSuccess: onClose })}
          >
            {words.act}
          </Button>
        </>
      }
    >
      {remove.error && <ReportCard report={remove.error} />}
    </Confirm>
  );
}
