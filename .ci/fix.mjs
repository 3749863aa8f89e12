// npm run fix: formats everything and applies the safe fixes of the linters.

import { run } from "./steps.mjs";

await run("cargo", ["fmt", "--all"]);
await run("cargo", [
  "clippy",
  "--workspace",
  "--all-targets",
  "--fix",
  "--allow-dirty",
  "--allow-staged",
]);
await run("npm", ["run", "--silent", "lint", "--", "--write"]);
await run("biome", ["check", "--write", "--config-path", ".ci/style.json", ".ci", "tests/window"]);
