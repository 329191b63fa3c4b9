import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node, type Layout } from "../index.ts";

const schema = z.object({ isbn: z.string(), year: z.int(), bought: z.date(), lent: z.boolean(), price: z.number(), title: z.string() });
const books = [
  { isbn: "1", year: 7, bought: new Date("1999-12-31"), lent: true, price: -1.5, title: "a" },
  { isbn: "2", year: 1999, bought: new Date("2000-01-01"), lent: false, price: 0, title: "a b" },
  { isbn: "3", year: 2000, bought: new Date("2000-01-01T00:00:00.001Z"), lent: false, price: 12, title: "A" },
  { isbn: "4", year: 2000, bought: new Date("2024-02-29"), lent: true, price: 120, title: "é" },
];
type Book = (typeof books)[number];
const formats = { year: "{year:4}", bought: "{bought:date}", lent: "{lent:boolean}", price: "{price:number}", title: "{title}" } as const;
type Field = keyof typeof formats;
const fields = Object.keys(formats) as readonly Field[];

/** A date's text holds some delimiters itself: a model with those is refused. */
const fieldsWith = (delimiter: string): readonly Field[] => fields.filter((field) => field !== "bought" || !"-:".includes(delimiter));

const layoutOf = (delimiter: string): Layout => ({
  partitionKey: "PK",
  sortKey: "SK",
  delimiter,
  indexes: Object.fromEntries(fieldsWith(delimiter).map((field) => [`by-${field}`, { partitionKey: `${field}P`, sortKey: `${field}S` }])),
  nodes: {
    book: {
      keys: Object.fromEntries([
        ["SK", "BOOK"],
        ...fieldsWith(delimiter).flatMap((field) => [
          [`${field}P`, "BOOK"],
          [`${field}S`, `${formats[field]}${delimiter}{isbn}`],
        ]),
      ]),
    },
  },
});

const open = async (delimiter: string) => {
  const nodes = { book: node({ key: `B${delimiter}{isbn}` as "B#{isbn}", schema, dates: ["bought"] }) };
  const db = defineGraph({ table: engine.freshTableName("delimiters"), nodes, layout: layoutOf(delimiter) }).connect({
    transport: engine.transport,
  });
  await db.table.create();
  await db.batch(books.map((book) => db.book.put(book)));
  return db;
};

const comparisons = {
  lt: (value: Book[Field], bound: Book[Field]) => value < bound,
  lte: (value: Book[Field], bound: Book[Field]) => value <= bound,
  gt: (value: Book[Field], bound: Book[Field]) => value > bound,
  gte: (value: Book[Field], bound: Book[Field]) => value >= bound,
};
const operators = Object.keys(comparisons) as readonly (keyof typeof comparisons)[];
const sorted = (found: readonly Book[]): readonly string[] => found.map(({ isbn }) => isbn).toSorted();

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

test.each(["#", "-", "/", ":", "|", "_", "~"])(
  "a range of values is no wider where %s, before or behind the digits, ends them",
  async (delimiter) => {
    const db = await open(delimiter);
    for (const field of fieldsWith(delimiter))
      for (const { [field]: bound } of books) {
        if (typeof bound === "boolean") continue; // booleans have no order
        for (const operator of operators) {
          const wanted = books.filter((book) => comparisons[operator](book[field], bound));
          const search = db
            .find("book")
            .using(`by-${field}`)
            .where({ [field]: { [operator]: bound } });
          expect([field, operator, bound, sorted(await search.rows())]).toEqual([field, operator, bound, sorted(wanted)]);
          expect([field, operator, bound, await search.count()]).toEqual([field, operator, bound, wanted.length]);
        }
        const within = books.filter((book) => book[field] >= books[0]![field] && book[field] <= bound);
        const search = db
          .find("book")
          .using(`by-${field}`)
          .where({ [field]: { between: [books[0]![field], bound] } });
        expect([field, bound, sorted(await search.rows())]).toEqual([field, bound, sorted(within)]);
      }
  },
);

test("the key alone answers for what is as long for every value, whatever the delimiter", async () => {
  const db = await open("|");
  const asked = async (where: object) => (await db.find("book").where(where).explain()).requests[0]?.input;
  expect(await asked({ year: { lt: 2000 } })).toMatchObject({
    KeyConditionExpression: "#p = :p AND #s <= :s",
    ExpressionAttributeValues: { ":s": { S: "2000" } },
  });
  expect(await asked({ year: { lte: 2000 } })).toMatchObject({ ExpressionAttributeValues: { ":s": { S: "2000}" } } });
  expect(await asked({ year: { lte: 2000 } })).not.toHaveProperty("FilterExpression");
  expect(await asked({ bought: { between: [new Date(0), new Date(1)] } })).toMatchObject({
    ExpressionAttributeValues: { ":s": { S: "1970-01-01T00:00:00.000Z" }, ":t": { S: "1970-01-01T00:00:00.001Z}" } },
  });
});
