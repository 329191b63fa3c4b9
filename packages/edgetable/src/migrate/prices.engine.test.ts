import { describe, expect, test as anyTest } from "vitest";
import { z } from "zod";
import { testEngineName } from "../../../../conformance/engines/engine-name.ts";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node } from "../schema/definition.ts";
import { average, count, max, sum } from "../schema/derived.ts";
import { lab, openMigrationsLab, watched } from "./migrations-lab.test-support.ts";

openMigrationsLab();

// DynamoDB Local counts the units of transactions twice.
const test = anyTest.skipIf(testEngineName() === "dynamodb-local");

const id = z.string();
const schema = z.object({ id, name: z.string() });
const ends = { from: "a", to: "a", schema: z.object({ w: z.int() }), onDelete: { from: "cascade", to: "cascade" } } as const;
const fast = { share: 100, indexLag: 0, finish: true } as const;
const [NODES, EACH] = [40, 5];

interface Change {
  readonly a?: object;
  readonly e?: object;
  readonly indexes?: object;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a model made of variable parts has no types
const connectTo = ({ a = {}, e = {}, indexes = {} }: Change, options: object = {}): any =>
  defineGraph({
    table: lab.table,
    nodes: { a: node({ key: "A#{id}", schema, ...a }), other: node({ key: "O#{id}", schema }) },
    edges: { e: edge({ ...ends, ...e } as never) },
    indexes,
  } as never).connect({ transport: lab.engine.transport, ...options });

const fillTable = async (model: Change = {}): Promise<void> => {
  const before = connectTo(model);
  await before.table.create();
  const nodes = Array.from({ length: NODES }, (_, at) => ({ node: "a", row: { id: `${at}`, name: `N${at}` } }));
  await before.load([
    ...nodes,
    ...nodes.flatMap((_, at) =>
      Array.from({ length: EACH }, (_one, k) => ({
        edge: "e",
        from: { id: `${at}` },
        to: { id: `${(at * 7 + k * k + 1) % NODES}` },
        attributes: { w: k },
      })),
    ),
  ]);
};

const stream = { freshness: "stream" } as const;
const changes: Readonly<Record<string, Change>> = {
  "a count": { a: { derived: { n: count({ in: "e" }) } } },
  "counts, sums and averages of both directions": {
    a: { derived: { n: count({ in: "e" }), s: sum({ out: "e", of: "w" }), m: average({ in: "e", of: "w" }) } },
  },
  "a sharded count": { a: { derived: { n: count({ in: "e", shards: 4 }) } } },
  "a count by the stream": { a: { derived: { n: count({ in: "e", ...stream }) } } },
  "a maximum by the stream": { a: { derived: { n: max({ in: "e", of: "w", ...stream }) } } },
  copies: { e: { copies: { to: ["name"], from: { by: { of: "name" } } } } },
  "copies by the stream": { e: { copies: { to: { by: { of: "name", ...stream } } } } },
  "a degree limit": { e: { maxDegree: { from: 100 } } },
  "a unique attribute": { a: { unique: ["name"] } },
  "an index": { indexes: { byName: { entries: { a: "name", e: "w:number" }, shards: 2 } } },
  "a key of an index in use": { a: { mirror: true } },
};

for (const [name, change] of Object.entries(changes))
  test(`a migration takes no more than its plan says: ${name}`, async () => {
    await fillTable();
    const db = connectTo(change);
    const { cost } = await db.migrations.plan();
    const report = await db.migrations.run(fast);
    expect(report.complete).toBe(true);
    expect(report.cost.readUnits).toBeLessThanOrEqual(cost.readUnits);
    expect(report.cost.writeUnits).toBeLessThanOrEqual(cost.writeUnits);
  });

describe("where the table has six more indexes, which hold nothing that changes, or one entry of the item,", () => {
  const shards = { shards: [2] } as const;
  const others = {
    ...Object.fromEntries(["one", "two", "three", "four", "five"].map((name) => [name, { entries: { other: "name" } }])),
    byId: { entries: { a: "name" }, ...shards },
  };
  const withOthers = ({ indexes, ...change }: Change): Change => ({ ...change, indexes: { ...others, ...indexes } });
  const wider: Readonly<Record<string, Change>> = {
    ...changes,
    "an order": { e: { orderBy: "w:number" } },
    "more shards": { indexes: { byId: { ...others.byId, shards: [4, 2] } } },
    "another key": { indexes: { byId: { entries: { a: ["name", "id"] }, ...shards } } },
    "a renamed attribute": {
      a: { schema: z.object({ id, title: z.string() }), renamed: { title: { from: "name", stored: "new" } } },
      indexes: { byId: { entries: { a: "title" }, ...shards } },
    },
  };
  for (const [name, change] of Object.entries(wider))
    test(`a plan is close to what its migration takes: ${name}`, async () => {
      await fillTable(withOthers({}));
      const db = connectTo(withOthers(change));
      const { cost } = await db.migrations.plan({ inPlace: true });
      const report = await db.migrations.run({ ...fast, inPlace: true });
      expect(report.complete).toBe(true);
      expect(report.cost.writeUnits).toBeLessThanOrEqual(cost.writeUnits);
      expect(cost.writeUnits).toBeLessThanOrEqual(3 * report.cost.writeUnits);
      // What a step that reads the table twice takes of a small one.
      expect(cost.readUnits).toBeLessThan(4 * report.cost.readUnits + 60);
    });
});

test("a plan counts the items that a step concerns, by all items of a small table and by a sample of a larger one", async () => {
  await fillTable();
  const db = connectTo({ indexes: { byName: { entries: { a: "name" } } } });
  const plan = await db.migrations.plan();
  // The table's record of the model is an item too.
  expect(plan.counted).toBe(`from all ${NODES * (1 + EACH) + 1} items`);
  const itemsOf = ({ steps }: { steps: readonly { kind: string; items?: number }[] }, kind: string) =>
    steps.find((one) => one.kind === kind)?.items;
  expect(itemsOf(plan, "backfill")).toBe(NODES);
  expect(plan.cost.writeUnits).toBeLessThan(NODES * 10);
  expect((await db.migrations.run({ ...fast, finish: false })).plan.counted).toBeUndefined();
  // What has its keys by now is not written again.
  expect(itemsOf(await db.migrations.plan(), "backfill")).toBe(0);
  const before = connectTo({});
  const edges = Array.from({ length: 3000 }, (_, at) => ({
    edge: "e",
    from: { id: `${at % NODES}` },
    to: { id: `far${at}` },
    attributes: { w: 1 },
  }));
  await before.load(edges);
  const { counted, steps } = await db.migrations.plan();
  expect(counted).toMatch(/^estimated from a sample of [\d,]+ items$/);
  expect(itemsOf({ steps }, "backfill")).toBeLessThan(40);
});

test("what the stream keeps is priced by the rows that count", async () => {
  await fillTable();
  const db = connectTo({ a: { derived: { n: count({ in: "e", ...stream }) } } });
  const alone = await db.migrations.plan();
  const other = defineGraph({ table: lab.table, nodes: { other: node({ key: "O#{id}", schema: z.object({ id }) }) } });
  const rows = Array.from({ length: 400 }, (_, at) => ({ node: "other" as const, row: { id: `${at}` } }));
  await other.connect({ transport: lab.engine.transport }).load(rows);
  const { counted, cost } = await db.migrations.plan();
  expect(counted).toBe(`from all ${NODES * (1 + EACH) + 401} items`);
  // The job saves its position now and then.
  expect(cost.writeUnits - alone.cost.writeUnits).toBeLessThan(10);
  // A pass reads the table, as does each of the others.
  expect(cost.readUnits - alone.cost.readUnits).toBeLessThan(400);
  const report = await db.migrations.run(fast);
  expect(report.cost.readUnits).toBeLessThanOrEqual(cost.readUnits);
  expect(report.cost.writeUnits).toBeLessThanOrEqual(cost.writeUnits);
});

test("what the stream keeps over several kinds is priced by the rows of each, whatever the other kinds and indexes are", async () => {
  const cascade = { from: "cascade", to: "cascade" } as const;
  const kinds = ["b", "c", "d"] as const;
  const modelOf = (derived: boolean) => {
    const facts = (kind: string) =>
      derived ? { n: count({ in: `to_${kind}`, ...stream }), most: max({ in: `to_${kind}`, of: "w", ...stream }) } : {};
    return defineGraph({
      table: lab.table,
      nodes: {
        a: node({ key: "A#{id}", schema }),
        ...Object.fromEntries(kinds.map((kind) => [kind, node({ key: `${kind}#{id}`, schema, derived: facts(kind) as never })])),
      },
      edges: Object.fromEntries(
        kinds.map((kind) => [`to_${kind}`, edge({ from: "a", to: kind as never, schema: z.object({ w: z.int() }), onDelete: cascade })]),
      ),
      indexes: Object.fromEntries(["index1", "index2", "index3", "index4"].map((name) => [name, { entries: { a: "name" } }])),
    } as never).connect({ transport: lab.engine.transport });
  };
  const before = modelOf(false);
  await before.table.create();
  const named = (kind: string, at: number) => ({ node: kind, row: { id: `${at}`, name: `N${at}` } });
  const rows = Array.from({ length: 120 }, (_, at) => [
    named("a", at),
    ...kinds.flatMap((kind) => [
      named(kind, at),
      { edge: `to_${kind}`, from: { id: `${at}` }, to: { id: `${at % 7}` }, attributes: { w: at } },
    ]),
  ]).flat();
  const { failures } = await before.load(rows as never);
  expect(failures).toEqual([]);
  const after = modelOf(true);
  const { cost } = await after.migrations.plan();
  const report = await after.migrations.run(fast);
  expect(report.cost.readUnits).toBeLessThanOrEqual(cost.readUnits);
  expect(report.cost.writeUnits).toBeLessThanOrEqual(cost.writeUnits);
  expect(cost.readUnits).toBeLessThan(5 * report.cost.readUnits);
  expect(cost.writeUnits).toBeLessThan(5 * report.cost.writeUnits);
});

interface Linked {
  readonly to_b: { link(from: object, to: object): { orThrow(): Promise<unknown> } };
}

test("degrees are priced by the items that count them, and a missing one is not made", async () => {
  const kinds = ["b", "c", "d"] as const;
  const modelOf = (limits: object) =>
    defineGraph({
      table: lab.table,
      nodes: Object.fromEntries(["a", ...kinds].map((kind) => [kind, node({ key: `${kind}#{id}`, schema })])),
      edges: Object.fromEntries(kinds.map((kind) => [`to_${kind}`, edge({ from: "a", to: kind as never, ...limits })])),
    } as never).connect({ transport: lab.engine.transport });
  const before = modelOf({});
  await before.table.create();
  const rows = Array.from({ length: 100 }, (_, at) =>
    ["a", ...kinds].map((kind) => ({ node: kind, row: { id: `${at}`, name: "" } })),
  ).flat();
  await before.load(rows as never);
  const { steps } = await modelOf({ maxDegree: { to: 50 } }).migrations.plan();
  const [derive] = steps.filter(({ kind }) => kind === "derive");
  // The 400 nodes at the ends are neither read nor written: two scans.
  expect(derive).toMatchObject({ items: 400, writeUnits: 0 });
  expect(derive?.kind === "derive" && derive.readUnits).toBeLessThan(100);
  const after = modelOf({ maxDegree: { to: 50 } });
  await after.migrations.run(fast);
  for (let at = 0; at < 5; at++) await (after as never as Linked).to_b.link({ id: `${at}` }, { id: `${at}` }).orThrow();
  const again = await after.migrations.plan({ again: true });
  expect(again.steps.find(({ kind }) => kind === "derive")).toMatchObject({ writeUnits: 5 * 2 });
});

test("a count is computed by one Query of a node's edges between two reads of nodes, and one write", async () => {
  await fillTable();
  const { sent, options } = watched();
  const db = connectTo({ a: { derived: { n: count({ in: "e" }) } } }, options);
  const { cost } = await db.migrations.run(fast);
  expect(sent.filter((operation) => operation === "Query")).toHaveLength(NODES);
  expect(sent.filter((operation) => operation === "BatchGetItem").length).toBeLessThan(5);
  expect(cost.readUnits).toBeLessThan(3 * NODES);
});

for (const direction of ["in", "out"] as const)
  test(`an extreme of ${direction}-edges by the stream is priced by the rows at each node`, async () => {
    const before = connectTo({});
    await before.table.create();
    const rows = Array.from({ length: 60 }, (_, at) => at).flatMap((at) => [
      { node: "a", row: { id: `${at}`, name: "" } },
      ...Array.from({ length: 5 }, (_one, k) => ({
        edge: "e",
        from: { id: `${at}` },
        to: { id: `${(at * 5 + k) % 50}` },
        attributes: { w: at % 20 },
      })),
    ]);
    expect((await before.load(rows)).failures).toEqual([]);
    const db = connectTo({ a: { derived: { most: max({ [direction]: "e", of: "w", ...stream } as never) } } });
    const { cost } = await db.migrations.plan();
    const report = await db.migrations.run(fast);
    expect(report.complete).toBe(true);
    expect(report.cost.readUnits).toBeLessThanOrEqual(cost.readUnits);
    expect(report.cost.writeUnits).toBeLessThanOrEqual(cost.writeUnits);
    expect(cost.readUnits).toBeLessThan(4 * report.cost.readUnits);
  });
