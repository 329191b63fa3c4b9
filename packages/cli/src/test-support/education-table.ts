import { afterAll, beforeAll, beforeEach } from "vitest";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createFolder, educationModel, run, type Folder, type Ran, type RunOptions } from "./lab.ts";

/** A folder with the education model, and an engine on which each test of a file finds its table empty. */
export interface EducationTable {
  readonly folder: Pick<Folder, "path" | "write">;
  /** Runs a command in the folder. */
  readonly edgetable: (argv: readonly string[], options?: Partial<RunOptions>) => Promise<Ran>;
  /** Reads a row by `edgetable get`; null if there is none. */
  readonly get: (kind: string, ...id: readonly string[]) => Promise<unknown>;
}

/** Registers the start and the end of both with the tests of a file. */
export const useEducationTable = (): EducationTable => {
  let folder: Folder;
  let engine: LocalEngine;
  const edgetable: EducationTable["edgetable"] = (argv, options) =>
    run([...argv, "--endpoint", engine.endpoint], { cwd: folder.path, ...options });
  beforeAll(async () => {
    engine = await startEngine();
    folder = createFolder({ "edgetable.ts": educationModel });
  });
  afterAll(async () => {
    folder.remove();
    await engine.stop();
  });
  beforeEach(async () => {
    await edgetable(["table", "delete", "--yes"]);
    await edgetable(["table", "create"]);
  });
  return {
    folder: {
      get path() {
        return folder.path;
      },
      write: (name, text) => folder.write(name, text),
    },
    edgetable,
    get: async (kind, ...id) => JSON.parse((await edgetable(["get", kind, ...id, "--json"])).out),
  };
};
