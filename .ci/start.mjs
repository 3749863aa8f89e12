// npm start: from a fresh checkout to the open window. The development build is used: it is there
// four minutes sooner than the release build, and the parts that count (SQLite, the embedder) are
// optimised in it. `npm start -- --release` builds the other one.

import { join } from "node:path";
import * as needs from "./needs.mjs";
import { run, say, stop, target } from "./steps.mjs";

const release = process.argv.includes("--release");
const files = process.argv.slice(2).filter((argument) => argument !== "--release");

const screen = process.env.DISPLAY ?? process.env.WAYLAND_DISPLAY;
const noScreen = process.platform === "linux" && !screen;
if (noScreen) say("No screen is set in this session, so the program will be built but not opened");

needs.rust();
await needs.systemPackages();
await needs.npmPackages();
await needs.weights();
say("The page");
await run("npm", ["run", "--silent", "page"]);
say(`The program (${release ? "release" : "development"} build; the first one takes some minutes)`);
await run("cargo", ["build", "--locked", ...(release ? ["--release"] : [])]);

if (noScreen) {
  stop(
    "Everything is built, but there is no screen to open the window on: neither DISPLAY nor\n" +
      "WAYLAND_DISPLAY is set. Run npm start from a desktop session.",
  );
}
say("Palimpsest is open; close its window to end");
await run(join(target, release ? "release" : "debug", "palimpsest"), files);
