import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { average, defineGraph, edge, node, part, sum } from "../index.ts";
import { refreshFacts } from "../streams/refresh-facts.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { addDecimals } from "../util/decimal.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const id = z.string();
const price = z.number().optional();
const box = z.object({ n: z.number(), list: z.array(z.number()), all: z.set(z.number()) }).optional();

const copies = { price: "price", box: "box" } as const;
const streamed = { price: { of: "price", freshness: "stream" }, box: { of: "box", freshness: "stream" } } as const;
const modelIn = (table: string, withCopies = true) => {
  const when = <Copies extends object>(given: Copies): Copies => (withCopies ? given : ({} as Copies));
  return defineGraph({
    table,
    nodes: {
      item: node({
        key: "ITEM#{id}",
        schema: z.object({ id, price, box, fixed: price, fixedBox: box, name: id.optional() }),
        immutable: ["fixed", "fixedBox"],
      }),
      cart: node({
        key: "CART#{id}",
        schema: z.object({ id }),
        derived: when({
          total: sum({ in: "in", of: "price" }),
          mean: average({ in: "in", of: "price" }),
          nested: sum({ in: "in", of: "box.n" as never }),
          own: sum({ in: "in", of: "more.n" as never }),
          streamed: sum({ in: "in", of: "box.n" as never, freshness: "stream" }),
        }),
      }),
    },
    parts: {
      offer: part({ of: "item", key: "OFFER#{at}", schema: z.object({ at: id }), ...when({ copies }) }),
      note: part({ of: "item", key: "NOTE#{at}", schema: z.object({ at: id }), ...when({ copies: streamed }) }),
    },
    edges: {
      in: edge({
        from: "item",
        to: "cart",
        stored: "twice",
        // Of a schema that takes any attribute, a path may be added up.
        schema: z.looseObject({}),
        onDelete: { from: "cascade", to: "cascade" },
        ...when({ orderBy: "price:number" as never, copies: { from: copies } }),
      }),
      was: edge({ from: "item", to: "cart", stored: "twice", ...when({ copies: { from: copies } }) }),
      seen: edge({ from: "item", to: "cart", stored: "twice", ...when({ copies: { from: streamed } }) }),
      sold: edge({
        from: "item",
        to: "cart",
        ...when({
          copies: { from: { price: { of: "fixed", freshness: "immutable" }, box: { of: "fixedBox", freshness: "immutable" } } } as const,
        }),
      }),
    },
    indexes: when({ byPrice: { entries: { offer: { by: "price:number", sparse: true } } } }) as never,
  });
};

const DIGITS = "0.12345678901234567890123456789012345678";
const OTHER = "-98765432109876543210.987654321098765432";
const exact = (price: string): Item => ({
  price: { N: price },
  box: { M: { n: { N: price }, list: { L: [{ N: price }, { N: "1" }] }, all: { NS: [price, "2"] } } },
});
const whole = (price: string): Item => ({ ...exact(price), fixed: exact(price)["price"]!, fixedBox: exact(price)["box"]! });
const [item, cart] = [{ id: "i" }, { id: "c" }];
type Db = ReturnType<ReturnType<typeof modelIn>["connect"]>;
let table: string;
let db: Db;

/** A number as DynamoDB gives it. DynamoDB Local leaves the zeros of a sum at its end. */
const trimmed = (value: AttributeValue): AttributeValue => ("N" in value ? { N: addDecimals(value.N, "0") } : value);
const items = async (): Promise<readonly Item[]> => {
  const { Items = [] } = await engine.transport.send("Scan", { TableName: table });
  return Items.map((item) => Object.fromEntries(Object.entries(item).map(([name, value]) => [name, trimmed(value)])));
};
const edit = async (which: (item: Item) => boolean, to: Item) => {
  for (const one of await items()) if (which(one)) await engine.transport.send("PutItem", { TableName: table, Item: { ...one, ...to } });
};
const isItem = ({ pk, sk }: Item): boolean => "S" in pk! && pk.S === "ITEM#i" && "S" in sk! && sk.S === "#";
/** What the items hold that copy, beside their node. */
const copied = async (): Promise<readonly Item[]> =>
  (await items()).filter((one) => one["price"] && !isItem(one)).map(({ price, box }) => ({ price: price!, box: box! }));
const sorted = (value: AttributeValue): AttributeValue =>
  "M" in value && value.M["all"] && "NS" in value.M["all"]
    ? { M: { ...value.M, all: { NS: value.M["all"].NS.toSorted((a, b) => a.localeCompare(b)) } } }
    : value;
const expectCopies = async (price: string, places: number) => {
  const want = { ...exact(price), box: sorted(exact(price)["box"]!) };
  const found = (await copied()).map((one) => ({ ...one, box: sorted(one["box"]!) }));
  expect(found).toEqual(Array.from({ length: places }, () => want));
};
/** What is wrong, beside what the stream's processor has not computed yet. */
const findings = async (repair?: true) =>
  (await verify(db, { settle: 10, ...(repair && { repair }) })).kinds
    .filter(({ kind }) => kind !== "staleFact")
    .map(({ kind, count }) => [kind, count]);

beforeEach(async () => {
  table = engine.freshTableName("exact");
  db = modelIn(table).connect({ transport: engine.transport });
  await db.table.create();
  await db.item.create(item).orThrow();
  await db.cart.create(cart).orThrow();
  await edit(isItem, whole(DIGITS));
});

const writers: Readonly<Record<string, readonly [places: number, write: (db: Db) => Promise<unknown>]>> = {
  link: [2, (db) => db.in.link(item, cart).orThrow()],
  "a put of an edge": [2, (db) => db.in.put(item, cart).orThrow()],
  "a link of what the stream keeps": [2, (db) => db.seen.link(item, cart).orThrow()],
  "a link of what never changes": [1, (db) => db.sold.link(item, cart).orThrow()],
  "the creation of a part": [1, (db) => db.offer.create(item, { at: "1" }).orThrow()],
  "a put of a part": [1, (db) => db.note.put(item, { at: "1" }).orThrow()],
  load: [3, (db) => db.load([{ edge: "in", from: item, to: cart } as const, { part: "offer", owner: item, row: { at: "1" } } as const])],
  "another type of an edge": [
    2,
    async (db) => {
      await db.was.link(item, cart).orThrow();
      await db.was.relink(item, cart, {}, { type: "in" } as never).orThrow();
    },
  ],
  "a transaction that changes the node beside it": [
    2,
    (db) => db.transact([db.item.update(item, { set: { name: "x" } } as never), db.in.link(item, cart)]).orThrow(),
  ],
};

test.each(Object.entries(writers))("%s copies every digit of a stored number", async (_name, [places, write]) => {
  await write(db);
  await expectCopies(DIGITS, places);
  expect(await findings()).toEqual([]);
});

test("a change of the node copies every digit of what it adds up, onto edges and parts", async () => {
  await db.in.link(item, cart).orThrow();
  await db.offer.create(item, { at: "1" }).orThrow();
  await db.item.update(item, { add: { price: 0.5, "box.n": 0.5 } } as never).orThrow();
  const more = "0.62345678901234567890123456789012345678";
  for (const { price, box } of await copied()) {
    expect(price).toEqual({ N: more });
    expect(box).toMatchObject({ M: { n: { N: more }, list: { L: [{ N: DIGITS }, { N: "1" }] } } });
  }
  expect(await copied()).toHaveLength(3);
  expect(await findings()).toEqual([]);
  const [row] = (await items()).filter((one) => "total" in one);
  expect(row).toMatchObject({ total: { N: more }, nested: { N: more } });
});

test("a change beside a link of the same transaction is copied with every digit", async () => {
  await db.transact([db.item.update(item, { add: { price: 0.5, "box.n": 0.5 } } as never), db.in.link(item, cart)]).orThrow();
  const more = "0.62345678901234567890123456789012345678";
  expect((await copied()).map(({ price }) => price)).toEqual([{ N: more }, { N: more }]);
  expect(await findings()).toEqual([]);
});

test("a node that is put with a rounded number takes its copies along", async () => {
  await db.in.link(item, cart).orThrow();
  await db.offer.create(item, { at: "1" }).orThrow();
  const row = await db.item.get(item);
  await db.item.put(row!).orThrow();
  const rounded = String(Number(DIGITS));
  await expectCopies(rounded, 3);
  expect(await findings()).toEqual([]);
  expect((await items()).find((one) => "total" in one)).toMatchObject({ total: { N: rounded } });
});

test("a node that is put keeps every digit of what must not change, and has copies", async () => {
  await db.sold.link(item, cart).orThrow();
  await db.item.put((await db.item.get(item))!).orThrow();
  await expectCopies(DIGITS, 1);
  expect(await findings()).toEqual([]);
});

test("sums add up every digit of copies, also of a number within one, and take it off again", async () => {
  await db.in.link(item, cart).orThrow();
  const counted = async () => (await items()).find((one) => "total" in one);
  expect(await counted()).toMatchObject({ total: { N: DIGITS }, "~sum#mean": { N: DIGITS }, nested: { N: DIGITS } });
  await db.in.unlink(item, cart).orThrow();
  expect(await counted()).toMatchObject({ total: { N: "0" }, "~sum#mean": { N: "0" }, nested: { N: "0" } });
});

test("sums over a path follow every change of the attribute that it leads into", async () => {
  await db.in.link(item, cart, { more: { n: 1 } } as never).orThrow();
  await edit((one) => "more" in one, { more: { M: { n: { N: DIGITS } } } });
  await findings(true);
  const own = async () => (await items()).find((one) => "total" in one)?.["own"];
  expect(await own()).toEqual({ N: DIGITS });
  await db.in.relink(item, cart, { add: { "more.n": 0.5 } } as never).orThrow();
  expect(await own()).toEqual({ N: "0.62345678901234567890123456789012345678" });
  await db.in.relink(item, cart, { set: { more: { n: 0.5 } } } as never).orThrow();
  expect(await own()).toEqual({ N: "0.5" });
  await db.in.relink(item, cart, { remove: ["more"] } as never).orThrow();
  expect(await own()).toEqual({ N: "0" });
  expect(await findings()).toEqual([]);
});

test("verify names rounded copies and repairs them, with what follows", async () => {
  await db.in.link(item, cart).orThrow();
  await db.seen.link(item, cart).orThrow();
  await db.offer.create(item, { at: "1" }).orThrow();
  await edit((one) => "price" in one && !isItem(one), exact(String(Number(DIGITS))));
  const { kinds } = await verify(db, { settle: 10, examples: 100 });
  const copies = kinds.find(({ kind }) => kind === "staleCopy");
  expect(copies?.count).toBe(10);
  // Rows have both as the same number.
  expect(copies?.examples).toContainEqual(
    expect.objectContaining({ attribute: "price", stored: String(Number(DIGITS)), expected: DIGITS }),
  );
  await findings(true);
  await expectCopies(DIGITS, 5);
  expect(await findings()).toEqual([]);
  expect((await items()).find((one) => "total" in one)).toMatchObject({ total: { N: DIGITS }, nested: { N: DIGITS } });
});

test("refreshFacts repairs rounded copies and sums within them", async () => {
  await db.in.link(item, cart).orThrow();
  await db.seen.link(item, cart).orThrow();
  await db.note.create(item, { at: "1" }).orThrow();
  await edit((one) => "~copies" in one && !isItem(one), exact(String(Number(OTHER))));
  expect((await refreshFacts(db)).failed).toEqual([]);
  await expectCopies(DIGITS, 5);
  expect((await items()).find((one) => "total" in one)).toMatchObject({ streamed: { N: DIGITS } });
  expect((await verify(db, { settle: 10 })).kinds).toEqual([]);
});

test("a migration that comes to copy writes every digit", async () => {
  table = engine.freshTableName("migrated");
  const before = modelIn(table, false).connect({ transport: engine.transport });
  await before.table.create();
  await before.item.create(item).orThrow();
  await before.cart.create(cart).orThrow();
  await edit(isItem, whole(OTHER));
  await before.in.link(item, cart).orThrow();
  await before.seen.link(item, cart).orThrow();
  await before.offer.create(item, { at: "1" }).orThrow();
  db = modelIn(table).connect({ transport: engine.transport });
  await db.migrations.run({ finish: true, indexLag: 0 });
  await expectCopies(OTHER, 5);
  expect((await items()).find((one) => "total" in one)).toMatchObject({ total: { N: OTHER }, nested: { N: OTHER } });
});
