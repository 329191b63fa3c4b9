import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";

const text = z.string();
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
