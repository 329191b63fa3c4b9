import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type Transport } from "../index.ts";

const text = z.string();
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const types = ["apple", "banana", "cherry"];
/** People who like things of some types; a thing is deleted with the edges that lead to it. */
const graphOf = (table: string, names: readonly string[]) =>
  defineGraph({
    table,
    nodes: Object.fromEntries(["person", ...names].map((name) => [name, node({ key: `${name}#{id}`, schema: z.object({ id: text }) })])),
    edges: Object.fromEntries(
      names.map((name) => [`likes${name}`, edge({ from: "person", to: name, onDelete: { from: "cascade", to: "cascade" } })]),
    ),
  });

test("resumeAll resumes what this model knows, and names what another model began", async () => {
  const table = engine.freshTableName("resume");
  const before = graphOf(table, types).connect({ transport: engine.transport });
  await before.table.create();
  const people = Array.from({ length: 150 }, (_, at) => ({ node: "person", row: { id: String(at) } }));
  await before.load(people);
  for (const type of types) {
    await before[type]!.create({ id: "1" });
    await before.load(people.map(({ row }) => ({ edge: `likes${type}`, from: row, to: { id: "1" }, attributes: {} })) as never);
    let writes = 0;
    const send: Transport["send"] = async (operation, input, options) => {
      if (operation === "BatchWriteItem" && ++writes > 1) throw Object.assign(new Error("cut"), { name: "Cut" });
      return engine.transport.send(operation, input, options);
    };
    const cut = graphOf(table, types).connect({ transport: { send, close: async () => undefined } });
    await expect(cut[type]!.delete({ id: "1" }, { indexLag: 0 })).rejects.toThrow("cut");
  }

  const db = graphOf(table, ["apple", "cherry"]).connect({ transport: engine.transport });
  const { resumed, leased, refused } = await db.jobs.resumeAll({ indexLag: 0 });
  expect(leased).toEqual([]);
  expect(refused).toEqual([{ id: 'delete banana ["1"]', error: expect.objectContaining({ code: "job.mismatch" }) as unknown }]);
  expect(resumed.map(({ id }) => id)).toEqual(['delete apple ["1"]', 'delete cherry ["1"]']);
  for (const { done } of resumed) expect(await done).toMatchObject({ ok: true });
  expect((await before.jobs.list()).map(({ id }) => id)).toEqual(['delete banana ["1"]']);
});
