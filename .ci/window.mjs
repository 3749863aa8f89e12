// npm run test:window [pattern]: the journeys alone, over a fresh page and program.

import * as needs from "./needs.mjs";
import { run } from "./steps.mjs";

needs.rust();
await needs.systemPackages({ window: true });
await needs.npmPackages();
await needs.tauriDriver();
await run("vite", ["build", "ui"]);
await run("cargo", ["build", "--locked"]);
await run("vitest", ["run", "--root", "tests/window", ...process.argv.slice(2)]);
