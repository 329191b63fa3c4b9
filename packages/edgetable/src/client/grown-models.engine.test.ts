import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { buildCatalog } from "../schema/build-catalog.ts";
import { type GraphDefinition, edge, node, part } from "../schema/definition.ts";
import { openEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph } from "./define-graph.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";
import { edgeWrites, nodeWrites, partWrites } from "./writes.ts";

// Rows that an older model wrote into the table, and single writes of the model that it grew to.

let lab: WriteLab;

/** The writes of an older model into the table of the lab. */
const older = (definition: Omit<GraphDefinition, "table">): Pick<WriteLab, "node" | "edge" | "part"> => {
  const catalog = buildCatalog({ ...definition, table: lab.catalog.table });
  const driver = { ...lab.driver, catalog, session: { ...lab.driver.session, catalog } };
  return {
    node: (name: string) => nodeWrites(driver, catalog.nodes[name]!),
    edge: (name: string) => edgeWrites(driver, catalog.edges[name]!),
    part: (name: string) => partWrites(driver, catalog.parts[name]!),
  };
};

const operations = (): readonly string[] => lab.sent.map(({ operation }) => operation);
const itemAt = async (key: string) => (await lab.items())[key];

const item = node({
  key: "ITEM#{id}",
  schema: z.object({ id: z.string(), kind: z.string().optional(), price: z.number().optional(), note: z.string().optional() }),
});
const person = node({ key: "P#{id}", schema: z.object({ id: z.string(), email: z.string().optional(), note: z.string().optional() }) });

describe("an index that was declared later", () => {
  const before = { nodes: { item } };
  const split = { byKind: { entries: { item: { by: ["kind", "price:number"], split: 1, sparse: true } } } } as const;
  beforeEach(async () => {
    lab = await openWriteLab({
      table: "Grown",
      nodes: { item },
      indexes: { byPrice: { entries: { item: { by: "price:number", sparse: true } } }, ...split },
    });
  });
  afterEach(() => lab.stop());

  test("gets a whole entry from an update: what the call tells is set, what it does not tell is read where it is missing", async () => {
    await older(before).node("item").create({ id: "1", kind: "pen", price: 5 }).orThrow();
    lab.sent.length = 0;
    const update = lab.node("item").update({ id: "1" }, { price: 7 });
    expect((await update.explain()).notes.join()).toMatch(/"byKindPk"/);
    expect(await update).toMatchObject({ ok: true, row: { id: "1", kind: "pen", price: 7 } });
    expect(operations()).toEqual(["UpdateItem", "UpdateItem"]);
    expect(await itemAt("ITEM#1 / #")).toEqual(await putAnew({ id: "1", kind: "pen", price: 7 }));
  });

  const putAnew = async (row: object): Promise<unknown> => {
    await lab
      .node("item")
      .put({ ...row, id: "anew" } as never)
      .orThrow();
    const text = JSON.stringify(await itemAt("ITEM#anew / #")).replaceAll("anew", "1");
    return JSON.parse(text);
  };

  test("costs an item of the model one request, as ever", async () => {
    await lab.node("item").create({ id: "1", kind: "pen", price: 5 }).orThrow();
    lab.sent.length = 0;
    await lab.node("item").update({ id: "1" }, { price: 7 }).orThrow();
    expect(operations()).toEqual(["UpdateItem"]);
    expect(lab.sent[0]?.input).toMatchObject({ ConditionExpression: "attribute_exists(pk) AND attribute_exists(byKindPk)" });
    expect(await itemAt("ITEM#1 / #")).toEqual(await putAnew({ id: "1", kind: "pen", price: 7 }));
  });

  test("loses the whole entry with a field of it", async () => {
    await lab.node("item").create({ id: "1", kind: "pen", price: 5 }).orThrow();
    await lab
      .node("item")
      .update({ id: "1" }, { remove: ["price"] })
      .orThrow();
    expect(await itemAt("ITEM#1 / #")).toEqual(await putAnew({ id: "1", kind: "pen" }));
    expect(Object.keys((await itemAt("ITEM#1 / #"))!).toSorted()).toEqual(["kind", "pk", "sk", "type"]);
  });

  test("is no half entry where a put or an update has half of its fields", async () => {
    await lab.node("item").create({ id: "1", price: 5 }).orThrow();
    expect(Object.keys((await itemAt("ITEM#1 / #"))!).toSorted()).toEqual(["byPricePk", "byPriceSk", "pk", "price", "sk", "type"]);
    await lab.node("item").update({ id: "1" }, { price: 7 }).orThrow();
    expect(await itemAt("ITEM#1 / #")).toEqual(await putAnew({ id: "1", price: 7 }));
    await lab
      .node("item")
      .update({ id: "1" }, { add: { price: 2 } })
      .orThrow();
    expect(await itemAt("ITEM#1 / #")).toEqual(await putAnew({ id: "1", price: 9 }));
    await lab.node("item").update({ id: "1" }, { kind: "pen" }).orThrow();
    expect(await itemAt("ITEM#1 / #")).toEqual(await putAnew({ id: "1", price: 9, kind: "pen" }));
  });

  test("is not touched by an update of something else", async () => {
    await older(before).node("item").create({ id: "1", kind: "pen", price: 5 }).orThrow();
    await lab.node("item").update({ id: "1" }, { note: "n" }).orThrow();
    expect(Object.keys((await itemAt("ITEM#1 / #"))!).toSorted()).toEqual(["kind", "note", "pk", "price", "sk", "type"]);
  });
});

test("an index that an old row lacks a field for has no entry of it, and the update is made all the same", async () => {
  lab = await openWriteLab({
    table: "Grown",
    nodes: { item },
    indexes: { byKind: { entries: { item: { by: ["kind", "price:number"], split: 1 } } } } as never,
  });
  await older({ nodes: { item } }).node("item").create({ id: "1", note: "n" }).orThrow();
  expect(await lab.node("item").update({ id: "1" }, { price: 7 })).toMatchObject({ ok: true });
  expect(Object.keys((await itemAt("ITEM#1 / #"))!).toSorted()).toEqual(["note", "pk", "price", "sk", "type"]);
  await lab.stop();
});

describe("a second copy that was declared later", () => {
  const knows = (more: object) =>
    edge({
      from: "person",
      to: "person",
      schema: z.object({ since: z.string().optional(), note: z.string().optional() }),
      ends: "unchecked",
      ...more,
    } as never);
  const [a, b] = [{ id: "a" }, { id: "b" }];
  afterEach(() => lab.stop());

  test.each([{ stored: "twice" }, { symmetric: true }, { stored: "twice", version: true }, { stored: "twice", orderBy: "since" }])(
    "is written whole by a relink: %o",
    async (more) => {
      lab = await openWriteLab({ table: "Copies", nodes: { person }, edges: { knows: knows(more) } });
      const old = older({ nodes: { person }, edges: { knows: knows({}) } });
      await old.edge("knows").link(a, b, { since: "2020", note: "n" }).orThrow();
      expect(await lab.edge("knows").relink(a, b, { since: "2021" })).toMatchObject({ ok: true });
      const relinked = await lab.items();
      await lab.edge("knows").unlink(a, b).orThrow();
      expect(await lab.items()).toEqual({});
      await lab.edge("knows").put(a, b, { since: "2021", note: "n" }).orThrow();
      const fresh = await lab.items();
      expect(Object.keys(relinked)).toEqual(Object.keys(fresh));
      for (const [key, value] of Object.entries(fresh)) {
        const { gsi1pk: _, gsi1sk: __, version: ___, ...kept } = relinked[key]!;
        const { version: ____, ...expected } = value;
        expect(kept).toEqual(expected);
      }
    },
  );

  test("does not fail an unlink, and a relink of no edge is notFound", async () => {
    lab = await openWriteLab({ table: "Copies", nodes: { person }, edges: { knows: knows({ stored: "twice" }) } });
    await older({ nodes: { person }, edges: { knows: knows({}) } })
      .edge("knows")
      .link(a, b, {})
      .orThrow();
    expect(await lab.edge("knows").unlink(a, b)).toMatchObject({ ok: true });
    expect(await lab.edge("knows").relink(a, b, { since: "2021" })).toMatchObject({ ok: false, reason: "notFound" });
    const both = await lab.transact([lab.edge("knows").relink(a, b, { since: "2021" }), lab.node("person").create(a)] as never);
    expect(both).toMatchObject({ ok: false, outcomes: [{ reason: "notFound" }, { reason: "rolledBack" }] });
  });

  test("an order that was declared later gets its whole entries from a relink", async () => {
    lab = await openWriteLab({ table: "Copies", nodes: { person }, edges: { knows: knows({ orderBy: "since" }) } });
    await older({ nodes: { person }, edges: { knows: knows({}) } })
      .edge("knows")
      .link(a, b, { since: "2020" })
      .orThrow();
    await lab.edge("knows").relink(a, b, { since: "2021" }).orThrow();
    const relinked = await lab.items();
    await lab.edge("knows").put(a, b, { since: "2021" }).orThrow();
    expect(relinked).toEqual(await lab.items());
  });
});

test("an index of a part and a reference, declared later, get whole entries", async () => {
  const line = part({
    of: "item",
    key: "LINE#{n:4}",
    schema: z.object({ n: z.int(), text: z.string().optional(), state: z.string().optional() }),
  });
  const lies = edge({ from: "item", to: "person", stored: "reference", by: { id: "owner" } } as never);
  const owned = node({ key: "ITEM#{id}", schema: z.object({ id: z.string(), owner: z.string().optional(), note: z.string().optional() }) });
  const nodes = { item: owned, person };
  lab = await openWriteLab({
    table: "Grown",
    nodes,
    parts: { line },
    edges: { lies },
    indexes: { byState: { entries: { line: { by: ["state", "text"], split: 1, sparse: true } } } } as never,
  });
  const old = older({ nodes, parts: { line } });
  await old.node("item").create({ id: "1", owner: "a" }).orThrow();
  await old.part("line").create({ id: "1" }, { n: 1, state: "open" }).orThrow();
  await lab.part("line").update({ id: "1" }, { n: 1 }, { text: "t" }).orThrow();
  await lab.node("item").update({ id: "1" }, { owner: "b" }).orThrow();
  const updated = await lab.items();
  await lab.part("line").put({ id: "1" }, { n: 1, state: "open", text: "t" }).orThrow();
  await lab.node("item").put({ id: "1", owner: "b" }).orThrow();
  expect(updated).toEqual(await lab.items());
  await lab.stop();
});

describe("a unique attribute that was declared later", () => {
  const unique = node({ ...person, key: "P#{id}", schema: person.schema, unique: ["email"] } as never);
  const markers = async () => Object.keys(await lab.items()).filter((key) => key.startsWith("~"));
  beforeEach(async () => {
    lab = await openWriteLab({ table: "Unique", nodes: { person: unique as typeof person } });
    const old = older({ nodes: { person } });
    await old.node("person").create({ id: "a", email: "x" }).orThrow();
    await old.node("person").create({ id: "b", email: "x" }).orThrow();
  });
  afterEach(() => lab.stop());

  test("is claimed by a put and by an update that leave it as it is", async () => {
    await lab.node("person").put({ id: "a", email: "x" }).orThrow();
    expect(await markers()).toEqual(["~unique#person#email#x / #"]);
    expect(await lab.node("person").update({ id: "b" }, { email: "x" })).toMatchObject({ ok: false, reason: "notUnique" });
    expect(await lab.node("person").put({ id: "b", email: "x" })).toMatchObject({ ok: false, reason: "notUnique" });
    expect(await lab.node("person").create({ id: "c", email: "x" })).toMatchObject({ ok: false, reason: "notUnique" });
    expect(await lab.node("person").put({ id: "a", email: "x", note: "n" })).toMatchObject({ ok: true, atomic: { kind: "item" } });
  });

  test("does not hold a node back whose value another node owns", async () => {
    await lab.node("person").put({ id: "a", email: "x" }).orThrow();
    expect(await lab.node("person").update({ id: "b" }, { email: "y" })).toMatchObject({ ok: true });
    expect((await markers()).toSorted()).toEqual(["~unique#person#email#x / #", "~unique#person#email#y / #"]);
    await older({ nodes: { person } }).node("person").create({ id: "c", email: "x" }).orThrow();
    expect(await lab.node("person").delete({ id: "c" })).toMatchObject({ ok: true });
    expect((await markers()).toSorted()).toEqual(["~unique#person#email#x / #", "~unique#person#email#y / #"]);
  });
});

describe("a degree rule that was declared later", () => {
  const nodes = { person };
  const knows = (more: object) => edge({ from: "person", to: "person", ends: "unchecked", ...more } as never);
  const id = (at: number | string) => ({ id: String(at) });
  const link = async (writes: Pick<WriteLab, "edge">, from: number, to: number) =>
    writes.edge("knows").link(id(from), id(to), undefined as never);
  const open = async (more: object, edges: number): Promise<void> => {
    lab = await openWriteLab({ table: "Degrees", nodes, edges: { knows: knows(more) } });
    const old = older({ nodes, edges: { knows: knows({}) } });
    for (let at = 1; at <= edges; at++) expect(await link(old, 0, at)).toMatchObject({ ok: true });
  };
  const counters = async () =>
    Object.fromEntries(
      Object.entries(await lab.items()).flatMap(([key, { "~count": count }]) => (count ? [[key, (count as { N: string }).N]] : [])),
    );
  afterEach(() => lab.stop());

  test("counts the edges that are there before it lets one more in", async () => {
    await open({ maxDegree: { from: 3 } }, 3);
    expect(await link(lab, 0, 4)).toMatchObject({ ok: false, reason: "degreeExceeded", limit: 3 });
    await lab.edge("knows").unlink(id(0), id(1)).orThrow();
    expect(await counters()).toEqual({ "P#0 / ~degree#knows#out": "2" });
    lab.sent.length = 0;
    expect(await link(lab, 0, 4)).toMatchObject({ ok: true });
    expect(operations()).toEqual(["TransactWriteItems"]);
    expect(await link(lab, 0, 5)).toMatchObject({ ok: false, reason: "degreeExceeded" });
    expect(await counters()).toEqual({ "P#0 / ~degree#knows#out": "3" });
  });

  test("begins at both ends, for puts, loops and several edges of one transaction", async () => {
    await open({ maxDegree: { from: 5, to: 5 } }, 2);
    await lab
      .edge("knows")
      .put(id(0), id(1), undefined as never)
      .orThrow();
    expect(await counters()).toEqual({});
    const edges = lab.edge("knows");
    const result = await lab.transact([
      edges.link(id(0), id(3), undefined as never),
      edges.unlink(id(0), id(1)),
      edges.put(id(0), id(4), undefined as never),
    ] as never);
    expect(result).toMatchObject({ ok: true });
    expect(await counters()).toEqual({
      "P#0 / ~degree#knows#out": "3",
      "P#1 / ~degree#knows#in": "0",
      "P#3 / ~degree#knows#in": "1",
      "P#4 / ~degree#knows#in": "1",
    });
  });

  const unlink = (from: number, to: number) => lab.edge("knows").unlink(id(from), id(to));
  const rolling = async (more: object): Promise<void> => {
    await open(more, 0);
    expect(await link(lab, 0, 1)).toMatchObject({ ok: true });
    const old = older({ nodes, edges: { knows: knows({}) } });
    for (const at of [2, 3, 4]) expect(await link(old, 0, at)).toMatchObject({ ok: true });
  };

  test("a counter that another deployment did not keep never goes below zero: it goes, and the next link counts anew", async () => {
    await rolling({ maxDegree: { from: 2 } });
    lab.sent.length = 0;
    await unlink(0, 1).orThrow();
    expect(operations()).toEqual(["TransactWriteItems"]);
    expect(await counters()).toEqual({ "P#0 / ~degree#knows#out": "0" });
    lab.sent.length = 0;
    await unlink(0, 2).orThrow();
    // Refused, and planned again from what the refusal shows.
    expect(operations()).toEqual(["TransactWriteItems", "TransactWriteItems"]);
    expect(await itemAt("P#0 / ~degree#knows#out")).toBeUndefined();
    expect(await link(lab, 0, 5)).toMatchObject({ ok: false, reason: "degreeExceeded", limit: 2 });
    await unlink(0, 3).orThrow();
    expect(await link(lab, 0, 5)).toMatchObject({ ok: true });
    expect(await link(lab, 0, 6)).toMatchObject({ ok: false, reason: "degreeExceeded", limit: 2 });
    expect(await counters()).toEqual({ "P#0 / ~degree#knows#out": "2" });
  });

  test("several edges of one transaction take away no more than is counted", async () => {
    await rolling({ maxDegree: { from: 5 } });
    expect(await lab.transact([unlink(0, 1), unlink(0, 2)] as never)).toMatchObject({ ok: true });
    expect(await counters()).toEqual({});
    expect(await link(lab, 0, 1)).toMatchObject({ ok: true });
    expect(await counters()).toEqual({ "P#0 / ~degree#knows#out": "3" });
    const mixed = [unlink(0, 1), unlink(0, 3), lab.edge("knows").link(id(0), id(6), undefined as never)];
    expect(await lab.transact(mixed as never)).toMatchObject({ ok: true });
    expect(await counters()).toEqual({ "P#0 / ~degree#knows#out": "2" });
  });

  test("a deletion that takes uncounted edges along leaves no counter below zero", async () => {
    await open({ maxDegree: { from: 5, to: 5 }, onDelete: { to: "cascade" } }, 0);
    await lab.node("person").put(id(9)).orThrow();
    const old = older({ nodes, edges: { knows: knows({}) } });
    expect(await link(lab, 0, 1)).toMatchObject({ ok: true });
    await unlink(0, 1).orThrow();
    expect(await link(old, 0, 9)).toMatchObject({ ok: true });
    expect(await lab.node("person").delete(id(9))).toMatchObject({ ok: true });
    expect(Object.values(await counters()).filter((count) => Number(count) < 0)).toEqual([]);
    expect(await itemAt("P#0 / ~degree#knows#out")).toBeUndefined();
  });

  test("a node with edges that are older than the rule is not deleted", async () => {
    await open({ onDelete: { from: "restrict" } }, 1);
    await lab.node("person").put(id(0)).orThrow();
    await lab.node("person").put(id(1)).orThrow();
    expect(await lab.node("person").delete(id(0))).toMatchObject({ ok: false, reason: "hasEdges" });
    await lab.edge("knows").unlink(id(0), id(1)).orThrow();
    expect(await counters()).toEqual({ "P#0 / ~degree#knows#out": "0" });
    expect(await lab.node("person").delete(id(0))).toMatchObject({ ok: true });
    expect(await lab.node("person").delete(id(1))).toMatchObject({ ok: true });
    expect(await lab.items()).toEqual({});
  });

  test("one edge alone is allowed: the counter is looked for first, since it is rarely there", async () => {
    await open({ multiplicity: "many-to-one" }, 1);
    lab.sent.length = 0;
    expect(await link(lab, 0, 2)).toMatchObject({ ok: false, reason: "degreeExceeded", limit: 1 });
    expect(operations()).toEqual(["GetItem", "Query", "TransactWriteItems"]);
    lab.sent.length = 0;
    expect(await link(lab, 7, 2)).toMatchObject({ ok: true });
    expect(operations()).toEqual(["GetItem", "Query", "TransactWriteItems"]);
  });
});

test("a scan leaves out the index keys that an older model filled, and a load takes its rows", async () => {
  const knows = (more: object) =>
    edge({ from: "person", to: "person", ends: "unchecked", schema: z.object({ since: z.number() }), ...more } as never);
  const engine = await openEngine();
  const table = engine.freshTableName("Grown");
  const open = (more: object) =>
    defineGraph({ table, nodes: { person }, edges: { knows: knows(more), likes: knows({}) } as never }).connect({
      transport: engine.transport,
    });
  const [old, grown] = [open({}), open({ stored: "twice" })] as unknown as readonly [
    { table: { create(): Promise<unknown> }; load(rows: unknown): Promise<unknown> },
    { scan(): AsyncIterable<object>; load(rows: unknown): Promise<unknown> },
  ];
  await old.table.create();
  await old.load([{ edge: "knows", from: { id: "1" }, to: { id: "2" }, attributes: { since: 3 } }]);
  const rows: object[] = [];
  for await (const row of grown.scan()) rows.push(row);
  expect(rows).toEqual([{ edge: "knows", from: { id: "1" }, to: { id: "2" }, attributes: { since: 3 } }]);
  expect(await grown.load(rows)).toMatchObject({ rows: 1, failed: 0 });
  await engine.close();
});
