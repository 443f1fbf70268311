// Builds the page into the Python package, and records from which source it was made.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "src", "robust_recourse", "notices", "explorer");

function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

// The tests compute the same hash: built files that do not belong to the source are found without Node.
function source() {
  const hash = createHash("sha256");
  const all = [...files(join(here, "src")), ...["package-lock.json", "build.mjs", "tsconfig.json"].map((f) => join(here, f))];
  for (const path of all.map((path) => relative(here, path).replaceAll("\\", "/")).sort()) {
    hash.update(`${path}\n`).update(readFileSync(join(here, path), "utf8").replaceAll("\r\n", "\n"));
  }
  return hash.digest("hex");
}

const common = { bundle: true, minify: true, write: false, target: ["chrome109", "firefox110", "safari16.4"], legalComments: "none" };
const preact = JSON.parse(readFileSync(join(here, "node_modules", "preact", "package.json"), "utf8")).version;
const banner = `/* robust-recourse, MIT licence; made from page/ by "make page", source ${source()}. Contains Preact ${preact}, MIT licence, Copyright (c) 2015-present Jason Miller. */`;
const [script, style] = await Promise.all([
  build({ ...common, entryPoints: [join(here, "src", "main.tsx")], format: "iife", jsx: "automatic", jsxImportSource: "preact", banner: { js: banner } }),
  build({ ...common, entryPoints: [join(here, "src", "page.css")] }),
]);
const made = {
  "page.js": script.outputFiles[0].text,
  "page.css": style.outputFiles[0].text,
  "index.html": readFileSync(join(here, "src", "index.html"), "utf8"),
};
let total = 0;
for (const [name, text] of Object.entries(made)) {
  writeFileSync(join(out, name), text);
  const size = gzipSync(text, { level: 9 }).length;
  if (name !== "index.html") total += size;
  console.log(`${name.padEnd(10)} ${String(text.length).padStart(7)} bytes, ${(size / 1000).toFixed(1)} kB compressed`);
}
console.log(`JavaScript and CSS: ${(total / 1000).toFixed(1)} kB compressed`);
