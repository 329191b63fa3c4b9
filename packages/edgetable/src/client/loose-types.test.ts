import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const fileAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const compiler = fileAt("../../../../node_modules/typescript7/bin/tsc");
const file = fileAt("./loose-types.test-d.ts");

/** What the compiler says about that file, and its name: the library's own sources are written for strict checks. */
const complaints = async (...flags: readonly string[]): Promise<readonly string[]> => {
  const options = ["--noEmit", "--ignoreConfig", "--skipLibCheck", "--listFiles", "--target", "es2023", "--module", "nodenext"];
  const output = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [compiler, ...options, "--types", "node", "--allowImportingTsExtensions", ...flags, file],
      { maxBuffer: 1 << 26 },
      (_, text) => resolve(text),
    );
  });
  return output.split("\n").filter((line) => line.includes("loose-types.test-d.ts"));
};

test("edges without a key of their own are addressed by their ends where strictNullChecks is off, too", async () => {
  expect(await complaints("--strict", "false")).toEqual([file]);
});
