import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type Layout, type SentRequest } from "../index.ts";
import { verify } from "../verify/index.ts";

const text = z.string();
const layoutOf = (more: Partial<Layout>): Layout => ({
  partitionKey: "PK",
  sortKey: "SK",
  indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
  ...more,
});

const nodes = {
  doc: node({ key: "DOC#{docId}", schema: z.object({ docId: text, folderId: text.optional() }) }),
  folder: node({ key: "FOLDER#{folderId}", schema: z.object({ folderId: text, name: text }) }),
};
const edges = { filedIn: edge({ from: "doc", to: "folder", stored: "reference" }) };
const sent: SentRequest[] = [];

let engine: TestEngine;
const open = async () => {
  const graph = defineGraph({ table: engine.freshTableName("references"), nodes, edges });
  const db = graph.connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-"), onRequest: (request) => sent.push(request) });
  await db.table.create();
  await db.folder.create({ folderId: "f", name: "Drafts" }).orThrow();
  await db.doc.create({ docId: "filed", folderId: "f" }).orThrow();
  await db.doc.create({ docId: "loose" }).orThrow();
  return db;
};
let db: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  engine = await openEngine();
  db = await open();
});
afterAll(() => engine.close());

test("a node whose reference is missing has no such edge, whatever is asked of its neighbours", async () => {
  const folders = db.doc({ docId: "loose" }).out("filedIn");
  expect(await folders.edges()).toEqual([]);
  expect(await folders.nodes()).toEqual([]);
  expect(await folders.entries()).toEqual([]);
  expect(await folders.first()).toBeUndefined();
  expect(await folders.page({ of: "nodes", limit: 1 })).toEqual({ items: [], next: undefined, previous: undefined });
  expect(await db.doc({ docId: "filed" }).out("filedIn").nodes()).toEqual([{ folderId: "f", name: "Drafts" }]);
});

test("so it is counted: the node's own item is read for it, where an index has the edges alone", async () => {
  sent.length = 0;
  expect(await db.doc({ docId: "loose" }).out("filedIn").count()).toBe(0);
  expect(await db.doc({ docId: "filed" }).out("filedIn").count()).toBe(1);
  expect(await db.folder({ folderId: "f" }).in("filedIn").count()).toBe(1);
  const shown = sent.map(({ operation, index, input }) => [operation, index, (input as { readonly Select?: string }).Select]);
  expect(shown).toEqual([
    ["Query", undefined, undefined],
    ["Query", undefined, undefined],
    ["Query", "reverse", "COUNT"],
  ]);
});

test("walks pass it by", async () => {
  for (const [docId, found] of [
    ["loose", []],
    ["filed", ["filed"]],
  ] as const) {
    const walk = db.doc({ docId }).out("filedIn").in("filedIn");
    expect((await walk.ids()).items).toEqual(found.map((id) => ({ docId: id })));
    expect(await walk.count()).toMatchObject({ count: found.length, complete: true });
  }
  expect((await db.doc({ docId: "loose" }).walk().rank({ out: "filedIn" }, { by: "degree" })).items).toEqual([]);
});

test("nor is it found in an index of its node: rows and counts are of those that have a reference", async () => {
  const table = engine.freshTableName("references");
  const indexes = (projection: "ALL" | "KEYS_ONLY") => ({ byTitle: { entries: { doc: "title" }, projection } }) as const;
  const titled = {
    doc: node({ key: "DOC#{docId}", schema: z.object({ docId: text, title: text, folderId: text.optional() }) }),
    folder: nodes.folder,
  };
  const named = { filedIn: edge({ from: "doc", to: "folder", stored: "reference", schema: z.object({ title: text }) }) };
  const graphOf = (projection: "ALL" | "KEYS_ONLY") => defineGraph({ table, nodes: titled, edges: named, indexes: indexes(projection) });
  const whole = graphOf("ALL").connect({ transport: engine.transport });
  await whole.table.create();
  await whole.doc.create({ docId: "loose", title: "a" }).orThrow();
  await whole.doc.create({ docId: "filed", title: "a", folderId: "f" }).orThrow();
  const edges = [{ from: { docId: "filed" }, to: { folderId: "f" }, title: "a" }];
  for (const found of [whole.find("filedIn"), whole.find("filedIn").where({ title: "a" }), whole.find("filedIn").using("byTitle")]) {
    expect(await found.rows()).toEqual(edges);
    expect(await found.count()).toBe(1);
    expect(await found.limit(1).count()).toBe(1);
    expect((await found.page({ limit: 1 })).items).toEqual(edges);
  }
  // An index that leaves the reference out cannot tell who has one.
  const keysOnly = graphOf("KEYS_ONLY").connect({ transport: engine.transport });
  const lacking = expect.objectContaining({ code: "plan.noIndex" });
  await expect(async () => keysOnly.find("filedIn").where({ title: "a" }).count().explain()).rejects.toThrow(lacking);
  await expect(async () => keysOnly.find("filedIn").using("byTitle").rows().explain()).rejects.toThrow(
    expect.objectContaining({ message: expect.stringContaining('its projection leaves "folderId" out') }),
  );
});

test.each(["own", "adopted"])("a node whose reference is null has no such edge (%s layout)", async (place) => {
  const graph = defineGraph({
    table: engine.freshTableName("nullReference"),
    nodes: {
      doc: node({ key: "DOC#{docId}", schema: z.object({ docId: text, folderId: text.nullable() }) }),
      folder: node({ key: "FOLDER#{folderId}", schema: z.object({ folderId: text }) }),
    },
    edges: { filedIn: edge({ from: "doc", to: "folder", stored: "reference" }) },
    ...(place === "own" ? {} : { layout: layoutOf({ nodes: { doc: { keys: { SK: "DOC" } }, folder: { keys: { SK: "FOLDER" } } } }) }),
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.doc.create({ docId: "loose", folderId: null }).orThrow();
  const folders = db.doc({ docId: "loose" }).out("filedIn");
  expect(await folders.edges()).toEqual([]);
  expect(await folders.nodes()).toEqual([]);
  expect(await folders.count()).toBe(0);
  expect((await db.doc({ docId: "loose" }).walk().out("filedIn").ids()).items).toEqual([]);
  expect(await db.doc.get({ docId: "loose" })).toEqual({ docId: "loose", folderId: null });
});

test("the layout of a reference edge says of its index keys what that of an item may", async () => {
  const table = engine.freshTableName("references");
  const graph = defineGraph({
    table,
    nodes: {
      doc: node({ key: "DOC#{docId}", schema: z.object({ docId: text, folderId: text.optional(), state: text, title: text }) }),
      folder: node({ key: "FOLDER#{folderId}", schema: z.object({ folderId: text }) }),
    },
    edges: { filedIn: edge({ from: "doc", to: "folder", stored: "reference", schema: z.object({ state: text, title: text }) }) },
    layout: layoutOf({
      nodes: { doc: { keys: { SK: "DOC" } }, folder: { keys: { SK: "FOLDER" } } },
      edges: {
        filedIn: {
          keys: { GSI1PK: "{to}", GSI1SK: "{title}" },
          sparse: ["GSI1PK", "GSI1SK"],
          delimiters: { GSI1SK: "\u0001" },
          when: { GSI1PK: { state: "open" } },
        },
      },
    }),
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.folder.create({ folderId: "f" }).orThrow();
  await db.doc.create({ docId: "1", folderId: "f", state: "open", title: "a#b" }).orThrow();
  await db.doc.create({ docId: "2", folderId: "f", state: "done", title: "c" }).orThrow();
  await db.doc.create({ docId: "3", state: "open", title: "d" }).orThrow();
  const { Items = [] } = await engine.transport.send("Scan", { TableName: table, IndexName: "GSI1" });
  expect(Items.map(({ GSI1PK, GSI1SK }) => [GSI1PK, GSI1SK])).toEqual([[{ S: "FOLDER#f" }, { S: "a#b" }]]);
  expect(
    await db
      .find("filedIn")
      .where({ to: { folderId: "f" }, state: "open" })
      .rows(),
  ).toMatchObject([{ from: { docId: "1" } }]);
  await db.doc.update({ docId: "2" }, { state: "open" }).orThrow();
  expect(
    await db
      .find("filedIn")
      .where({ to: { folderId: "f" }, state: "open" })
      .count(),
  ).toBe(2);
  expect(await verify(db)).toMatchObject({ clean: true });
});
