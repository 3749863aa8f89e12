// What a build and its tests need, and how each is installed when it is missing: system packages,
// npm packages, the embedder's weights, two programs from Cargo. Says what it installs and why;
// touches nothing that is there already.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, attempt, cache, root, run, say, stop } from "./steps.mjs";

const RUST = [1, 95];

/** Debian's names, each with its reason. */
const BUILD = {
  "build-essential": "C compiler and linker, for SQLite",
  "pkg-config": "finds the libraries below",
  "libwebkit2gtk-4.1-dev": "the web view that shows the page",
  "libdbus-1-dev": "the message bus by which a second start finds the first",
};

/** Only where Python has no package client yet. */
const PIP = { "python3-pip": "fetches the embedder's weights" };

const WINDOW = {
  xvfb: "a screen without a screen",
  dbus: "a message bus for each start of the program",
  "webkit2gtk-driver": "drives the real window",
  "fonts-dejavu-core": "letters, where no font is installed",
  "debian-history": "the text that nobody prepared, which the journeys import",
};

/** System packages: installed on Debian and its kin, named elsewhere. */
export async function systemPackages({ window = false } = {}) {
  if (process.platform !== "linux") return;
  const pip = ask("python3", ["-m", "pip", "--version"]) === null;
  const wanted = { ...BUILD, ...(pip ? PIP : {}), ...(window ? WINDOW : {}) };
  if (ask("sh", ["-c", "command -v apt-get && command -v dpkg-query"]) === null) {
    return namePackages(wanted);
  }
  const missing = Object.keys(wanted).filter((name) => !installed(name));
  if (missing.length === 0) return;
  say("System packages that are missing, and what each is for");
  for (const name of missing) process.stdout.write(`  ${name.padEnd(30)} ${wanted[name]}\n`);
  const install = ["apt-get", "install", "-y", "--no-install-recommends", ...missing];
  const asRoot = process.getuid() === 0 ? [] : ["sudo"];
  if (asRoot.length > 0 && ask("sh", ["-c", "command -v sudo"]) === null) {
    stop(`They need root, and sudo is not here. As root, run:\n  ${install.join(" ")}`);
  }
  const quiet = { DEBIAN_FRONTEND: "noninteractive" };
  const [first, ...rest] = [...asRoot, "apt-get", "update"];
  await run(first, rest, quiet);
  const [program, ...args] = [...asRoot, ...install];
  await run(program, args, quiet);
}

function installed(name) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is dpkg's own notation
  return ask("dpkg-query", ["-W", "-f=${Status}", name])?.endsWith("ok installed") ?? false;
}

function namePackages(wanted) {
  if (ask("pkg-config", ["--exists", "webkit2gtk-4.1"]) !== null) return;
  const lines = Object.entries(wanted).map(([name, why]) => `  ${name.padEnd(30)} ${why}`);
  stop(
    "This system has no apt-get, so install these first (Debian's names; yours may differ):\n" +
      `${lines.join("\n")}\n\nWebKitGTK 4.1 is not found by pkg-config; the build cannot begin without it.`,
  );
}

/** Rust cannot be installed without a person's consent to its installer, so it is only checked. */
export function rust() {
  const version = ask("cargo", ["--version"]);
  const found = version?.match(/(\d+)\.(\d+)/);
  const wanted = RUST.join(".");
  if (found == null)
    stop(`Rust is missing. Install ${wanted} or newer with rustup, then run this again.`);
  const [major, minor] = found.slice(1).map(Number);
  if (major < RUST[0] || (major === RUST[0] && minor < RUST[1])) {
    stop(`Rust ${wanted} or newer is needed; this is ${version}. Run: rustup update stable`);
  }
}

/** npm packages, exactly as locked; again only when the lock has changed. */
export async function npmPackages() {
  const lock = readFileSync(join(root, "package-lock.json"));
  const now = createHash("sha256").update(lock).digest("hex");
  const stamp = join(root, "node_modules/.palimpsest-lock");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === now) return;
  say("npm packages, as locked");
  await run("npm", ["ci", "--no-audit", "--no-fund"]);
  writeFileSync(stamp, now);
}

/** The bundled embedder's weights, checked against their pinned sum by the script itself. */
export async function weights() {
  say("Weights of the bundled embedder");
  await run("node", ["src-tauri/embed/fetch-weights.mjs"]);
}

/** A program from Cargo's registry, kept in this checkout's own folder. */
export async function cargoTool(program, crate, version, features = []) {
  if (ask("sh", ["-c", `command -v ${program}`]) !== null) return;
  say(`${crate} ${version}, built once into .build/tools`);
  mkdirSync(join(cache, "tools"), { recursive: true });
  const args = ["install", "--locked", crate, "--version", version, ...features];
  const { code } = await attempt("cargo", [...args, "--root", join(cache, "tools")]);
  if (code !== 0) stop(`${crate} could not be installed.`);
}

/** Without its self-updater, which nothing here uses. */
const LEAN = ["--no-default-features", "--features", "default-no-update"];

export const nextest = () => cargoTool("cargo-nextest", "cargo-nextest", "0.9.143", LEAN);
export const tauriDriver = () => cargoTool("tauri-driver", "tauri-driver", "2.1.0");
