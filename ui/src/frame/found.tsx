/** A title with the first found piece of the query set off by weight and line, not by colour. */
export function Found({ text, query }: { text: string; query: string }) {
  const word = query.split(/\s+/)[0] ?? "";
  const at = word === "" ? -1 : text.toLowerCase().indexOf(word.toLowerCase());
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <b className="font-bold underline decoration-2 decoration-accent-text underline-offset-3">
        {text.slice(at, at + word.length)}
      </b>
      {text.slice(at + word.length)}
    </>
  );
}
