import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

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
  },
  worker: { format: "es" },
});
