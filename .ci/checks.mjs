// The steps of `npm run check` and `npm test`, in an order that fails early. One feature set
// throughout: the program that the window tests drive is built together with the Rust tests, so
// the shell is compiled once.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { all, ask, root, stop } from "./steps.mjs";

const cargo = (...args) => ["cargo", ...args];

const steps = [
  { name: "format", command: cargo("fmt", "--all", "--check") },
  { name: "page", command: ["vite", "build", "ui"] },
  { name: "types", command: ["tsc", "-p", "ui"], needs: ["page"] },
  { name: "window types", command: ["tsc", "-p", "tests/window"] },
  { name: "page lint", command: ["biome", "check"], folder: "ui" },
  {
    name: "script lint",
    command: ["biome", "check", "--config-path", ".ci/style.json", ".ci", "tests/window"],
  },
  { name: "dead exports", command: ["knip"], needs: ["page"] },
  { name: "page tests", command: ["vitest", "run", "--root", "ui"] },
  {
    name: "clippy",
    command: cargo("clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"),
  },
  {
    name: "program",
    command: cargo("build", "--locked", "--workspace", "--all-targets"),
    needs: ["page"],
  },
  {
    name: "Rust tests",
    command: cargo("nextest", "run", "--locked", "--workspace", "--all-targets", "--no-fail-fast"),
    needs: ["program"],
  },
  { name: "notices", command: ["node", ".ci/notices.mjs"] },
  {
    name: "window tests",
    command: ["vitest", "run", "--root", "tests/window"],
    needs: ["program"],
  },
];

const denied = {
  name: "licences, sources",
  command: cargo("deny", "check", "--config", ".cargo/deny.toml", "bans", "licenses", "sources"),
};

/** Runs every step, or those whose names are given; what a named step needs is then taken as done. */
export async function check(names = []) {
  if (!existsSync(join(root, "node_modules"))) stop("npm packages are missing: run npm ci.");
  const known = ask("cargo", ["deny", "--version"]) === null ? steps : [...steps, denied];
  const unknown = names.filter((name) => !known.some((step) => step.name === name));
  if (unknown.length > 0) {
    stop(
      `No step is called ${unknown.join(", ")}. There are: ${known.map(({ name }) => name).join(", ")}.`,
    );
  }
  if (names.length === 0) return all(known);
  const chosen = known.filter(({ name }) => names.includes(name));
  return all(chosen.map((step) => ({ ...step, needs: [] })));
}
