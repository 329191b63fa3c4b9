import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

/** A team's entries lie in one partition, each day's one after the other; its members lie in another one. */
const open = async () => {
  const sent: SentRequest[] = [];
  const graph = defineGraph({
    table: engine.freshTableName("onequery"),
    nodes: { team: node({ key: "TEAM#{team}", schema: z.object({ team: text }) }) },
    parts: {
      order: part({ of: "team", key: "{day}#ORDER#{id}", schema: z.object({ day: text, id: text, total: z.int() }) }),
      note: part({ of: "team", key: "{day}#NOTE#{id}", schema: z.object({ day: text, id: text, total: z.int() }) }),
      member: part({ of: "team", key: "MEMBER#{name}", schema: z.object({ name: text, since: text }) }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { team: { keys: { PK: "TEAMS#{team}", SK: "TEAM" } } },
      parts: {
        order: { keys: { GSI1PK: "DAY#{day}", GSI1SK: "ORDER#{total:4}#{team}#{id}" } },
        note: { keys: { GSI1PK: "DAY#{day}", GSI1SK: "NOTE#{total:4}#{team}#{id}" } },
        member: { keys: { PK: "MEMBERS#{team}" } },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  for (const [day, id, total] of [
    ["01", "a", 5],
    ["01", "b", 6],
    ["02", "c", 7],
  ] as const) {
    await db.order.put({ team: "t" }, { day, id, total }).orThrow();
    await db.note.put({ team: "t" }, { day, id: `n${id}`, total }).orThrow();
  }
  await db.member.put({ team: "t" }, { name: "Ann", since: "01" }).orThrow();
  const queries = () =>
    sent
      .splice(0)
      .filter(({ operation }) => operation === "Query")
      .map(({ input }) => {
        const { KeyConditionExpression, ExpressionAttributeValues, IndexName } = input as unknown as Record<string, object>;
        return [
          IndexName,
          KeyConditionExpression,
          ...Object.values(ExpressionAttributeValues!).flatMap((value) => Object.values(value as object)),
        ];
      });
  queries();
  return { db, queries };
};

test("several kinds in one partition of the table are read by one Query", async () => {
  const { db, queries } = await open();
  const found = await db.find(["order", "note"]).where({ team: "t" }).rows();
  expect(queries()).toEqual([[undefined, "PK = :p", "TEAM#t"]]);
  expect(found.map(({ kind, row }) => `${row.day} ${kind} ${row.id}`)).toEqual([
    "01 note na",
    "01 note nb",
    "01 order a",
    "01 order b",
    "02 note nc",
    "02 order c",
  ]);
});

test("where their sort keys begin alike, the Query takes what is known of it", async () => {
  const { db, queries } = await open();
  const found = await db.find(["order", "note"]).where({ team: "t", day: "01" }).reverse().limit(3).rows();
  expect(queries()).toEqual([[undefined, "PK = :p AND begins_with(SK, :s)", "TEAM#t", "01#"]]);
  expect(found.map(({ kind, row }) => `${kind} ${row.id}`)).toEqual(["order b", "order a", "note nb"]);
  // A condition that no key takes is checked on what was read.
  expect(await db.find(["order", "note"]).where({ team: "t", day: "01", total: 5 }).using("GSI1").rows()).toHaveLength(2);
  queries();
  expect(
    await db
      .find(["order", "note"])
      .where({ team: "t", day: "01", total: { gt: 5 } })
      .rows(),
  ).toMatchObject([{ kind: "note" }, { kind: "order" }]);
});

test("where the same field comes next in their sort keys, the one Query takes a range of it", async () => {
  const { db, queries } = await open();
  const named = async (day: object) =>
    (
      await db
        .find(["order", "note"])
        .where({ team: "t", day: day as { gte: string } })
        .rows()
    ).map(({ kind, row }) => `${row.day} ${kind} ${row.id}`);
  expect(await named({ gte: "02" })).toEqual(["02 note nc", "02 order c"]);
  expect(queries()).toEqual([[undefined, "PK = :p AND SK >= :s", "TEAM#t", "02"]]);
  expect(await named({ lt: "02" })).toEqual(["01 note na", "01 note nb", "01 order a", "01 order b"]);
  expect(await named({ gt: "01", lte: "02" })).toEqual(["02 note nc", "02 order c"]);
  expect(await named({ beginsWith: "0", gt: "01" })).toEqual(["02 note nc", "02 order c"]);
  expect(queries()).toHaveLength(3);
  expect(
    await db
      .find(["order", "note"])
      .where({ team: "t", day: { between: ["01", "01"] }, total: 6 })
      .count(),
  ).toBe(2);
  const page = await db
    .find(["order", "note"])
    .where({ team: "t", day: { lte: "01" } })
    .reverse()
    .page({ limit: 3 });
  expect(page.items.map(({ kind }) => kind)).toEqual(["order", "order", "note"]);
  const search = db.find(["order", "note"]).where({ team: "t", day: { lte: "01" } });
  expect((await search.reverse().page({ limit: 3, cursor: page.next })).items).toMatchObject([{ kind: "note", row: { id: "na" } }]);
  queries();
  // Where the kinds' keys go on otherwise, each has a range of its own.
  expect(
    await db
      .find(["order", "note"])
      .where({ day: "01", total: { gte: 6 } })
      .rows(),
  ).toHaveLength(2);
  expect(queries()).toHaveLength(2);
});

test("where the sort key of each says more, each has a Query of its own", async () => {
  const { db, queries } = await open();
  const found = await db.find(["order", "note"]).where({ day: "01", total: 5 }).rows();
  const sorts = queries().map(([index, , , sort]) => `${String(index)} ${String(sort)}`);
  expect(sorts.toSorted()).toEqual(["GSI1 NOTE#0005#", "GSI1 ORDER#0005#"]);
  expect(found.map(({ kind }) => kind)).toEqual(["note", "order"]);
});

test("kinds in several partitions of the table are merged in the order of its sort key", async () => {
  const { db, queries } = await open();
  const found = await db.find(["member", "order"]).where({ team: "t" }).rows();
  const partitions = queries().map(([, , partition]) => String(partition));
  expect(partitions.toSorted()).toEqual(["MEMBERS#t", "TEAM#t"]);
  expect(found.map(({ kind }) => kind)).toEqual(["order", "order", "order", "member"]);
});

test("a node and the references in its item are rows of their own, whatever the shards", async () => {
  for (const shards of [1, 3]) {
    const graph = defineGraph({
      table: engine.freshTableName("references"),
      nodes: { doc: node({ key: "D#{id}", schema: z.object({ id: text, rank: z.int(), parentId: text.optional() }) }) },
      edges: {
        childOf: edge({ from: "doc", to: "doc", stored: "reference", by: { id: "parentId" }, schema: z.object({ rank: z.int() }) }),
      },
      indexes: { byRank: { entries: { doc: { by: "rank:number", split: 1 } }, shards } },
    });
    const db = graph.connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-") });
    await db.table.create();
    for (let at = 0; at < 6; at++) await db.doc.put({ id: `d${at}`, rank: 1, ...(at > 1 ? { parentId: "d0" } : {}) }).orThrow();
    const search = db.find(["doc", "childOf"]).where({ rank: 1 });
    const named = (rows: readonly { readonly kind: string; readonly row: object }[]) =>
      rows.map(({ kind, row }) => `${kind} ${"from" in row ? (row.from as { id: string }).id : (row as { id: string }).id}`);
    const expected = [...[0, 1, 2, 3, 4, 5].map((at) => `doc d${at}`), ...[2, 3, 4, 5].map((at) => `childOf d${at}`)].toSorted();
    const rows = named(await search.rows());
    expect(rows.toSorted()).toEqual(expected);
    expect(await search.count()).toBe(10);
    expect(named(await search.reverse().rows()).toSorted()).toEqual(expected);
    const paged: string[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await search.page({ limit: 3, cursor });
      paged.push(...named(page.items));
      cursor = page.next;
    }
    expect(paged).toEqual(rows);
  }
});
