import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// TypeScript 7 under its npm alias: it checks the type tests in a tenth of TypeScript 6's time.
const typescript7 = fileURLToPath(new URL("./node_modules/typescript7/bin/tsc", import.meta.url));

// On any engine but the embedded one, only what talks to an engine is worth a second run.
const secondEngine = (process.env["EDGETABLE_TEST_ENGINE"] ?? "dynoxide") !== "dynoxide";
const everything = ["packages/*/src/**/*.test.ts", "conformance/**/*.test.ts", "examples/**/*.test.ts", "bench/**/*.test.ts"];
const engineTests = ["packages/*/src/**/*.engine.test.ts", "conformance/**/*.test.ts", "examples/**/*.engine.test.ts"];
const built = ["**/dist/**", "**/node_modules/**", "**/.cache/**"];

export default defineConfig({
  resolve: { conditions: ["edgetable-source"] },
  ssr: { resolve: { conditions: ["edgetable-source"] } },
  test: {
    include: secondEngine ? engineTests : everything,
    // The embedded engine's own tests, and those of batch jobs, start that engine, whichever one the others run on; and the fault
    // transport's picture of the past is held against that engine, for DynamoDB Local gives equal index
    // keys and the members of sets in an order of its own.
    exclude: secondEngine ? [...built, "packages/local/**", "packages/analytics/**", "packages/testing/**"] : built,
    globalSetup: "./conformance/engines/global-setup.ts",
    setupFiles: ["./conformance/engines/fixed-seed.ts"],
    typecheck: { enabled: !secondEngine, checker: typescript7, include: ["packages/*/src/**/*.test-d.ts"], tsconfig: "./tsconfig.json" },
    // No measure of speed: a machine that is ten times as slow as ours still passes.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
