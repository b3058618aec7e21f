/**
 * Fails when what a page brings over the wire grows past its budget: script and style, gzipped, as the server sends them.
 * Home counts everything the first paint of Home loads; Run counts what it adds to that. Fonts have a
 * budget of their own; those of another script than Latin come only to who reads it.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const dist = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");
const KIB = 1024;
const manifest = JSON.parse(readFileSync(join(dist, ".vite", "manifest.json"), "utf8"));

function weight(file) {
  return gzipSync(readFileSync(join(dist, file)), { level: 9 }).length;
}

/** The files of an entry and of everything it imports statically. */
function filesOf(key, found = new Set()) {
  const chunk = manifest[key];
  if (chunk === undefined) throw new Error(`${key} is not in the manifest: was the page moved?`);
  if (found.has(chunk.file)) return found;
  found.add(chunk.file);
  for (const style of chunk.css ?? []) found.add(style);
  for (const imported of chunk.imports ?? []) filesOf(imported, found);
  return found;
}

const total = (files) => [...files].reduce((sum, file) => sum + weight(file), 0);
const home = filesOf("index.html", new Set());
filesOf("src/pages/home/HomePage.tsx", home);
home.add("theme.js");
const run = new Set([...filesOf("src/pages/run/RunPage.tsx", new Set())].filter((file) => !home.has(file)));
const fonts = readdirSync(join(dist, "assets")).filter((name) => name.endsWith(".woff2") && !name.includes("cyrillic"));
const fontBytes = fonts.reduce((sum, name) => sum + readFileSync(join(dist, "assets", name)).length, 0);

let failed = false;
for (const [name, size, budget] of [
  ["Home", total(home), 200],
  ["Run adds", total(run), 80],
  ["Fonts", fontBytes, 90],
]) {
  const over = size >= budget * KIB;
  failed ||= over;
  console.log(
    `${name.padEnd(9)} ${(size / KIB).toFixed(1).padStart(6)} KiB of ${budget}${over ? "  OVER BUDGET" : ""}`,
  );
}
process.exit(failed ? 1 : 0);
