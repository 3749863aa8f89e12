// npm run measure [program]: how long the release build takes from its start to a drawn page, and
// how much memory it and its web view hold at rest. Takes the median of five starts, each on a
// bus of its own, on a virtual screen. The first start makes the data folder with the sample bank
// and is told apart.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { stop, target } from "./steps.mjs";

const STARTS = 5;
const REST = 5_000;

const program = process.argv[2] ?? join(target, "release/palimpsest");
if (!existsSync(program)) stop(`${program} is not there: run npm run build first.`);

const data = mkdtempSync(join(tmpdir(), "palimpsest-measure-"));
mkdirSync(join(data, "home"));
const screen = background("Xvfb", ["-displayfd", "1", "-screen", "0", "1600x1000x24", "-ac"]);
const display = `:${await screen.line}`;

const first = await start(false);
process.stdout.write(`first start, with the sample bank made: ${first.drawn} ms\n`);
const times = [];
for (let number = 0; number < STARTS; number += 1) times.push((await start(false)).drawn);
times.sort((a, b) => a - b);
process.stdout.write(`later starts: ${times.join(", ")} ms, median ${times[STARTS >> 1]} ms\n`);
const { memory } = await start(true);
for (const [name, mib] of memory) process.stdout.write(`${mib.padStart(6)} MiB  ${name}\n`);

screen.child.kill();
rmSync(data, { recursive: true, force: true });

/** One start: milliseconds until the page is drawn, and memory after a rest if that is wanted. */
async function start(rest) {
  const bus = background("dbus-daemon", ["--session", "--nofork", "--print-address=1"]);
  const log = join(data, "logs/palimpsest.log");
  const seen = () =>
    existsSync(log) ? readFileSync(log, "utf8").split("page has drawn").length : 1;
  const before = seen();
  const env = {
    ...process.env,
    DISPLAY: display,
    GDK_BACKEND: "x11",
    LIBGL_ALWAYS_SOFTWARE: "1",
    HOME: join(data, "home"),
    PALIMPSEST_DATA: data,
    DBUS_SESSION_BUS_ADDRESS: await bus.line,
  };
  const begin = performance.now();
  const child = spawn(program, [], { env, stdio: "ignore", detached: true });
  while (seen() === before) {
    if (child.exitCode !== null) stop(`The program ended (${child.exitCode}).`);
    await pause(5);
  }
  const drawn = Math.round(performance.now() - begin);
  if (rest) await pause(REST);
  const memory = rest ? group(child.pid) : [];
  const gone = new Promise((done) => child.once("exit", done));
  process.kill(-child.pid, "SIGTERM");
  await gone;
  bus.child.kill();
  return { drawn, memory };
}

function background(name, args) {
  const child = spawn(name, args, { stdio: ["ignore", "pipe", "ignore"] });
  const line = new Promise((done, fail) => {
    child.once("error", fail);
    createInterface(child.stdout).once("line", done);
  });
  return { child, line };
}

/** Resident and, in brackets, proportional memory of the program and all that it started. */
function group(leader) {
  const members = readdirSync("/proc").filter((pid) => {
    const stat = /^\d+$/.test(pid) ? read(`/proc/${pid}/stat`) : "";
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2] === String(leader);
  });
  return members.map((pid) => {
    const rollup = read(`/proc/${pid}/smaps_rollup`);
    const mib = (field) =>
      (Number(rollup.match(`${field}:\\s+(\\d+)`)?.[1] ?? 0) / 1024).toFixed(0);
    return [`${read(`/proc/${pid}/comm`).trim()} (proportional ${mib("Pss")} MiB)`, mib("Rss")];
  });
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
