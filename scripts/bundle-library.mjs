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
const entries = ["index", "transport/sdk/index", "check/index"];

/** Modules that the first walk and the first page load, each in one file: another file costs an opening, and bytes in every bundle. */
const families = {
  walks: /[/](?:client|executor)[/].*walk/,
  pages: /[/](?:executor[/](?:read-page|cursor-secrets)|requests[/]cursor)[.]ts$/,
};

/** The modules that an entry imports, and those that they import. */
const loadedBy = (entry, modules) => {
  const loaded = new Set([entry]);
  for (const one of loaded) for (const next of modules.getModuleInfo(one)?.importedIds ?? []) loaded.add(next);
  loaded.delete(entry);
  return loaded;
};

/** Names the file that a module goes into: what both main entries import, what the checks of models add, a family, or a file of its own. */
const fileOf = () => {
  let core, withChecks;
  return (id, modules) => {
    core ??= loadedBy(productionEntry, modules);
    withChecks ??= loadedBy(source("index"), modules);
    if (core.has(id)) return isProduction(id) ? null : "core";
    if (withChecks.has(id)) return "checks";
    return Object.keys(families).find((name) => families[name].test(id)) ?? null;
  };
};

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
        codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: fileOf(), debugName: "core" }] },
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
