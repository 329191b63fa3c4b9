import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import type { EdgetableError } from "../errors/edgetable-error.ts";
import { createSession, systemEffects } from "../executor/session.ts";
import type { StrayItem } from "../executor/call.ts";
import { edge, node, part } from "../schema/definition.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";
import type { Item } from "../transport/operations.ts";
import { createDriver, type Driver } from "./driver.ts";
import { loadOf, type Load } from "./load.ts";
import { scanOf, type Scan, type ScanTable } from "./scan.ts";
import type { ScanOptions } from "./scan-rows.ts";
import type { Row } from "../util/row.ts";

const id = z.object({ id: z.string() });
const definition = {
  nodes: {
    account: node({
      key: "ACCOUNT#{id}",
      schema: z.object({ id: z.string(), email: z.string(), born: z.date().optional(), big: z.bigint().optional() }),
      unique: ["email"],
      version: true,
      dates: ["born"],
    }),
    house: node({ key: "HOUSE#{id}", schema: id }),
  },
  parts: { room: part({ of: "house", key: "ROOM#{n}", schema: z.object({ n: z.string(), doors: z.int() }) }) },
  edges: {
    takes: edge({ from: "account", to: "house", schema: z.object({ grade: z.string().optional() }), stored: "twice", version: true }),
    owns: edge({
      from: "account",
      to: "house",
      schema: z.object({ share: z.number(), term: z.string() }),
      key: ["term"],
      multiplicity: "many-to-one",
    }),
    knows: edge({ from: "account", to: "account", symmetric: true, schema: z.object({ since: z.string() }), maxDegree: { from: 5 } }),
    likes: edge({
      from: "account",
      to: ["account", "house"],
      schema: z.object({ note: z.string() }),
      stored: "twice",
      sides: { from: ["note"], to: [] },
    }),
  },
} as const;

let lab: WriteLab;
let copy: WriteLab;
const driverOf = ({ driver }: WriteLab): Driver =>
  createDriver({ session: driver.session, rulesOff: [], validates: true, deadline: undefined, cursorSecret: async () => ["test"] });
let scan: ScanTable<Row>;
let load: Load<unknown>;
let full: Readonly<Record<string, Item>>;

const rowsOf = async (given: Scan<Row>): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  for await (const row of given) rows.push(row);
  return rows;
};
const sorted = (rows: readonly unknown[]): readonly unknown[] => rows.toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
// Whatever the order of an object's fields, which is the engine's own.
const plain = (_: string, value: unknown): unknown => {
  if (typeof value === "bigint") return String(value);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;
};
const text = (value: unknown): string => JSON.stringify(value, plain);
const clear = async (of: WriteLab): Promise<void> => {
  for (const item of Object.values(await of.items()))
    await of.driver.session.send(
      "DeleteItem",
      { TableName: of.catalog.table, Key: { pk: item["pk"]!, sk: item["sk"]! } },
      of.driver.context({}),
    );
};
const errorOf = async (act: () => unknown): Promise<EdgetableError> => {
  try {
    await act();
  } catch (error) {
    return error as EdgetableError;
  }
  throw new Error("nothing was thrown");
};

beforeAll(async () => {
  lab = await openWriteLab({ table: "Scanned", ...definition });
  copy = await openWriteLab({ table: "Copied", ...definition });
  scan = scanOf(driverOf(lab));
  load = loadOf(copy.driver);
  const account = lab.node("account");
  await account.create({ id: "A", email: "a@x", born: new Date(0), big: 2n ** 70n }).orThrow();
  await account.create({ id: "B", email: "b@x" }).orThrow();
  await account.update({ id: "A" }, { email: "c@x" }).orThrow();
  await lab.node("house").put({ id: "H" }).orThrow();
  await lab.part("room").put({ id: "H" }, { n: "1", doors: 2 }).orThrow();
  await lab
    .edge("takes")
    .link({ id: "A" }, { id: "H" }, { grade: "A" }, { reverse: { grade: "other" } })
    .orThrow();
  await lab.edge("takes").relink({ id: "A" }, { id: "H" }, { grade: "B" }).orThrow();
  await lab
    .edge("takes")
    .link({ id: "B" }, { id: "H" }, { grade: "C" }, { reverse: { grade: "D" } })
    .orThrow();
  await lab.edge("owns").link({ id: "A" }, { id: "H" }, { share: 0.5, term: "one" }).orThrow();
  await lab.edge("knows").link({ id: "B" }, { id: "A" }, { since: "2020" }).orThrow();
  await lab.edge("knows").link({ id: "B" }, { id: "B" }, { since: "2021" }).orThrow();
  await lab.edge("likes").link({ id: "A" }, { type: "house", id: "H" }, { note: "n" }).orThrow();
  full = await lab.items();
});
afterAll(async () => {
  await lab.stop();
  await copy.stop();
});
beforeEach(async () => {
  await clear(copy);
  lab.sent.length = 0;
});

const expected: readonly Row[] = [
  { node: "account", row: { id: "A", email: "c@x", born: new Date(0), big: 2n ** 70n, version: 2 } },
  { node: "account", row: { id: "B", email: "b@x", version: 1 } },
  { node: "house", row: { id: "H" } },
  { part: "room", owner: { id: "H" }, row: { n: "1", doors: 2 } },
  { edge: "takes", from: { id: "A" }, to: { id: "H" }, attributes: { grade: "B", version: 2 } },
  { edge: "takes", from: { id: "B" }, to: { id: "H" }, attributes: { grade: "C", version: 1 }, reverse: { grade: "D" } },
  { edge: "owns", from: { id: "A" }, to: { id: "H" }, attributes: { share: 0.5, term: "one" } },
  { edge: "knows", from: { id: "A" }, to: { id: "B" }, attributes: { since: "2020" } },
  { edge: "knows", from: { id: "B" }, to: { id: "B" }, attributes: { since: "2021" } },
  { edge: "likes", from: { type: "account", id: "A" }, to: { type: "house", id: "H" }, attributes: { note: "n" } },
];

test("a table is one Scan, and its rows make the same table again: markers, guards, versions and both copies", async () => {
  const scanned = scan();
  const rows = await rowsOf(scanned);
  expect(lab.sent).toEqual([{ operation: "Scan", input: { TableName: "Scanned", Limit: 1000, ReturnConsumedCapacity: "TOTAL" } }]);
  expect(sorted(rows)).toEqual(sorted(expected));
  expect(scanned.report()).toMatchObject({
    items: Object.keys(full).length,
    rows: expected.length,
    stray: 0,
    uneven: 0,
    position: undefined,
    cost: { requests: 1, readUnits: 0.5, writeUnits: 0 },
  });
  // Two markers; guards of owns at A, of knows at A and B.
  expect(scanned.report().system).toBe(5);
  expect((await load(rows)).failures).toEqual([]);
  // The revision of a counter of edges tells how often it was written.
  const withoutRevisions = (items: object): unknown =>
    JSON.parse(JSON.stringify(items, (name, value: unknown) => (name === "~revision" ? undefined : value)));
  expect(withoutRevisions(await copy.items())).toEqual(withoutRevisions(full));
});

// Pages of a few items, as a table of many megabytes would have.
const pagedDriver = (limit: number): Driver => {
  const session = createSession({
    catalog: lab.catalog,
    transport: {
      send: (operation, input) =>
        lab.driver.session.send(operation, operation === "Scan" ? { ...input, Limit: limit } : input, lab.driver.context({})),
      close: async () => undefined,
    },
    effects: systemEffects,
  });
  return createDriver({ session, rulesOff: [], validates: true, deadline: undefined, cursorSecret: async () => ["test"] });
};

test("segments are read side by side", async () => {
  const scanned = scan({ consistent: true, segments: 3, concurrency: 2 });
  expect(sorted(await rowsOf(scanned))).toEqual(sorted(expected));
  expect(lab.sent.map(({ operation, input }) => [operation, input.Segment, input.TotalSegments, input.ConsistentRead])).toEqual([
    ["Scan", 0, 3, true],
    ["Scan", 1, 3, true],
    ["Scan", 2, 3, true],
  ]);
});

test("copies that are not held are read by their keys, and the rows are the same", async () => {
  const scanned = scanOf(pagedDriver(1))({ held: 0, consistent: true });
  expect(sorted(await rowsOf(scanned))).toEqual(sorted(expected));
  const reads = lab.sent.filter(({ operation }) => operation === "BatchGetItem");
  // Both copies of four edges, each in a page of its own.
  expect(reads.map(({ input }) => [input.RequestItems.Scanned.Keys.length, input.RequestItems.Scanned.ConsistentRead])).toEqual(
    Array.from({ length: 8 }, () => [1, true]),
  );
  expect(scanned.report().cost.requests).toBe(lab.sent.length);
});

test("only what is named is given, and a name of nothing is refused", async () => {
  expect(sorted(await rowsOf(scan({ only: ["house", "owns"] })))).toEqual(sorted([expected[2]!, expected[6]!]));
  expect(await errorOf(() => rowsOf(scan({ only: ["hous"] })))).toMatchObject({
    code: "plan.invalidOption",
    message: 'There is no node, edge or part "hous". Did you mean "house"?',
  });
  expect(await errorOf(() => rowsOf(scan({ segments: 0 })))).toMatchObject({ code: "plan.invalidOption", details: { option: "segments" } });
});

test("an item that gives no row ends the scan, or is told of", async () => {
  const foreign: Item = { pk: { S: "ELSE#1" }, sk: { S: "#" }, name: { S: "x" } };
  const lone: Item = { pk: { S: "HOUSE#Z" }, sk: { S: "~takes#ACCOUNT#Z" }, type: { S: "~takes" } };
  const half: Item = { pk: { S: "ACCOUNT#Y" }, sk: { S: "takes#HOUSE#Y" }, type: { S: "takes" }, version: { N: "1" } };
  for (const item of [foreign, lone, half]) await lab.put(item);
  const only = ["house", "takes"];
  try {
    const error = await errorOf(() => rowsOf(scan({ only })));
    expect(error).toMatchObject({ code: "scan.strayItem", details: { item: foreign, report: { stray: 1 } } });
    expect(error.message).toBe(
      'The item (ELSE#1, #) gives no row: it is nearest to "account", but "pk" is "ELSE#1", not ACCOUNT#{id}. Correct the model or the item, or pass `onStray` to receive such items and continue.',
    );
    const strays: StrayItem[] = [];
    const scanned = scan({ only, onStray: (stray) => strays.push(stray) });
    const rows = await rowsOf(scanned);
    expect(rows).toContainEqual({ edge: "takes", from: { id: "Y" }, to: { id: "Y" }, attributes: { version: 1 } });
    expect(strays.map(({ item, reason }) => [item, reason])).toEqual([
      [foreign, 'it is nearest to "account", but "pk" is "ELSE#1", not ACCOUNT#{id}'],
      [lone, 'it is the second copy of "takes", and the first is not there'],
    ]);
    expect(scanned.report()).toMatchObject({ stray: 2, uneven: 1, position: undefined });
  } finally {
    for (const { pk, sk } of [foreign, lone, half])
      await lab.driver.session.send("DeleteItem", { TableName: lab.catalog.table, Key: { pk: pk!, sk: sk! } }, lab.driver.context({}));
  }
});

test.each([
  { segments: 1, held: 20_000 },
  { segments: 3, held: 0 },
  { segments: 4, held: 2 },
] satisfies readonly ScanOptions[])(
  "a scan that was cut off anywhere goes on from its position, $segments segments, $held held",
  async (options) => {
    const scanPaged = scanOf(pagedDriver(3));
    for (let cut = 0; cut <= expected.length; cut++) {
      const first = scanPaged(options);
      const rows: Row[] = [];
      if (cut > 0) for await (const row of first) if (rows.push(row) >= cut) break;
      const { position } = first.report();
      const rest =
        position === undefined && cut > 0 ? [] : await rowsOf(scanPaged({ ...options, ...(position ? { from: position } : {}) }));
      const all = new Map([...rows, ...rest].map((row) => [text(row), row]));
      expect(sorted([...all.values()]), `cut after ${cut}`).toEqual(sorted(expected));
    }
  },
);

test("a position of something else is refused before anything is sent", async () => {
  for (const from of ["", "garbage", Buffer.from(JSON.stringify(["Other", 1, 1, {}])).toString("base64url")]) {
    const error = await errorOf(() => rowsOf(scan({ from })));
    expect(error).toMatchObject({ code: "cursor.invalid", details: { from } });
  }
  expect(lab.sent).toEqual([]);
});

test("a signal ends a scan with what was read, and progress tells how far it is", async () => {
  const control = new AbortController();
  const told: number[] = [];
  const scanned = scanOf(pagedDriver(3))({
    signal: control.signal,
    progressEvery: 1,
    onProgress: ({ items }) => {
      told.push(items);
      if (items >= 6) control.abort();
    },
  });
  const error = await errorOf(() => rowsOf(scanned));
  expect(error).toMatchObject({ code: "execute.aborted", details: { report: { position: expect.any(String) as string } } });
  expect(told.length).toBeGreaterThan(0);
});

test("a table whose items have attributes that left the model is loaded from its rows; asked for, they are shown", async () => {
  const schemas = (more: z.ZodRawShape) => ({
    nodes: { person: node({ key: "PERSON#{id}", schema: z.strictObject({ id: z.string(), ...more }) }) },
    parts: { note: part({ of: "person", key: "NOTE#{n}", schema: z.object({ n: z.string(), ...more }) }) },
    edges: {
      likes: edge({ from: "person", to: "person", key: ["n"], schema: z.object({ n: z.string(), ...more }), stored: "twice" }),
      knows: edge({ from: "person", to: "person", symmetric: true, schema: z.object({ ...more }) }),
      meets: edge({ from: "person", to: "person", schema: z.object({ ...more }) }),
    },
  });
  const older = await openWriteLab({ table: "Older", ...schemas({ nick: z.string() }) });
  const newer = await openWriteLab({ table: "Older", ...schemas({}) });
  try {
    const [a, b] = [{ id: "A" }, { id: "B" }];
    await older
      .node("person")
      .put({ ...a, nick: "one" })
      .orThrow();
    await older
      .node("person")
      .put({ ...b, nick: "two" })
      .orThrow();
    await older.part("note").put(a, { n: "1", nick: "three" }).orThrow();
    for (const name of ["likes", "knows", "meets"])
      await older
        .edge(name)
        .link(a, b, { ...(name === "likes" && { n: "1" }), nick: "four" })
        .orThrow();
    for (const item of Object.values(await older.items())) await newer.put(item);

    const shown = await rowsOf(scanOf(driverOf(newer))({ unknown: "show" }));
    expect(shown.filter((row) => text(row).includes("nick"))).toHaveLength(6);
    expect(await loadOf(newer.driver)(shown)).toMatchObject({
      failed: 6,
      failures: [{ error: { code: "schema.unknownAttribute" } }, ...shown.slice(1).map(() => ({}))],
    });
    for (const held of [20_000, 0]) {
      const rows = await rowsOf(scanOf(driverOf(newer))({ held }));
      expect(rows).toHaveLength(6);
      const report = await loadOf(newer.driver)(rows);
      expect(report).toMatchObject({ rows: 6, failed: 0, failures: [] });
    }
    const left = Object.values(await newer.items()).filter((item) => "nick" in item);
    expect(left).toEqual([]);
  } finally {
    await older.stop();
    await newer.stop();
  }
});
