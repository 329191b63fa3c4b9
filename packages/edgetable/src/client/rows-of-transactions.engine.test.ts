import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { average, count, defineGraph, edge, node, part, sum, type WriteCall, type WriteOutcome } from "../index.ts";

// The outcome of a write shows the row as the whole transaction leaves it, or no row: its other writes may count at it.

const text = z.string();
const author = node({
  key: "AUTHOR#{id}",
  schema: z.object({ id: text, name: text, email: text.optional(), note: text.optional() }),
  unique: ["email"],
  derived: {
    books: count({ out: "wrote" }),
    long: count({ out: "wrote", where: { pages: { gte: 300 } } }),
    pages: sum({ out: "wrote", of: "pages" }),
    mean: average({ out: "wrote", of: "pages" }),
    prizes: count({ parts: "prize" }),
    money: sum({ parts: "prize", of: "money" }),
  },
});
const book = node({
  key: "BOOK#{id}",
  schema: z.object({ id: text, title: text }),
  timestamps: true,
  derived: { authors: count({ in: "wrote" }), byAnn: count({ in: "wrote", where: { name: "Ann" } }) },
});
const place = node({ key: "PLACE#{id}", schema: z.object({ id: text, city: text, street: text, note: text }) });
const prize = part({ of: "author", key: "PRIZE#{year:4}", schema: z.object({ year: z.int(), money: z.number() }) });
const wrote = edge({
  from: "author",
  to: "book",
  schema: z.object({ pages: z.number() }),
  copies: { from: ["name"] },
  onDelete: { from: "cascade", to: "cascade" },
});

let engine: TestEngine;
const open = async (indexed: boolean) => {
  const table = engine.freshTableName("rows-of-transactions");
  const byPlace = { entries: { place: ["city", "street"] } } as const;
  const byPages = { entries: { author: { by: ["pages:number", "name"] } } } as const;
  const graph = defineGraph({
    table,
    nodes: { author, book, place },
    parts: { prize },
    edges: { wrote },
    ...(indexed && { indexes: { byPages, byPlace } }),
  });
  let interrupt: (() => Promise<unknown>) | undefined;
  const db = graph.connect({
    transport: {
      ...engine.transport,
      send: async (operation, input, options) => {
        const output = await engine.transport.send(operation, input, options);
        const next = operation === "GetItem" || operation === "BatchGetItem" ? interrupt : undefined;
        if (next) interrupt = undefined;
        await next?.();
        return output;
      },
    },
  });
  await db.table.create();
  return { db, afterRead: (work: () => Promise<unknown>) => (interrupt = work) };
};
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

type Lab = Awaited<ReturnType<typeof open>>;
type Db = Lab["db"];

/** Ann with a book of 100 pages and a prize, Bob without, and two books. */
const fill = async (db: Db, at: string) => {
  const ids = { ann: `ann${at}`, bob: `bob${at}`, tea: `tea${at}`, sea: `sea${at}` };
  await db.author.put({ id: ids.ann, name: "Ann", email: `ann${at}` }).orThrow();
  await db.author.put({ id: ids.bob, name: "Bob" }).orThrow();
  for (const id of [ids.tea, ids.sea]) await db.book.put({ id, title: "T" }).orThrow();
  await db.wrote.link({ id: ids.ann }, { id: ids.tea }, { pages: 100 }).orThrow();
  await db.prize.create({ id: ids.ann }, { year: 2000, money: 5 }).orThrow();
  return ids;
};
type Ids = Awaited<ReturnType<typeof fill>>;

const others: Readonly<Record<string, (db: Db, ids: Ids) => WriteCall<unknown>>> = {
  "an edge is linked": (db, { ann, sea }) => db.wrote.link({ id: ann }, { id: sea }, { pages: 400 }),
  "an edge is put": (db, { ann, tea }) => db.wrote.put({ id: ann }, { id: tea }, { pages: 400 }),
  "an edge changes": (db, { ann, tea }) => db.wrote.relink({ id: ann }, { id: tea }, { pages: 301 }),
  "an edge is unlinked": (db, { ann, tea }) => db.wrote.unlink({ id: ann }, { id: tea }),
  "a part is created": (db, { ann }) => db.prize.create({ id: ann }, { year: 2001, money: 7 }),
  "a part changes": (db, { ann }) => db.prize.update({ id: ann }, { year: 2000 }, { money: 1 }),
  "a part is deleted": (db, { ann }) => db.prize.delete({ id: ann }, { year: 2000 }),
};
const owns: Readonly<Record<string, (db: Db, ids: Ids) => WriteCall<unknown>>> = {
  put: (db, { ann }) => db.author.put({ id: ann, name: "Ann", email: `${ann}2`, note: "n" }),
  update: (db, { ann }) => db.author.update({ id: ann }, { note: "n" }),
  "update of a unique value": (db, { ann }) => db.author.update({ id: ann }, { email: `${ann}2` }),
  upsert: (db, { ann }) => db.author.upsert({ id: ann, name: "Ann" }, { note: "n" }),
};

const rowOf = (outcome: WriteOutcome<unknown> | undefined): unknown => (outcome?.ok ? outcome.row : "failed");

for (const indexed of [false, true])
  for (const [own, ownCall] of Object.entries(owns))
    test(`the row of ${own} of a node beside writes that count at it${indexed ? ", which an index holds" : ""}`, async () => {
      const { db } = await open(indexed);
      for (const [at, [other, call]] of Object.entries(others).entries())
        for (const isFirst of [true, false]) {
          const ids = await fill(db, `${at}${isFirst}`);
          const calls = [ownCall(db, ids), call(db, ids)];
          const { ok, outcomes } = await db.transact(isFirst ? calls : calls.toReversed());
          expect({ other, ok }).toEqual({ other, ok: true });
          const row = rowOf(outcomes[isFirst ? 0 : 1]);
          const stored = await db.author.get({ id: ids.ann }, { consistent: true });
          if (own === "put") expect({ other, row }).toEqual({ other, row: stored });
          else expect({ other, row: row ?? stored }).toEqual({ other, row: stored });
        }
    });

test("the rows of nodes that are created with the edges and parts that count at them", async () => {
  const { db } = await open(true);
  const { ok, outcomes } = await db.transact([
    db.author.create({ id: "new", name: "Ann" }),
    db.wrote.link({ id: "new" }, { id: "book" }, { pages: 300 }),
    db.book.create({ id: "book", title: "T" }),
    db.prize.create({ id: "new" }, { year: 1, money: 0.25 }),
  ]);
  expect(ok).toBe(true);
  expect(outcomes[0]).toMatchObject({ row: await db.author.get({ id: "new" }) });
  expect(outcomes[0]).toMatchObject({ row: { books: 1, long: 1, pages: 300, mean: 300, prizes: 1, money: 0.25 } });
  expect(outcomes[2]).toMatchObject({ row: await db.book.get({ id: "book" }) });
  expect(outcomes[2]).toMatchObject({ row: { authors: 1, byAnn: 1 } });
});

test("the row of a put of a node that counts what another write of the call copies onto its edges", async () => {
  const { db } = await open(false);
  const { ann, tea } = await fill(db, "");
  const { outcomes } = await db.transact([db.author.update({ id: ann }, { name: "Anna" }), db.book.put({ id: tea, title: "U" })]);
  expect(outcomes[1]).toMatchObject({ ok: true, row: await db.book.get({ id: tea }) });
  expect(outcomes[1]).toMatchObject({ row: { title: "U", authors: 1, byAnn: 0 } });
});

test("the row of an update of one item shows what another writer changed after the item was read", async () => {
  const { db, afterRead } = await open(true);
  await db.place.put({ id: "1", city: "Rome", street: "A", note: "old" }).orThrow();
  afterRead(() => db.place.update({ id: "1" }, { note: "new" }).orThrow());
  const outcome = await db.place.update({ id: "1" }, { city: "Oslo" });
  expect(outcome).toMatchObject({ atomic: { kind: "item" }, row: await db.place.get({ id: "1" }) });
  expect(outcome).toMatchObject({ row: { city: "Oslo", note: "new" } });
});
