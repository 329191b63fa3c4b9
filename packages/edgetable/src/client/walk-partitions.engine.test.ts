import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

const text = z.string();
const BOOKS = 12;

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

/** An index whose partition key holds an end of the edges, and an attribute of them. */
const open = async (byRank: string) => {
  const sent: SentRequest[] = [];
  const graph = defineGraph({
    table: engine.freshTableName("partitions"),
    nodes: {
      book: node({ key: "BOOK#{book}", schema: z.object({ book: text }) }),
      shelf: node({ key: "SHELF#{shelf}", schema: z.object({ shelf: text }) }),
    },
    edges: {
      standsOn: edge({
        from: "book",
        to: "shelf",
        schema: z.object({ rank: z.int() }),
        expect: { from: 2, to: 5000, rowsPerValue: { rank: 10 } },
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      typeAttribute: "type",
      indexes: {
        byShelf: { partitionKey: "GSI1PK", sortKey: "GSI1SK" },
        byRank: { partitionKey: "GSI2PK", sortKey: "GSI2SK" },
      },
      edges: {
        standsOn: { keys: { PK: "{from}", SK: "ON#{to}", GSI1PK: "{to}", GSI1SK: "{from}", GSI2PK: byRank, GSI2SK: "{from}" } },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport, onRequest: (request) => void sent.push(request) });
  await db.table.create();
  const books = Array.from({ length: BOOKS }, (_, at) => ({ book: `b${String(at).padStart(2, "0")}` }));
  await db.load([
    ...["a", "b"].map((shelf) => ({ node: "shelf", row: { shelf } }) as const),
    ...books.map((row) => ({ node: "book", row }) as const),
    ...books.flatMap((from, at) =>
      ["a", "b"].slice(0, 1 + (at % 2)).map((shelf) => ({ edge: "standsOn", from, to: { shelf }, attributes: { rank: at % 4 } }) as const),
    ),
  ] as const);
  sent.length = 0;
  return { db, sent, books };
};

describe.each([
  ["an attribute", "{to}#RANK#{rank:2}", 1],
  ["an attribute, over shards", "{to}#RANK#{rank:2}#{from.book:shard(4)}", 4],
])("a walk by an index whose partition key holds %s", (_, byRank, shards) => {
  test("reads it where a condition gives the attribute", async () => {
    const { db, sent, books } = await open(byRank);
    const shelf = db.shelf({ shelf: "a" });
    const ranked = books.filter((_book, at) => at % 4 === 1);
    const of = (found: Iterable<{ readonly book?: string }>): readonly (string | undefined)[] =>
      Array.from(found, ({ book }) => book).toSorted();
    const wanted = of(ranked);
    const walk = shelf.walk().in("standsOn").where({ rank: 1 });
    expect(of(await walk.ids())).toEqual(wanted);
    expect(sent.map(({ index }) => index)).toEqual(Array.from({ length: shards }, () => "byRank"));
    expect(
      of(
        await shelf
          .walk()
          .repeat({ in: "standsOn", where: { rank: 1 } }, { depth: 1 })
          .ids(),
      ),
    ).toEqual(wanted);
    expect(of(await db.book(ranked[0]!).out("standsOn").in("standsOn").where({ rank: 1 }).ids())).toEqual(wanted);
    expect(of(await db.find("book").where({ book: "b01" }).out("standsOn").in("standsOn").where({ rank: 1 }).ids())).toEqual(wanted);
    expect((await walk.out("standsOn").count()).count).toBe(2 * ranked.length);
    expect([...(await shelf.shortestPath(ranked[1]!, { in: "standsOn", where: { rank: 1 } }))]).toEqual([
      [{ shelf: "a" }, ranked[1]].map((id) => expect.objectContaining({ ...id }) as object),
    ]);
    expect(of(await shelf.common({ in: "standsOn", where: { rank: 1 } }, [{ shelf: "b" }]))).toEqual(wanted);
  });

  test("is bound anew for other values, nodes and pages", async () => {
    const { db, books } = await open(byRank);
    for (const rank of [1, 2, 1, 3, 7])
      for (const shelf of ["a", "b"]) {
        const ask = (cursor?: string) =>
          db
            .shelf({ shelf })
            .walk()
            .in("standsOn")
            .where({ rank })
            .ids({ budget: { breadth: 2 }, cursor });
        const found: string[] = [];
        for (let part = await ask(); ; part = await ask(part.next)) {
          found.push(...part.items.map(({ book }) => book));
          if (part.next === undefined) break;
        }
        const wanted = books.filter((_book, at) => at % 4 === rank && (shelf === "a" || at % 2 === 1)).map(({ book }) => book);
        expect(found.toSorted()).toEqual(wanted);
      }
  });
});
