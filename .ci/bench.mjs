// npm run bench [name]: the benchmarks of tests/bench, in a release build, with their budgets.

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
  ...only,
]);
