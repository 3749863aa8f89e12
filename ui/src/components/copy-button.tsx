import { Copy } from "lucide-react";
import { type ComponentProps, useState } from "react";
import { useAnnounce } from "./announce";
import { Button } from "./button";

const words = {
  copied: "Copied",
  failed: "Not copied: the clipboard cannot be reached",
};

/** Puts a text on the clipboard and says in its own place whether that worked. */
export function CopyButton({
  text,
  children,
  ...rest
}: Omit<ComponentProps<typeof Button>, "onClick" | "icon"> & { text: () => string }) {
  const [said, setSaid] = useState<string | null>(null);
  const announce = useAnnounce();
  const copy = async () => {
    const how = await navigator.clipboard.writeText(text()).then(
      () => words.copied,
      () => words.failed,
    );
    setSaid(how);
    announce(how);
  };
  return (
    <Button icon={Copy} {...rest} onClick={() => void copy()}>
      {said ?? children}
    </Button>
  );
}
