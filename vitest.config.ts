import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// TypeScript 7 under its npm alias: it checks the type tests in a tenth of TypeScript 6's time.
const typescript7 = fileURLToPath(new URL("./node_modules/typescript7/bin/tsc", import.meta.url));

// The second engine runs what talks to an engine.
const secondEngine = (process.env["EDGETABLE_TEST_ENGINE"] ?? "dynoxide") !== "dynoxide";
const everything = ["packages/*/src/**/*.test.ts", "conformance/**/*.test.ts", "examples/**/*.test.ts", "bench/**/*.test.ts"];
const engineTests = ["packages/*/src/**/*.engine.test.ts", "conformance/**/*.test.ts", "examples/**/*.engine.test.ts"];
// It leaves out suites whose subject is not the engine: processes, injected faults, bundles, documentation, misuse. Nightly they run there too.
const elsewhere = ["kill", "faults", "bundles", "docs", "bad-input", "key-file"].map((folder) => `conformance/${folder}/**`);
// `.ci/run` checks the same files with the same compiler in a step of its own.
const typesChecked = process.env["EDGETABLE_TYPES_CHECKED"] === "1";
const effort = Number(process.env["EDGETABLE_EFFORT"] || 1);
const isNightly = effort > 1;
const built = ["**/dist/**", "**/node_modules/**", "**/.cache/**"];

export default defineConfig({
  resolve: { conditions: ["edgetable-source"] },
  ssr: { resolve: { conditions: ["edgetable-source"] } },
  test: {
    include: secondEngine ? engineTests : everything,
    // packages/local and packages/analytics always start the embedded engine. The fault transport's past states are compared
    // with that engine, because DynamoDB Local orders equal index keys and the members of sets differently.
    exclude: [
      ...built,
      ...(secondEngine ? ["packages/local/**", "packages/analytics/**", "packages/testing/**"] : []),
      ...(secondEngine && !isNightly ? elsewhere : []),
    ],
    globalSetup: "./conformance/engines/global-setup.ts",
    setupFiles: ["./conformance/engines/worker-setup.ts"],
    typecheck: {
      enabled: !secondEngine && !typesChecked,
      checker: typescript7,
      include: ["packages/*/src/**/*.test-d.ts"],
      tsconfig: "./tsconfig.json",
    },
    // No measure of speed: a machine that is ten times as slow as ours still passes. More random cases have more time.
    testTimeout: 120_000 * Math.max(1, effort),
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // For two cores: a third of the time, tests wait for engines, leases and killed processes. The second engine runs once a worker.
    maxWorkers: secondEngine ? 2 : 3,
    // Files of one worker share the modules that they import: a third less CPU for a small file. No test may leave anything behind.
    isolate: false,
  },
});
