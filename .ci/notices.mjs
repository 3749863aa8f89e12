// npm run notices: .build/NOTICES.txt, the licences of everything that is part of the program:
// Rust crates, npm packages, the embedder's model. Read from the packages themselves, so it cannot
// fall behind the locks. Fails on a package that offers none of the licences of .cargo/deny.toml.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ask, cache, root, stop } from "./steps.mjs";

const NAMES = /^(licen[cs]e|copying|copyright|notice|unlicense|authors)/i;

/** Tools of development whose output is part of the page. */
const WOVEN_IN = ["tailwindcss", "@tailwindcss/typography", "tw-animate-css"];

/** C sources that a crate carries under terms of their own. */
const CARRIED = {
  "libsqlite3-sys": "It carries SQLite, whose authors have placed it in the public domain.",
};

const rust = rustPackages();
const npm = npmPackages();
const model = modelPackages();
const packages = [...rust, ...npm, ...model];
refuse(packages);
const file = join(cache, "NOTICES.txt");
mkdirSync(cache, { recursive: true });
writeFileSync(file, compose(packages));
process.stdout.write(
  `${rust.length} Rust crates, ${npm.length} npm packages, ${model.length} model parts: ` +
    `.build/NOTICES.txt\n`,
);

/** The crates that the program links on this platform, without those only its build uses. */
function rustPackages() {
  const host = ask("rustc", ["-vV"])?.match(/host: (\S+)/)?.[1];
  const args = ["metadata", "--format-version", "1", "--locked", "--filter-platform", host ?? ""];
  const text = ask("cargo", args);
  if (text === null) stop("cargo metadata failed; is Cargo.lock in step with Cargo.toml?");
  const { packages, resolve } = JSON.parse(text);
  const byId = new Map(packages.map((found) => [found.id, found]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const seen = new Set();
  const walk = (id) => {
    if (seen.has(id)) return;
    seen.add(id);
    for (const { pkg, dep_kinds } of nodes.get(id).deps) {
      if (dep_kinds.some(({ kind }) => kind === null)) walk(pkg);
    }
  };
  walk(resolve.root);
  return [...seen]
    .map((id) => byId.get(id))
    .filter(({ source }) => source !== null)
    .map((found) => ({
      name: found.name,
      version: found.version,
      licence: found.license ?? `see ${found.license_file}`,
      authors: found.authors,
      texts: texts(dirname(found.manifest_path)),
      remark: CARRIED[found.name],
    }));
}

/** What the page is made of: the dependencies of package.json and theirs. */
function npmPackages() {
  const top = readJson(join(root, "package.json"));
  const found = new Map();
  const walk = (name, from, optional) => {
    const folder = locate(name, from);
    if (folder === null) {
      if (!optional) stop(`The npm package ${name} is not installed: run npm ci.`);
      return;
    }
    if (found.has(folder)) return;
    const manifest = readJson(join(folder, "package.json"));
    found.set(folder, {
      name,
      version: manifest.version,
      licence: licenceOf(manifest),
      authors: [manifest.author?.name ?? manifest.author].filter(Boolean),
      texts: texts(folder),
    });
    for (const next of Object.keys(manifest.dependencies ?? {})) walk(next, folder, false);
    for (const next of Object.keys(manifest.optionalDependencies ?? {})) walk(next, folder, true);
  };
  for (const name of [...Object.keys(top.dependencies), ...WOVEN_IN]) walk(name, root, false);
  return [...found.values()].filter(({ name }) => !name.startsWith("@types/"));
}

function licenceOf({ license, licenses }) {
  if (typeof license === "string") return license;
  return license?.type ?? licenses?.map(({ type }) => type).join(" OR ") ?? "none stated";
}

/** Looks where Node looks: in the node_modules of the asking package and of every folder above. */
function locate(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (folder === dirname(folder)) return null;
  }
}

/** The embedder's model and the package that its weights come from. */
function modelPackages() {
  const folder = join(root, "src-tauri/embed");
  const { package: name, version, licences } = readJson(join(folder, "weights.json"));
  const text = licences.map((licence) => ({
    name: licence,
    text: readFileSync(join(folder, "licences", licence), "utf8").trim(),
  }));
  return [
    {
      name: `${name} (weights of multilingual-e5-small)`,
      version,
      licence: "MIT",
      authors: [],
      texts: text,
    },
  ];
}

function texts(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && NAMES.test(entry.name))
    .map(({ name }) => ({ name, text: readFileSync(join(folder, name), "utf8").trim() }))
    .filter(({ text }) => text !== "");
}

function refuse(all) {
  const deny = readFileSync(join(root, ".cargo/deny.toml"), "utf8");
  const list = deny.match(/^allow = \[([^\]]*)\]/m)?.[1] ?? "";
  const allowed = new Set([...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name));
  const bad = all.filter(({ licence }) => !satisfied(licence, allowed));
  if (bad.length === 0) return;
  const lines = bad.map(({ name, version, licence }) => `  ${name} ${version}: ${licence}`);
  stop(`Licences that .cargo/deny.toml does not allow:\n${lines.join("\n")}`);
}

/** Whether an SPDX expression can be met with the allowed licences. */
function satisfied(expression, allowed) {
  const tokens = expression.replaceAll("/", " OR ").match(/\(|\)|[^\s()]+/g) ?? [];
  const either = () => {
    let holds = both();
    while (tokens[0] === "OR") {
      tokens.shift();
      holds = both() || holds;
    }
    return holds;
  };
  const both = () => {
    let holds = one();
    while (tokens[0] === "AND") {
      tokens.shift();
      holds = one() && holds;
    }
    return holds;
  };
  const one = () => {
    let name = tokens.shift();
    if (name === "(") {
      const holds = either();
      tokens.shift();
      return holds;
    }
    if (tokens[0] === "WITH") name = `${name} ${tokens.splice(0, 2).join(" ")}`;
    return allowed.has(name);
  };
  return either();
}

/** First who is in it, then every text once, with the packages that carry it. */
function compose(all) {
  const sorted = all.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const holders = new Map();
  for (const { name, version, texts } of sorted) {
    for (const { text } of texts) {
      if (!holders.has(text)) holders.set(text, []);
      holders.get(text).push(`${name} ${version}`);
    }
  }
  const index = sorted.map(({ name, version, licence, authors, texts, remark }) => {
    const by = texts.length === 0 && authors.length > 0 ? `, by ${authors.join(", ")}` : "";
    return `${name} ${version}: ${licence}${by}${remark ? `. ${remark}` : ""}`;
  });
  const rule = "=".repeat(80);
  const bodies = [...holders].map(([text, who]) => `${rule}\n${who.join(", ")}\n\n${text}`);
  const own = readFileSync(join(root, "LICENSE"), "utf8").trim();
  return [`Palimpsest\n\n${own}`, `${rule}\nParts by others\n\n${index.join("\n")}`, ...bodies]
    .join("\n\n")
    .concat("\n");
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
