import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** The worker as one file that a process can run. */
export interface WorkerProgram {
  readonly path: string;
  remove(): Promise<void>;
}

/** Bundles a worker with the library's sources; native packages stay outside, and are found from the folder it is put in. */
export const bundleWorker = async (worker: URL, within: string = tmpdir(), external: readonly string[] = []): Promise<WorkerProgram> => {
  const folder = await mkdtemp(join(within, "edgetable-kill-"));
  const path = join(folder, "worker.mjs");
  await build({
    entryPoints: [fileURLToPath(worker)],
    outfile: path,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["edgetable-source"],
    external: ["@aws-sdk/*", ...external],
    logLevel: "error",
  });
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
};
