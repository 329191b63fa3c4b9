import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

// A template names keys as {key}, {owner}, {from} and {to}. A model may call its own fields so.

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const settle = { settle: 1 };
const WORDS = ["key", "owner", "from", "to"] as const;
const ADOPTED = { partitionKey: "PK", sortKey: "SK", typeAttribute: "T", indexes: { GSI1: { partitionKey: "SK", sortKey: "PK" } } };

const keysOf = async (tableName: string): Promise<readonly unknown[]> => {
  const found = await engine.transport.send("Scan", { TableName: tableName });
  const items = (found as { readonly Items: readonly Readonly<Record<string, { readonly S?: string }>>[] }).Items;
  return items
    .map((item) => [item["pk"]?.S ?? item["PK"]?.S ?? "", item["sk"]?.S ?? item["SK"]?.S])
    .filter(([pk]) => !pk?.startsWith("~"))
    .toSorted();
};

test.each(WORDS.flatMap((word) => [undefined, ADOPTED].map((layout) => ({ word, layout }))))(
  "a node and its parts share a partition, if the node's id is called $word ($layout.partitionKey)",
  async ({ word, layout }) => {
    const table = engine.freshTableName();
    const nodes = {
      repo: node({ key: `REPO#{${word}}#{name}`, schema: z.object({ [word]: text, name: text }) }),
      library: node({ key: `LIBRARY#{${word}}`, schema: z.object({ [word]: text }) }),
    };
    const parts = { issue: part({ of: "repo", key: "ISSUE#{number}", schema: z.object({ number: text }) }) };
    const edges = { uses: edge({ from: "repo", to: "library", onDelete: { from: "cascade", to: "cascade" } }) };
    const graph = defineGraph({ table, nodes, parts, edges, ...(layout ? { layout } : {}) });
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    const [one, two] = [{ [word]: "mia", name: "tool" }, { [word]: "zod" }];
    await db.repo.create(one as never).orThrow();
    await db.library.create(two as never).orThrow();
    await db.issue.create(one as never, { number: "1" }).orThrow();
    await db.uses.link(one as never, two as never).orThrow();
    expect(await db.repo(one as never).collection()).toMatchObject({ node: one, parts: { issue: [{ ...one, number: "1" }] } });
    expect(
      await db
        .library(two as never)
        .in("uses")
        .nodes(),
    ).toEqual([one]);
    expect(await keysOf(table)).toContainEqual(["REPO#mia#tool", "ISSUE#1"]);
    expect(await verify(db, settle)).toMatchObject({ clean: true });
    await db.repo.delete(one as never, { indexLag: 0 }).orThrow();
    expect(await keysOf(table)).toEqual([["LIBRARY#zod", layout ? "LIBRARY#zod" : "#"]]);
  },
);

test("a part's id and attributes may be called so, and indexes hold the attributes", async () => {
  const table = engine.freshTableName();
  const attributes = { key: text, owner: text, from: text, to: text, rank: z.int() };
  const graph = defineGraph({
    table,
    nodes: { list: node({ key: "LIST#{listId}", schema: z.object({ listId: text, ...attributes }) }) },
    parts: {
      entry: part({ of: "list", key: "ENTRY#{owner}#{key}", schema: z.object({ key: text, owner: text }) }),
      task: part({ of: "list", key: "TASK#{taskId}", schema: z.object({ taskId: text, ...attributes }) }),
    },
    indexes: {
      byKey: { entries: { list: "key", task: ["key", "rank:number"] }, shards: 2 },
      byOwner: { entries: { list: { by: ["owner", "rank:number"], split: 1 }, task: "owner" } },
      byFrom: { entries: { list: "from", task: "from" } },
      byTo: { entries: { list: "to", task: "to" } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const list = { listId: "1" };
  const ann = { key: "ann", owner: "ann", from: "ann", to: "ann", rank: 1 };
  const bob = { key: "bob", owner: "bob", from: "bob", to: "bob", rank: 2 };
  await db.list.create({ ...list, ...ann }).orThrow();
  await db.task.create(list, { taskId: "a", ...ann }).orThrow();
  await db.task.create(list, { taskId: "b", ...bob }).orThrow();
  await db.entry.create(list, { key: "x", owner: "y" }).orThrow();
  for (const word of WORDS) {
    expect(
      await db
        .find("list")
        .where({ [word]: "ann" })
        .rows(),
    ).toEqual([{ ...list, ...ann }]);
    expect(
      await db
        .find("task")
        .where({ [word]: { gte: "b" } })
        .rows(),
    ).toEqual([{ ...list, taskId: "b", ...bob }]);
  }
  expect(await db.list(list).parts("entry").all()).toEqual([{ ...list, key: "x", owner: "y" }]);
  expect(await keysOf(table)).toContainEqual(["LIST#1", "ENTRY#y#x"]);
  expect(await verify(db, settle)).toMatchObject({ clean: true });
});

test("a template of a layout names such a field with its format", async () => {
  const table = engine.freshTableName();
  const graph = defineGraph({
    table,
    nodes: { repo: node({ key: "REPO#{owner}#{name}", schema: z.object({ owner: text, name: text }) }) },
    parts: { issue: part({ of: "repo", key: "ISSUE#{number}", schema: z.object({ number: text, status: text }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      parts: { issue: { keys: { GSI1PK: "BY#{owner:text}", GSI1SK: "{owner}#{status}" } } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const repo = { owner: "mia", name: "tool" };
  await db.issue.create(repo, { number: "1", status: "open" }).orThrow();
  const { Items } = (await engine.transport.send("Scan", { TableName: table })) as { readonly Items: readonly unknown[] };
  expect(Items).toEqual([
    {
      PK: { S: "REPO#mia#tool" },
      SK: { S: "ISSUE#1" },
      GSI1PK: { S: "BY#mia" },
      GSI1SK: { S: "REPO#mia#tool#open" },
    },
  ]);
  expect(await db.find("issue").where({ owner: "mia" }).rows()).toEqual([{ ...repo, number: "1", status: "open" }]);
});
