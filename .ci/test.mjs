// npm test: installs what the tests need and runs everything: Rust, page, real window.

import { check } from "./checks.mjs";
import * as needs from "./needs.mjs";

needs.rust();
await needs.systemPackages({ window: true });
await needs.npmPackages();
await needs.weights();
await needs.nextest();
await needs.tauriDriver();
await check();
