import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { connect } from "../../calls/candidates/hand-written/connection.ts";
import { engineBinary, engineVersion, startEngine } from "../../engine/engine.ts";
import type { Engine } from "../../engine/engine.ts";
import type { DataSet } from "./data-set.ts";
import { placeOf } from "./place.ts";
import { exportFile, exporting, exportLoad } from "./export.ts";

const run = promisify(execFile);
const cache = "dist/graphs";

const sampleRows = 300;

/** Changes with the graph, the engine, and every byte that the library writes for the first rows. */
const keyOf = async (set: DataSet): Promise<string> => {
  const hash = createHash("sha256").update(`${set.name} ${engineVersion}`);
  const texts: string[] = [];
  await set.load({ transport: exporting((lines) => void texts.push(...lines.split("\n"))) }, sampleRows);
  // Writes that are in flight together come in any order.
  for (const line of texts.toSorted()) hash.update(line);
  return `${set.name}-${hash.digest("hex").slice(0, 12)}`;
};

const schemaOf = async (set: DataSet): Promise<object> => {
  const engine = await startEngine();
  try {
    await set.create(placeOf(engine.endpoint));
    const connection = connect(engine.endpoint);
    const description = await connection.send<object>("DescribeTable", JSON.stringify({ TableName: set.table }));
    connection.close();
    return description;
  } finally {
    await engine.stop();
  }
};

/** The library's own items, by the engine's own import: some twenty times as quick as writing them through it. */
const build = async (set: DataSet, file: string): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "edgetable-graph-"));
  try {
    await exportLoad(exportFile(folder, set.table), (transport) => set.load({ transport }));
    const schema = join(folder, "schema.json");
    await writeFile(schema, JSON.stringify([await schemaOf(set)]));
    const made = join(folder, "made.db");
    await run(engineBinary, ["import", "--source", folder, "--schema", schema, "--tables", set.table, "--output", made]);
    await mkdir(cache, { recursive: true });
    // Whoever else builds the same file makes the same one: the last one stands, and none is seen half.
    await copyFile(made, `${file}.${process.pid}`);
    await rename(`${file}.${process.pid}`, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** The engine's file with the data set in it, from the cache or made now. Not to be written: start engines on copies. */
export const databaseOf = async (set: DataSet, log: (line: string) => void): Promise<string> => {
  const file = join(cache, `${await keyOf(set)}.db`);
  if (existsSync(file)) return file;
  const began = performance.now();
  await build(set, file);
  log(`graph: made ${file} in ${Math.round((performance.now() - began) / 1000)} s`);
  return file;
};

/** An engine on a copy of the file, which is gone when the engine stops. */
export const startOn = async (file: string): Promise<Engine> => {
  const folder = await mkdtemp(join(tmpdir(), "edgetable-graph-"));
  const copy = join(folder, "graph.db");
  await copyFile(file, copy, constants.COPYFILE_FICLONE);
  const engine = await startEngine(copy);
  return {
    ...engine,
    stop: async () => {
      await engine.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
