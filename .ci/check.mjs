// npm run check [-- step…]: everything that npm test runs, or the steps named, without installing
// anything first.

import { check } from "./checks.mjs";

await check(process.argv.slice(2));
