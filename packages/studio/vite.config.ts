import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The fonts are files of their own, whose licence goes with them. */
const fontLicences: Plugin = {
  name: "font-licences",
  generateBundle() {
    for (const font of ["inter", "jetbrains-mono"])
      this.emitFile({
        type: "asset",
        fileName: `licences/${font}.txt`,
        source: readFileSync(createRequire(import.meta.url).resolve(`@fontsource-variable/${font}/LICENSE`)),
      });
  },
};

export default defineConfig({
  root: folder("src/app"),
  // Absolute, because every view has a path of its own.
  base: "/",
  build: {
    outDir: folder("dist/app"),
    emptyOutDir: true,
    target: "es2022",
    // The policy of the page refuses data: scripts, and inlined files gain nothing on this machine.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    license: { fileName: "licences/bundled.md" },
  },
  plugins: [fontLicences],
  worker: { format: "es" },
});
