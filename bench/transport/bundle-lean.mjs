import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

/** The lean transport, from its sources. */
export const bundle = async () => {
  const entry = fileURLToPath(new URL("../../packages/edgetable/src/transport/lean/lean-transport.ts", import.meta.url));
  const outfile = join(mkdtempSync(join(tmpdir(), "edgetable-bench-")), "lean.mjs");
  await build({ entryPoints: [entry], outfile, bundle: true, format: "esm", platform: "node", external: ["@aws-sdk/*"] });
  return import(pathToFileURL(outfile).href);
};
