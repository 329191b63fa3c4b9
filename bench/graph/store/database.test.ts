import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../calls/candidates/hand-written/connection.ts";
import { startEngine } from "../../engine/engine.ts";
import type { Engine } from "../../engine/engine.ts";
import { linksSet, socialSet } from "./data-set.ts";
import type { DataSet } from "./data-set.ts";
import { databaseOf, startOn } from "./database.ts";
import { placeOf } from "./place.ts";

const engines: Engine[] = [];
const seed = 7;
let written = "";

interface Page {
  readonly Items: readonly Readonly<Record<string, { readonly S?: string }>>[];
}

const scan = async ({ endpoint }: Engine, TableName: string, IndexName?: string): Promise<readonly string[]> => {
  const connection = connect(endpoint);
  const { Items } = await connection.send<Page>("Scan", JSON.stringify({ TableName, IndexName, Limit: 2000 }));
  connection.close();
  return Items.map((item) => JSON.stringify(Object.entries(item).toSorted())).toSorted();
};

const writtenOne = async (set: DataSet): Promise<Engine> => {
  const engine = await startEngine();
  engines.push(engine);
  await set.create(placeOf(engine.endpoint));
  await set.load(placeOf(engine.endpoint));
  return engine;
};

const importedOne = async (set: DataSet): Promise<Engine> => {
  const engine = await startOn(await databaseOf(set, () => undefined));
  engines.push(engine);
  return engine;
};

beforeAll(() => {
  written = process.cwd();
  process.chdir(new URL("../..", import.meta.url).pathname);
});
afterAll(async () => {
  process.chdir(written);
  await Promise.all(engines.map((engine) => engine.stop()));
});

const sets: readonly DataSet[] = [socialSet({ nodes: 1000, edges: 900, seed }), linksSet({ nodes: 200, seed })];
test.each(sets)("an imported file holds what a load through the engine writes: $name", async (set) => {
  const [imported, loaded] = [await importedOne(set), await writtenOne(set)];
  const indexes = set.table === "Links" ? [undefined, "reverse", "ordered"] : [undefined, "reverse"];
  for (const index of indexes) {
    // The library records the model in the table, and the generator does not.
    const rows = (await scan(loaded, set.table, index)).filter((row) => !row.includes('"~model"'));
    expect(rows.length).toBeGreaterThan(200);
    expect(await scan(imported, set.table, index)).toEqual(rows);
  }
});
