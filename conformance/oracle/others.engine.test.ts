import { defineGraph, node, type Layout } from "edgetable";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { AttributeValue, Item } from "../../packages/edgetable/src/transport/operations.ts";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";

// Adopted tables of several forms into which others write too: what they leave (copies that disagree, attributes of any
// name, items that cannot be read) changes nothing of the answers, held against a Map.

const seed = testSeed();
const runs = testRuns(20);

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const indexes = { byGroup: { partitionKey: "gpk", sortKey: "gsk" }, spread: { partitionKey: "spk", sortKey: "gsk" } };
const common = { gpk: "G/{group}", gsk: "{rank:number}", spk: "{group}/{seq:shard(3)}", tagKey: "T/{tag}" };
const sparse = ["gpk", "gsk", "spk", "tagKey"];

const tables: Readonly<Record<string, Layout>> = {
  "no sort key": {
    partitionKey: "pk",
    indexes,
    types: { gsk: "N" },
    nodes: { item: { keys: { pk: "I/{bucket}/{seq:plain}", ...common }, sparse } },
  },
  "a numeric sort key": {
    partitionKey: "pk",
    sortKey: "sk",
    indexes,
    types: { gsk: "N", sk: "N" },
    nodes: { item: { keys: { pk: "I/{bucket}", sk: "{seq:number}", ...common }, sparse } },
  },
  "a type attribute and shared ids": {
    partitionKey: "pk",
    sortKey: "sk",
    typeAttribute: "kind",
    sharedIds: true,
    indexes,
    types: { gsk: "N" },
    nodes: {
      item: { keys: { pk: "{bucket}/{seq:plain}", sk: "META", ...common }, sparse },
      other: { keys: { pk: "{otherId}/{n:plain}", sk: "META" } },
    },
  },
};

const text = z.string();
const graphIn = (table: string, layout: Layout) =>
  defineGraph({
    table,
    nodes: {
      item: node({
        key: "{bucket}/{seq:number}",
        schema: z.object({
          bucket: text,
          seq: z.number(),
          group: text.optional(),
          rank: z.number().optional(),
          tag: text.optional(),
          note: text.optional(),
        }),
      }),
      ...(layout.sharedIds ? { other: node({ key: "{otherId}/{n:number}", schema: z.object({ otherId: text, n: z.number() }) }) } : {}),
    },
    layout: { delimiter: "/", ...layout },
  });

const ids = fc.constantFrom(-3, 0, 1.5, 7, 1e21);
const isPlain = (layout: Layout): boolean => layout.types?.["sk"] !== "N";
const groups = fc.constantFrom("a", "b");
const ranks = fc.constantFrom(-1e6, -2.5, 0, 0.1, 3, 10, 12);
const names = fc.constantFrom("constructor", "toString", "valueOf", "hasOwnProperty", "former", "newIndexPk", "__proto__");
const fields = fc.record({ group: groups, rank: ranks, note: fc.constantFrom("x", "y"), tag: fc.constantFrom("t") }, { requiredKeys: [] });

interface Row {
  readonly bucket: string;
  readonly seq: number;
  readonly group?: string;
  readonly rank?: number;
  readonly note?: string;
  readonly tag?: string;
}

const commands = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom("put", "create"), seq: ids, row: fields }),
    fc.record({ kind: fc.constant("update"), seq: ids, row: fields }),
    fc.record({ kind: fc.constant("remove"), seq: ids, field: fc.constantFrom("note", "rank") }),
    fc.record({ kind: fc.constant("delete"), seq: ids }),
    fc.record({ kind: fc.constant("rival"), seq: ids }),
    fc.record({ kind: fc.constant("attribute"), seq: ids, name: names }),
    fc.record({ kind: fc.constant("copy"), seq: ids, field: fc.constantFrom("group", "rank", "tag"), value: fc.constantFrom("a", "z") }),
    fc.record({ kind: fc.constant("foreign"), group: groups, rank: ranks }),
    fc.record({
      kind: fc.constant("find"),
      group: groups,
      low: ranks,
      high: ranks,
      open: fc.boolean(),
      spread: fc.boolean(),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  ),
  { minLength: 1, maxLength: 25 },
);
type Command = typeof commands extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

interface Outcome {
  readonly ok: boolean;
}

const valueOf = (value: string | number): AttributeValue => (typeof value === "string" ? { S: value } : { N: String(value) });

const run = async (layout: Layout, history: readonly Command[]): Promise<void> => {
  const table = engine.freshTableName("others");
  const graph = graphIn(table, layout);
  const db = graph.connect({ transport: engine.transport, cursorSecret: "what others store, oracle" });
  await db.table.create();
  const rows = new Map<number, Row>();
  /** Items of another kind, where ids are shared. */
  const rivals = new Set<number>();
  const other = (db as unknown as { readonly other: { create(row: object): Promise<Outcome>; delete(id: object): Promise<Outcome> } })
    .other;
  const foreign: { readonly group: string; readonly rank: number }[] = [];
  const plain = isPlain(layout);
  const seqOf = (seq: number): number => (plain ? Math.trunc(seq % 1000) : seq);
  const bucket = "b";
  const keyOf = (seq: number): Item => {
    if (layout.sortKey === undefined) return { pk: { S: `I/${bucket}/${seq}` } };
    return plain ? { pk: { S: `${bucket}/${seq}` }, sk: { S: "META" } } : { pk: { S: `I/${bucket}` }, sk: { N: String(seq) } };
  };
  const set = async (seq: number, name: string, value: AttributeValue): Promise<void> => {
    const input = { TableName: table, Key: keyOf(seq), UpdateExpression: "SET #n = :v" };
    await engine.transport.send("UpdateItem", {
      ...input,
      ExpressionAttributeNames: { "#n": name },
      ExpressionAttributeValues: { ":v": value },
    });
  };
  const expected = (row: Row | undefined): unknown => row && { ...row, seq: row.seq === 1e21 ? 10n ** 21n : row.seq };
  for (const command of history) {
    const seq = "seq" in command ? seqOf(command.seq) : 0;
    const id = { bucket, seq };
    const old = rows.get(seq);
    if (command.kind === "put" || command.kind === "create") {
      const row = { ...id, ...command.row };
      const { ok } = command.kind === "put" ? await db.item.put(row) : await db.item.create(row);
      expect(ok).toBe(!rivals.has(seq) && (command.kind === "put" || old === undefined));
      if (ok) rows.set(seq, row);
    } else if (command.kind === "update") {
      if (Object.keys(command.row).length === 0) continue;
      const { ok } = await db.item.update(id, command.row);
      expect(ok).toBe(old !== undefined);
      if (old) rows.set(seq, { ...old, ...command.row });
    } else if (command.kind === "remove") {
      const { ok } = await db.item.update(id, { remove: [command.field as "note"] });
      expect(ok).toBe(old !== undefined);
      if (old) rows.set(seq, Object.fromEntries(Object.entries(old).filter(([name]) => name !== command.field)) as unknown as Row);
    } else if (command.kind === "rival") {
      if (!layout.sharedIds) continue;
      const rival = { otherId: bucket, n: seq };
      if (rivals.delete(seq)) expect((await other.delete(rival)).ok).toBe(true);
      else if ((await other.create(rival)).ok) rivals.add(seq);
      expect(old !== undefined && rivals.has(seq)).toBe(false);
    } else if (command.kind === "delete") {
      expect((await db.item.delete(id)).ok).toBe(rows.delete(seq));
    } else if (command.kind === "attribute" && old) {
      await set(seq, command.name, { S: "theirs" });
    } else if (command.kind === "copy" && old?.[command.field as "group"] !== undefined) {
      // Where no key carries the field, what stands there is no copy but the field.
      await set(seq, command.field, { S: command.value });
    } else if (command.kind === "foreign") {
      const at = foreign.push({ group: command.group, rank: command.rank });
      const { group, rank } = command;
      const shard = graph.catalog.typeAttribute === undefined ? {} : { kind: { S: "item" } };
      const keys = { gpk: { S: `G/${group}` }, gsk: valueOf(rank), tagKey: { S: "no tag" } };
      await engine.transport.send("PutItem", { TableName: table, Item: { ...keyOf(5000 + at), ...shard, ...keys } });
    } else if (command.kind === "find") {
      const { group, low, high, open, spread, limit } = command;
      const rank = open ? { gt: low, lt: high } : { gte: low, lte: high };
      const within = (one: number): boolean => (open ? one > low && one < high : one >= low && one <= high);
      const search = db
        .find("item")
        .where({ group, rank } as never)
        .using(spread ? "spread" : "byGroup");
      const wanted = [...rows.values()].filter((row) => row.group === group && row.rank !== undefined && within(row.rank));
      const report = await search.rows().report();
      const shown = (list: readonly unknown[]): readonly string[] =>
        list.map((row) => String((expected(row as Row) as Row).seq)).toSorted();
      expect(shown(report.value)).toEqual(shown(wanted));
      expect(report.value.map((row) => row.rank)).toEqual(wanted.map((row) => row.rank).toSorted((a, b) => a! - b!));
      // BETWEEN includes both ends, so a foreign item on an open bound is read, and counted, as well.
      const isRead = (one: number): boolean => one >= low && one <= high && low <= high;
      const met = foreign.filter((one) => one.group === group && isRead(one.rank)).length;
      if (spread) expect(report.strays).toBe(0);
      else
        expect(report.strays).toSatisfy(
          (strays: number) => strays >= foreign.filter((one) => one.group === group && within(one.rank)).length && strays <= met,
        );
      const paged: unknown[] = [];
      for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
        const page = await search.page({ limit, ...(cursor === undefined ? {} : { cursor }) });
        paged.push(...page.items);
        cursor = page.next;
      }
      expect(shown(paged)).toEqual(shown(wanted));
    }
    if ("seq" in command) expect(await db.item.get(id)).toEqual(expected(rows.get(seq)));
  }
  const scanned: unknown[] = [];
  let strays = 0;
  for await (const row of db.scan({ onStray: () => strays++ })) scanned.push(row);
  expect(scanned.length + strays).toBe(rows.size + rivals.size + foreign.length);
  await engine.transport.send("DeleteTable", { TableName: table });
};

test.each(Object.entries(tables))(
  `what others store changes no answer, in a table with %s (seed ${seed})`,
  async (_, layout) => {
    const property = fc.asyncProperty(commands, async (history) => {
      await run(layout, history);
    });
    await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: 60_000 + runs * 1000 });
  },
  90_000 + runs * 2000,
);
