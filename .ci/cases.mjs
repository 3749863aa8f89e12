// npm run cases: the test vectors alone. CASES_DIR points the same runners at another folder.

import { resolve } from "node:path";
import * as needs from "./needs.mjs";
import { run, say } from "./steps.mjs";

needs.rust();
await needs.nextest();
// The runners start in the folder of their crate, so a relative name must be settled here.
const folder = resolve(process.env.CASES_DIR ?? "tests/cases");
say(`Vectors of ${folder}`);
const vectors = ["-E", "binary(/cases/) + test(/cases/)"];
const crates = ["--workspace", "--exclude", "palimpsest"];
await run("cargo", ["nextest", "run", ...crates, ...vectors, ...process.argv.slice(2)], {
  CASES_DIR: folder,
});
