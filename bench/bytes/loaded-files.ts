import { execFile } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { libraryFolder, buildLibrary, productionEntry } from "../bundle/library.ts";
import { createTable } from "../calls/table.ts";
import { startEngine } from "../engine/engine.ts";

const run = promisify(execFile);
const folder = "dist/bytes";

interface Coverage {
  readonly result: readonly { readonly url: string }[];
}

/** The library's files in one process's coverage. */
const filesIn = async (path: string): Promise<readonly string[]> => {
  const { result } = JSON.parse(await readFile(path, "utf8")) as Coverage;
  return result
    .flatMap(({ url }) => (url.startsWith("file:") ? [fileURLToPath(url)] : []))
    .filter((file) => file.startsWith(libraryFolder));
};

const loadedBy = async (program: string, args: readonly string[]): Promise<readonly string[]> => {
  const coverage = join(folder, "coverage");
  await rm(coverage, { recursive: true, force: true });
  await run(process.execPath, [program, ...args], { env: { ...process.env, NODE_V8_COVERAGE: coverage, NODE_NO_WARNINGS: "1" } });
  const found = await Promise.all((await readdir(coverage)).map((name) => filesIn(join(coverage, name))));
  return [...new Set(found.flat())];
};

/** The library's files that a process loads which makes each of the eight calls once. */
export const filesOfEightCalls = async (): Promise<readonly string[]> => {
  await buildLibrary();
  const program = join(folder, "eight-calls.mjs");
  await build({
    entryPoints: ["bytes/eight-calls.ts"],
    outfile: program,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    external: ["zod", productionEntry],
    alias: { edgetable: productionEntry },
    logLevel: "error",
  });
  const engine = await startEngine();
  try {
    await createTable(engine.endpoint, "Bytes");
    return await loadedBy(program, [engine.endpoint, "Bytes"]);
  } finally {
    await engine.stop();
  }
};
