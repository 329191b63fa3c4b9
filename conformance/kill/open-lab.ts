import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { bundleWorker } from "./bundle-worker.ts";

/** An engine, and the program that dies on it. */
export interface KillLab {
  readonly engine: TestEngine;
  /** Path of the worker. */
  readonly program: string;
  close(): Promise<void>;
}

/** Opens an engine and bundles the worker. */
export const openLab = async (): Promise<KillLab> => {
  const [engine, program] = [await openEngine(), await bundleWorker(new URL("worker.ts", import.meta.url))];
  return {
    engine,
    program: program.path,
    close: async () => {
      await engine.close();
      await program.remove();
    },
  };
};
