// npm run icons: every size the bundlers ask for, from the one drawing.

import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, run } from "./steps.mjs";

/** The sizes that tauri.conf.json names; the tool makes many more, for phones and shops. */
const KEPT = ["32x32.png", "128x128.png", "128x128@2x.png", "icon.png", "icon.icns", "icon.ico"];

const folder = mkdtempSync(join(tmpdir(), "palimpsest-icons-"));
await run("tauri", ["icon", "icons/icon.svg", "--output", folder]);
for (const name of KEPT) copyFileSync(join(folder, name), join(root, "icons", name));
rmSync(folder, { recursive: true });
