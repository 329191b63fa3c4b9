// Bundles the library's entries into packages/edgetable/dist, beside the declarations that tsc writes there: what is
// loaded at once lies in one file, what a first call loads in files of their own. Why: docs/bundle.md.
//
//   node scripts/bundle-library.mjs [folder]
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";
import { declareFunctions } from "./declare-functions.mjs";

const library = join(import.meta.dirname, "..", "packages", "edgetable");
const outDir = process.argv[2] ?? join(library, "dist");
const source = (name) => join(library, "src", `${name}.ts`);
const entries = ["index", "transport/sdk/index", "check/index"];

/** What the first walk and the first page load, each in one file: another file costs an opening, and bytes in every bundle. */
const families = {
  walks: /[/](?:client|executor)[/].*walk/,
  pages: /[/](?:executor[/](?:read-page|cursor-secrets)|requests[/]cursor)[.]ts$/,
};

/** What is loaded with the main entry, and not by a first call. The entry itself stays a list of the public exports. */
const fileOf = () => {
  let known;
  return (id, modules) => {
    if (!known) {
      known = new Set([source("index")]);
      for (const one of known) for (const next of modules.getModuleInfo(one)?.importedIds ?? []) known.add(next);
    }
    if (known.has(id)) return id === source("index") ? null : "core";
    return Object.keys(families).find((name) => families[name].test(id)) ?? null;
  };
};

const { output } = await build({
  configFile: false,
  root: library,
  logLevel: "warn",
  plugins: [{ name: "declare-functions", renderChunk: declareFunctions }],
  build: {
    ssr: true,
    outDir,
    emptyOutDir: false,
    minify: false,
    sourcemap: true,
    target: "node20",
    rolldownOptions: {
      input: Object.fromEntries(entries.map((name) => [name, source(name)])),
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "chunks/[name].js",
        comments: { jsdoc: false },
        codeSplitting: { groups: [{ name: fileOf(), debugName: "core" }] },
      },
    },
  },
});

// What an earlier build left must not be taken for this one's.
const written = new Set(output.map(({ fileName }) => join(fileName)));
const present = await readdir(outDir, { recursive: true });
await Promise.all(present.filter((path) => /[.]js([.]map)?$/.test(path) && !written.has(path)).map((path) => rm(join(outDir, path))));
