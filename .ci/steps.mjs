// Running one program after another and saying what each is for. Decides nothing about what a
// build needs; that is `needs.mjs`.

import { spawn, spawnSync } from "node:child_process";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** Downloads and generated files that a checkout can lose at any time. */
export const cache = join(root, ".build");

/** Cargo's folder, which an environment variable may move. */
export const target = resolve(root, process.env.CARGO_TARGET_DIR ?? "target");

/** Programs that Cargo or npm installed for this checkout come first. */
export const path = [
  join(cache, "tools/bin"),
  join(root, "node_modules/.bin"),
  process.env.PATH ?? "",
].join(delimiter);

const environment = (extra) => ({ ...process.env, PATH: path, ...extra });

export function say(text) {
  process.stdout.write(`\n▸ ${text}\n`);
}

/** Ends the whole script with words a person can act on. */
export function stop(text) {
  process.stderr.write(`\n${text}\n`);
  process.exit(1);
}

/** Runs a program in a folder of the checkout; its output is shown. Resolves to its exit code and
 *  output. */
export function attempt(program, args, extra = {}, folder = ".") {
  return new Promise((done) => {
    const child = spawn(program, args, {
      cwd: join(root, folder),
      env: environment(extra),
      stdio: ["inherit", "pipe", "pipe"],
    });
    const heard = [];
    const tee = (from, to) =>
      from.on("data", (bytes) => {
        heard.push(bytes);
        to.write(bytes);
      });
    tee(child.stdout, process.stdout);
    tee(child.stderr, process.stderr);
    child.on("error", (error) => done({ code: 127, output: String(error) }));
    child.on("close", (code) => done({ code: code ?? 1, output: Buffer.concat(heard).toString() }));
  });
}

/** As `attempt`, but a failure ends the script. */
export async function run(program, args, extra) {
  const { code, output } = await attempt(program, args, extra);
  if (code === 127) stop(`${program} could not be run: ${output.trim()}`);
  if (code !== 0) stop(`${[program, ...args].join(" ")} failed (${code}).`);
}

/** The output of a quiet program, or null when it is missing or fails. */
export function ask(program, args, extra) {
  const answer = spawnSync(program, args, {
    cwd: root,
    env: environment(extra),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  return answer.status === 0 ? answer.stdout.trim() : null;
}

const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/** The lines in which test runners sum up. */
export function summaries(output) {
  return output
    .replace(ESCAPES, "")
    .split("\n")
    .filter((line) => /^\s*(Summary \[|Test Files |Tests {2}|FAIL |TIMEOUT )/.test(line))
    .map((line) => line.trim());
}

/**
 * Runs every step whose needs passed, also after a failure, and closes with one line for each and
 * with what the runners counted. A step is `{ name, command, needs?, folder? }`.
 */
export async function all(steps) {
  const results = [];
  const passed = new Set();
  for (const { name, command, needs = [], folder } of steps) {
    if (needs.some((need) => !passed.has(need))) {
      results.push({ name, state: "skipped", seconds: 0, lines: [] });
      continue;
    }
    say(`${name}: ${command.join(" ")}`);
    const begin = performance.now();
    const { code, output } = await attempt(command[0], command.slice(1), {}, folder);
    if (code === 0) passed.add(name);
    results.push({
      name,
      state: code === 0 ? "passed" : "FAILED",
      seconds: Math.round((performance.now() - begin) / 1000),
      lines: summaries(output),
    });
  }
  say("All steps");
  for (const { name, state, seconds, lines } of results) {
    process.stdout.write(`  ${state.padEnd(8)} ${name.padEnd(18)} ${seconds} s\n`);
    for (const line of lines) process.stdout.write(`           ${line}\n`);
  }
  if (results.some(({ state }) => state !== "passed")) process.exit(1);
}
