import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node, type Transport } from "../index.ts";
import { readCsv } from "./read-csv.test-support.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

let answers = 0;
/** The members of maps and sets in another order in each answer: DynamoDB promises none. */
const reordered = (value: unknown, turn: number): unknown => {
  if (Array.isArray(value)) return value.map((one) => reordered(one, turn));
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const turned = turn % 2 === 0 ? members : members.toReversed();
  return Object.fromEntries(
    turned.map(([name, member]) => {
      const isSet = name === "SS" || name === "NS";
      return [name, isSet && turn % 2 === 0 ? (member as readonly unknown[]).toReversed() : reordered(member, turn)];
    }),
  );
};

const open = async (storage: "items" | "document") => {
  const { transport } = engine;
  const send = async (...call: Parameters<Transport["send"]>) => reordered(await transport.send(...call), answers++);
  const text = z.string();
  const graph = defineGraph({
    table: engine.freshTableName("member-order"),
    nodes: {
      project: node({ key: "PROJECT#{area}#{name}", schema: z.object({ area: text, name: text }) }),
      issue: node({
        key: "ISSUE#{id}",
        schema: z.object({ id: text, area: text, name: text, rank: z.int(), any: z.any(), tags: z.set(text).optional() }),
        immutable: ["tags"],
        fields: { of: "project", orderBy: "rank:6", storage },
      }),
    },
  });
  const db = graph.connect({ transport: { ...transport, send: send as Transport["send"] } });
  await db.table.create();
  const parent = { area: "a", name: "n" };
  await db.project.create(parent).orThrow();
  const any = { b: [1], a: "x", c: new Set(["y", "z"]) };
  for (const id of ["1", "2", "3"])
    await db.issue.create({ id, ...parent, rank: Number(id), any, tags: new Set(["p", "q", "r"]) }).orThrow();
  return { db, parent, any, fields: db.issue.fields(parent), grid: db.issue.grid(parent) };
};

test("an import finds what rows hold, in whatever order the members of maps and sets come", async () => {
  const { db, grid, any } = await open("items");
  for (let turn = 0; turn < 4; turn++) {
    answers = turn;
    let csv = "";
    for await (const piece of grid.exportCsv()) csv += piece;
    expect(csv.split("\r\n")[1]).toBe('1,a,n,1,"{""a"":""x"",""b"":[1],""c"":{""$set"":[""y"",""z""]}}","[""p"",""q"",""r""]"');
    answers += turn % 2;
    expect(await grid.importCsv(readCsv(csv))).toMatchObject({ changed: 3, unfit: 0 });
    expect(await db.issue.get({ id: "2" })).toMatchObject({ any, tags: new Set(["p", "q", "r"]) });
  }
});

test.each(["items", "document"] as const)("fields are the same in whatever order their members come, with %s", async (storage) => {
  const { db, fields } = await open(storage);
  await fields.define({ fieldId: "size", name: "Size", type: "choice", choices: ["1", "2"] });
  await fields.define({ fieldId: "of", name: "Of", type: "reference", node: "project" });
  for (let turn = 0; turn < 4; turn++) {
    answers = turn;
    const { cost } = await db.issue
      .values({ id: "1" })
      .set({ size: "1", of: { name: `n${turn}`, area: "a" } })
      .report();
    expect(cost.requests).toBeLessThan(6);
    expect(await fields.retype("size", { type: "choice", choices: ["1", "2"] }, { indexLag: 0 })).toMatchObject({ values: 0 });
  }
});
