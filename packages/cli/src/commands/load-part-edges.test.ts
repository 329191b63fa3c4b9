import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createFolder, run, type Folder } from "../test-support/lab.ts";

// Edges that lead to parts: an id of several schemas, those of the part's node and of the part.
const rota = `import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";
export const rota = defineGraph({
  table: "Rota",
  nodes: {
    person: node({ key: "PERSON#{name}", schema: z.object({ name: z.string() }) }),
    ward: node({ key: "WARD#{number:3}", schema: z.object({ number: z.int() }) }),
  },
  parts: { shift: part({ of: "ward", key: "SHIFT#{day:date}#{slot:2}", schema: z.object({ day: z.date(), slot: z.int() }) }) },
  edges: {
    works: edge({ from: "person", to: "shift", schema: z.object({ hours: z.number() }) }),
    covers: edge({ from: "shift", to: ["shift", "ward", "person"] }),
  },
});`;
const shift = { number: 7, day: "2026-07-01T00:00:00.000Z", slot: 2 };

let folder: Folder;
let engine: LocalEngine;
const edgetable = (...argv: readonly string[]) => run([...argv, "--endpoint", engine.endpoint], { cwd: folder.path });
const load = (...argv: readonly string[]) => edgetable("load", ...argv);
const edges = async (...argv: readonly string[]): Promise<unknown> =>
  (JSON.parse((await edgetable("query", ...argv, "--json")).out) as { readonly items: unknown }).items;

beforeAll(async () => {
  engine = await startEngine();
  folder = createFolder({ "edgetable.ts": rota });
});
afterAll(async () => {
  folder.remove();
  await engine.stop();
});
beforeEach(async () => {
  await edgetable("table", "delete", "--yes");
  await edgetable("table", "create");
});

test("take the part's id from columns, and convert each field by the schema that has it", async () => {
  folder.write("works.csv", "from.name,to.number,to.day,to.slot,hours\nAnn,7,2026-07-01,2,7.5\n");
  expect(await load("works.csv", "--edge", "works")).toMatchObject({ code: 0, err: "" });
  folder.write("named.csv", "name,number,day,slot,hours\nBob,7,2026-07-01,2,8\n");
  expect(await load("named.csv", "--edge", "works")).toMatchObject({ code: 0, err: "" });
  folder.write("given.csv", "Who,Ward,Day,Slot,Hours\nCid,7,2026-07-01,2,3\n");
  const columns = "from.name=Who,to.number=Ward,to.day=Day,to.slot=Slot,hours=Hours";
  expect(await load("given.csv", "--edge", "works", "--columns", columns)).toMatchObject({ code: 0, err: "" });
  expect(await edges("shift", "number=7", "day=2026-07-01", "slot=2", "--in", "works")).toEqual([
    { from: { name: "Ann" }, to: shift, hours: 7.5 },
    { from: { name: "Bob" }, to: shift, hours: 8 },
    { from: { name: "Cid" }, to: shift, hours: 3 },
  ]);
});

test("come from a mapping beside their part, and from NDJSON", async () => {
  folder.write("rota.csv", "Who,Ward,Day,Slot,Hours\nAnn,7,2026-07-01,2,7.5\n");
  const id = { number: "Ward", day: "Day", slot: "Slot" };
  folder.write(
    "map.json",
    JSON.stringify([
      { part: "shift", owner: { number: "Ward" }, row: { day: "Day", slot: "Slot" } },
      { edge: "works", from: { name: "Who" }, to: id, attributes: { hours: "Hours" } },
      { edge: "covers", from: id, to: { type: { value: "ward" }, number: "Ward" } },
    ]),
  );
  expect(await load("rota.csv", "--map", "map.json")).toMatchObject({ code: 0, err: "" });
  folder.write("more.ndjson", JSON.stringify({ edge: "covers", from: shift, to: { type: "shift", ...shift, slot: 3 } }));
  expect(await load("more.ndjson")).toMatchObject({ code: 0, err: "" });
  expect(await edges("person", "Ann", "--out", "works")).toEqual([{ from: { name: "Ann" }, to: shift, hours: 7.5 }]);
  expect(await edges("shift", "number=7", "day=2026-07-01", "slot=2", "--out", "covers")).toEqual([
    { from: { type: "shift", ...shift }, to: { type: "ward", number: 7 } },
    { from: { type: "shift", ...shift }, to: { type: "shift", ...shift, slot: 3 } },
  ]);
});

test("to several types say in a column which one", async () => {
  folder.write(
    "covers.csv",
    "from.number,from.day,from.slot,to.type,to.number,to.day,to.slot,to.name\n7,2026-07-01,2,shift,8,2026-07-02,1,\n7,2026-07-01,2,person,,,,Ann\n",
  );
  expect(await load("covers.csv", "--edge", "covers")).toMatchObject({ code: 0, err: "" });
  expect(await edges("shift", "number=7", "day=2026-07-01", "slot=2", "--out", "covers")).toEqual([
    { from: { type: "shift", ...shift }, to: { type: "person", name: "Ann" } },
    { from: { type: "shift", ...shift }, to: { type: "shift", number: 8, day: "2026-07-02T00:00:00.000Z", slot: 1 } },
  ]);
});
