// npm run fix: formats everything and applies the safe fixes of the linters.

import { run } from "./steps.mjs";

await run("cargo", ["fmt", "--all"]);
await run("cargo", ["clippy", "--workspace", "--all-targets", "--fix", "--allow-dirty", "--allow-staged"]);
await run("biome", ["check", "--write", "--config-path", "ui", "ui"]);
await run("biome", ["check", "--write", "--config-path", ".ci", ".ci", "tests/window"]);
