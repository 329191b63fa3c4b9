// Bundles the library's entries into packages/edgetable/dist, beside the declarations that tsc writes there: what is
// loaded at once lies in one file, what a first call loads in files of their own. Why: docs/bundle.md.
//
//   node scripts/bundle-library.mjs [folder] [file for the code of each module, as JSON: what bench/bytes takes apart]
import { readdir, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { build } from "vite";
import { declareFunctions } from "./declare-functions.mjs";
import { isProduction, productionEntry, trustModels } from "./production-entry.mjs";

const library = join(import.meta.dirname, "..", "packages", "edgetable");
const [outDir = join(library, "dist"), modulesFile] = process.argv.slice(2);
const source = (name) => join(library, "src", `${name}.ts`);
const entries = ["index", "transport/sdk/index", "check/index", "streams/index", "verify/index"];

/** What a first call loads together, by the modules that it loads: another file costs an opening, and bytes in every bundle. */
const families = {
  searches: ["client/search-call"],
  walks: ["client/make-walk", "executor/walk/path-search"],
  pages: ["executor/read-page", "executor/cursor-secrets"],
  explanations: ["client/explanation", "client/explain-write", "client/walk-explanation"],
};
/** Modules that lie together though other first calls load some of them too: files of their own would be opened one after the other. */
const together = {
  filters: ["client/filters", "requests/filters", "planner/filter-rules", "ir/holds"],
  record: ["executor/index-readiness", "executor/model-record", "schema/system-key-item"],
};
const familyOf = (root) => Object.keys(families).find((name) => families[name].some((member) => source(member) === root));

/** The modules that a module imports, and those that they import. */
const loadedBy = (root, modules) => {
  const loaded = new Set([root]);
  for (const one of loaded) for (const next of modules.getModuleInfo(one)?.importedIds ?? []) loaded.add(next);
  return loaded;
};

/** Names the file that each module goes into: what both main entries import, what the checks of models add, or a family. */
const placeModules = (modules) => {
  const main = [productionEntry, source("index")];
  const [core, withChecks] = main.map((entry) => loadedBy(entry, modules));
  const places = new Map();
  const roots = new Set();
  const seen = new Set(entries.map(source));
  for (const one of seen) {
    const { importedIds = [], dynamicallyImportedIds = [] } = modules.getModuleInfo(one) ?? {};
    for (const next of dynamicallyImportedIds) roots.add(next);
    for (const next of [...importedIds, ...dynamicallyImportedIds]) seen.add(next);
  }
  // What several families load, or a family and another first call, lies in a file of its own.
  for (const root of [...roots, ...entries.map(source).filter((entry) => !main.includes(entry))]) {
    const family = familyOf(root);
    for (const one of loadedBy(root, modules)) places.set(one, places.has(one) && places.get(one) !== family ? undefined : family);
  }
  for (const [file, names] of Object.entries(together)) for (const name of names) places.set(source(name), file);
  for (const one of withChecks) places.set(one, places.has(one) ? undefined : "checks");
  for (const one of core) places.set(one, isProduction(one) ? undefined : "core");
  for (const entry of main) places.delete(entry);
  return places;
};

let places;
const fileOf = (id, modules) => (places ??= placeModules(modules)).get(id) ?? null;

const { output } = await build({
  configFile: false,
  root: library,
  logLevel: "warn",
  plugins: [trustModels, { name: "declare-functions", renderChunk: declareFunctions }],
  build: {
    ssr: true,
    outDir,
    emptyOutDir: false,
    minify: false,
    sourcemap: true,
    target: "node20",
    rolldownOptions: {
      input: { ...Object.fromEntries(entries.map((name) => [name, source(name)])), production: productionEntry },
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "chunks/[name].js",
        comments: { jsdoc: false },
        codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: fileOf, debugName: "core" }] },
      },
    },
  },
});

if (modulesFile) {
  const codes = output.flatMap(({ fileName, modules = {} }) =>
    Object.entries(modules).map(([id, { code }]) => ({
      file: fileName,
      module: id.startsWith("\0") ? "(bundler)" : relative(join(library, "src"), id),
      code: code ?? "",
    })),
  );
  await writeFile(modulesFile, JSON.stringify(codes));
}

// What an earlier build left must not be taken for this one's.
const written = new Set(output.map(({ fileName }) => join(fileName)));
const present = await readdir(outDir, { recursive: true });
await Promise.all(present.filter((path) => /[.]js([.]map)?$/.test(path) && !written.has(path)).map((path) => rm(join(outDir, path))));
