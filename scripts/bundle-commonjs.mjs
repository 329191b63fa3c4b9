// Writes the CommonJS files of the published packages beside their modules: dist/index.cjs and index.d.cts for each entry.
// What cannot require() a module takes them, Jest above all. Node itself takes the modules: docs/bundle.md.
//
//   node scripts/bundle-commonjs.mjs
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "vite";
import { productionEntry, trustModels } from "./production-entry.mjs";

const packages = join(import.meta.dirname, "..", "packages");

/** Where each entry's code lies, by the name of its file in dist: read off the manifest, so that the two never differ. */
const entriesOf = async (folder) => {
  const { exports } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const entries = Object.values(exports).filter((entry) => entry.require);
  return Object.fromEntries(
    entries.map((entry) => [entry.require.default.slice("./dist/".length, -".cjs".length), join(folder, entry["edgetable-source"])]),
  );
};

const bundle = async (name, more = {}) => {
  const folder = join(packages, name);
  const outDir = join(folder, "dist");
  const entries = await entriesOf(folder);
  const { output } = await build({
    configFile: false,
    root: folder,
    logLevel: "warn",
    plugins: [trustModels],
    // A package's companion stays a package of its own.
    ssr: { external: ["edgetable"] },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      minify: false,
      target: "node20",
      rolldownOptions: {
        input: { ...entries, ...more },
        output: { format: "cjs", entryFileNames: "[name].cjs", chunkFileNames: "commonjs/[name].cjs", comments: { jsdoc: false } },
      },
    },
  });
  const written = new Set(output.map(({ fileName }) => join(fileName)));
  const present = await readdir(outDir, { recursive: true });
  await Promise.all(present.filter((path) => path.endsWith(".cjs") && !written.has(path)).map((path) => rm(join(outDir, path))));
  // The types are the module's: one declaration of every class. Without the comment, node16 refuses a module in CommonJS.
  for (const entry of Object.keys(entries))
    await writeFile(join(outDir, `${entry}.d.cts`), `// @ts-ignore\nexport * from "./${basename(entry)}.js";\n`);
};

await bundle("edgetable", { production: productionEntry });
for (const name of ["local", "testing", "opentelemetry"]) await bundle(name);
