// npm run check: everything that npm test runs, without installing anything first.

import { check } from "./checks.mjs";

await check();
