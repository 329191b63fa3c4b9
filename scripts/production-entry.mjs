// The entry for production resolves models without checking them: a model that passes the checks of `defineGraph` in
// development passes them in production. It is the main entry, with the checks replaced by what they end in. Why: docs/bundle.md.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const sources = join(import.meta.dirname, "..", "packages", "edgetable", "src");
const MARK = "?production";
const UNCHECKED = "\0unchecked-model";
const checks = /[/]schema[/]check-model(?:[/]index)?[.]ts$/;
const definesGraphs = join(sources, "client", "define-graph.ts");

/** The module that the entry for production begins with. */
export const productionEntry = `${join(sources, "index.ts")}${MARK}`;

/** True for the modules that only the entry for production has. */
export const isProduction = (id) => id.endsWith(MARK) || id === UNCHECKED;

/** A plugin that builds `productionEntry`: `index.ts` and `define-graph.ts` once more, and everything else shared. */
export const trustModels = {
  name: "trust-models",
  enforce: "pre",
  resolveId(id, importer) {
    if (id === productionEntry) return id;
    if (!importer?.endsWith(MARK)) return undefined;
    const path = join(dirname(importer), id);
    if (checks.test(path)) return UNCHECKED;
    return path === definesGraphs ? path + MARK : path;
  },
  async load(id) {
    if (id === UNCHECKED)
      return `export { buildCatalog as assertModel } from ${JSON.stringify(join(sources, "schema", "build-catalog.ts"))};`;
    if (id.endsWith(MARK)) return { code: await readFile(id.slice(0, -MARK.length), "utf8"), moduleType: "ts" };
    return undefined;
  },
};
