// npm run bench [name]: the benchmarks of tests/bench, in a release build, one after another. They
// print their figures beside their bars and keep them in tests/bench/results.md.

import * as needs from "./needs.mjs";
import { run } from "./steps.mjs";

needs.rust();
await needs.weights();
const only = process.argv.slice(2);
await run("cargo", [
  "test",
  "--release",
  "-p",
  "tests",
  "--test",
  "bench",
  "--",
  "--ignored",
  "--nocapture",
  "--test-threads=1",
  ...only,
]);
