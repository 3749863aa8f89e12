// npm run bindings: writes ui/src/platform/bindings.ts anew from the commands and their types.

import { run } from "./steps.mjs";

await run("cargo", ["test", "-p", "palimpsest", "--lib", "bindings"], { UPDATE_BINDINGS: "1" });
