import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const open = async () => {
  const graph = defineGraph({
    table: engine.freshTableName("immutable"),
    nodes: {
      person: node({
        key: "PERSON#{id}",
        schema: z.object({ id, born: z.date().optional(), city: z.string().optional() }),
        dates: ["born"],
        immutable: ["born"],
      }),
      club: node({ key: "CLUB#{id}", schema: z.object({ id }) }),
    },
    parts: {
      note: part({
        of: "person",
        key: "NOTE#{at}",
        schema: z.object({ at: id }),
        copies: { born: { of: "born", freshness: "immutable" } },
      }),
    },
    edges: { joined: edge({ from: "person", to: "club", copies: { from: { born: { of: "born", freshness: "immutable" } } } }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.person.create({ id: "p", born: new Date("1990-05-01"), city: "Bern" });
  await db.club.create({ id: "c" });
  await db.joined.link({ id: "p" }, { id: "c" });
  await db.note.create({ id: "p" }, { at: "1" });
  return db;
};
const born = new Date("1990-05-01");

test("a put that changes what is copied for good is refused, and says which attribute", async () => {
  const db = await open();
  const current = { id: "p", born, city: "Bern" };
  const refused = { ok: false, reason: "immutable", attribute: "born" };
  expect(await db.person.put({ id: "p", born: new Date("1991-05-01") })).toMatchObject(refused);
  expect(await db.person.put({ id: "p", city: "Basel" })).toMatchObject(refused);
  await expect(db.person.put({ id: "p" }).orThrow()).rejects.toThrow("immutable (born)");
  const transaction = await db.transact([db.club.create({ id: "d" }), db.person.put({ id: "p" })]);
  expect(transaction.outcomes).toMatchObject([{ reason: "rolledBack" }, refused]);
  expect(await db.person.get({ id: "p" })).toEqual(current);

  expect(await db.person.put({ id: "p", born, city: "Basel" })).toMatchObject({ ok: true });
  expect(await db.person.put({ id: "q", city: "Basel" })).toMatchObject({ ok: true });
  expect(await db.person.upsert({ id: "p", born: new Date("1999-01-01") }, { city: "Genf" })).toMatchObject({ ok: true, created: false });
  expect(await db.person.get({ id: "p" })).toEqual({ ...current, city: "Genf" });
  expect(await verify(db, { settle: 1 })).toMatchObject({ clean: true, kinds: [] });
});

test("so is a load's row, and a batch says why it cannot", async () => {
  const db = await open();
  const loaded = await db.load([
    { node: "person", row: { id: "n", born } },
    { node: "person", row: { id: "p", born: new Date("1991-05-01") } },
  ]);
  expect(loaded).toMatchObject({ rows: 2, failed: 1, failures: [{ row: 1 }] });
  expect(loaded.failures[0]?.error.details).toEqual({ reason: "immutable", attribute: "born" });
  await expect(db.batch([db.person.put({ id: "p" })])).rejects.toThrow("first has to read");
  expect(await db.person.get({ id: "p" })).toEqual({ id: "p", born, city: "Bern" });
});
