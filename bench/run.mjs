// Node 20 does not run TypeScript: this bundles the bench's programs into dist/ and runs one of them.
// Dependencies stay outside the bundle; the library itself is taken from its sources.
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { build } from "esbuild";

const programs = [
  "main",
  "check",
  "calls/worker",
  "calls/recorder",
  "share/worker",
  "load/worker",
  "plan/worker",
  "graph/walks/worker",
  "graph/mixes/worker",
  "graph/frontier/worker",
  "graph/scatter/worker",
  "profile/share",
  "profile/wire",
  "profile/ratio",
  "profile/load",
  "profile/keys",
  "profile/verify",
  "profile/stream",
  "profile/migrate",
  "profile/bytes",
  "profile/observe",
  "profile/graph",
  "sharding/table",
  "batch/run",
  "grids/run",
];
const [program, ...rest] = process.argv.slice(2);
if (!programs.includes(program)) throw new Error(`run.mjs: no program "${program}"; there are ${programs.join(", ")}`);

// Every path in the bench starts from its own folder, whatever the bundle's layout.
process.chdir(import.meta.dirname);
await rm("dist/programs", { recursive: true, force: true });
await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: programs.map((name) => `${name}.ts`),
  outdir: "dist/programs",
  outbase: ".",
  bundle: true,
  // Splitting keeps a candidate's imports out of the processes of the others.
  splitting: true,
  platform: "node",
  target: "node20",
  format: "esm",
  sourcemap: true,
  conditions: ["edgetable-source"],
  external: [
    "@aws-sdk/*",
    "@smithy/*",
    "@dynoxide/*",
    "@duckdb/node-api",
    "ion-js",
    "@opentelemetry/*",
    "electrodb",
    "dynamodb-toolbox",
    "dynamodb-onetable",
    "esbuild",
    "zod",
  ],
  logLevel: "warning",
});
const child = spawn(process.execPath, ["--enable-source-maps", `dist/programs/${program}.js`, ...rest], {
  stdio: "inherit",
  // The SDK warns of Node 20 in every process.
  env: { ...process.env, NODE_NO_WARNINGS: "1" },
});
child.on("exit", (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
