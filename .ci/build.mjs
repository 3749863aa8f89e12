// npm run build: the page, the release program and a .deb with the embedder's weights and all
// notices. Says where the package is and what makes up its size.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import * as needs from "./needs.mjs";
import { ask, root, run, say, target } from "./steps.mjs";

needs.rust();
await needs.systemPackages();
await needs.npmPackages();
await needs.weights();
say("Notices");
await run("node", [".ci/notices.mjs"]);

// Not in tauri.conf.json: there every `cargo check` would fail until the weights are fetched.
const pin = JSON.parse(readFileSync(join(root, "src-tauri/embed/weights.json"), "utf8"));
const embedder = [pin.file, ...pin.licences].map((name) => [
  `.build/embedder/${name}`,
  `embedder/${name}`,
]);
const resources = { ".build/NOTICES.txt": "NOTICES.txt", ...Object.fromEntries(embedder) };
say("The page, the program, the package");
await run("tauri", [
  "build",
  "--bundles",
  "deb",
  "--config",
  JSON.stringify({ bundle: { resources } }),
]);

const folder = join(target, "release/bundle/deb");
const mib = (bytes) => `${(bytes / (1 << 20)).toFixed(1)} MiB`;
for (const name of readdirSync(folder).filter((entry) => entry.endsWith(".deb"))) {
  const path = join(folder, name);
  say(`${path}, ${mib(statSync(path).size)}`);
  const list = ask("dpkg-deb", ["--contents", path]) ?? "";
  for (const line of list.split("\n")) {
    const [mode, , bytes, , , where] = line.split(/\s+/);
    if (mode?.startsWith("-"))
      process.stdout.write(`  ${mib(Number(bytes)).padStart(10)}  ${where}\n`);
  }
  process.stdout.write(`\nInstall it with: sudo apt install ${path}\n`);
}
