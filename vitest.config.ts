import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["edgetable-source"] },
  ssr: { resolve: { conditions: ["edgetable-source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "conformance/**/*.test.ts", "examples/**/*.test.ts", "bench/**/*.test.ts"],
    exclude: ["**/dist/**", "**/node_modules/**"],
    typecheck: { enabled: true, include: ["packages/*/src/**/*.test-d.ts"], tsconfig: "./tsconfig.json" },
    testTimeout: 30_000,
    maxWorkers: 2,
  },
});
