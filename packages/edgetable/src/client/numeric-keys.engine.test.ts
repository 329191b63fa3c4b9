import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";
import { propertyRuns } from "../../../../conformance/engines/property-runs.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const number = z.number();

/** Tickets by priority, over two shards, and their log by time: every sort key is a number. */
const ticketsIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      team: node({ key: "{teamId}", schema: z.object({ teamId: text }), stored: false }),
      ticket: node({
        key: "{teamId}/{at:number}",
        schema: z.object({ teamId: text, at: number, priority: number.optional(), status: text, title: text.optional() }),
      }),
    },
    edges: { of: edge({ from: "ticket", to: "team", stored: "reference", multiplicity: "many-to-one" }) },
    layout: {
      partitionKey: "Team",
      sortKey: "At",
      delimiter: "/",
      types: { At: "N", Priority: "N" },
      indexes: {
        byStatus: { partitionKey: "Status", sortKey: "Priority" },
        byPriority: { partitionKey: "Sharded", sortKey: "Priority" },
      },
      nodes: {
        ticket: {
          keys: {
            Team: "{teamId}",
            At: "{at:number}",
            Status: "S/{status}",
            Sharded: "{status}/{at:shard(2)}",
            Priority: "{priority:number}",
          },
          sparse: ["Priority"],
        },
      },
    },
  });

test("a numeric sort key of the table and of its indexes is written, read, ranged over, paged and merged", async () => {
  const graph = ticketsIn(engine.freshTableName("tickets"));
  const sent: SentRequest[] = [];
  const db = graph.connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  expect(sent.find(({ operation }) => operation === "CreateTable")?.input).toMatchObject({
    AttributeDefinitions: [
      { AttributeName: "Team", AttributeType: "S" },
      { AttributeName: "At", AttributeType: "N" },
      { AttributeName: "Status", AttributeType: "S" },
      { AttributeName: "Priority", AttributeType: "N" },
      { AttributeName: "Sharded", AttributeType: "S" },
    ],
  });
  expect(await db.table.diff()).toEqual([]);
  const priorities = [-2, -0.25, 0, 1.5, 10, 9, 1e21, undefined];
  for (const [at, priority] of priorities.entries())
    await db.ticket.create({ teamId: "a", at: at + 1, status: "open", ...(priority === undefined ? {} : { priority }) }).orThrow();
  const put = sent.filter(({ operation }) => operation === "PutItem")[1];
  expect(put?.input).toMatchObject({
    Item: { Team: { S: "a" }, At: { N: "2" }, Status: { S: "S/open" }, Priority: { N: "-0.25" } },
  });
  expect(await db.ticket.get({ teamId: "a", at: 7 })).toEqual({ teamId: "a", at: 7, status: "open", priority: 10n ** 21n });
  expect(await db.ticket.get({ teamId: "a", at: 8 })).toEqual({ teamId: "a", at: 8, status: "open" });

  const found = async (priority: object): Promise<readonly unknown[]> =>
    (await db.find("ticket").where({ status: "open", priority }).using("byStatus").rows()).map((row) => row.priority);
  sent.length = 0;
  expect(await found({ gte: -1, lte: 9 })).toEqual([-0.25, 0, 1.5, 9]);
  expect(sent[0]?.input).toMatchObject({
    ExpressionAttributeValues: { ":p": { S: "S/open" }, ":s": { N: "-1" }, ":t": { N: "9" } },
  });
  expect(await found({ gt: 0, lt: 10 })).toEqual([1.5, 9]);
  expect(await found({ gt: 9 })).toEqual([10, 10n ** 21n]);
  expect(await found({ lt: 0 })).toEqual([-2, -0.25]);
  expect(await found({ eq: 1.5 })).toEqual([1.5]);
  expect(await found({ gt: 3, lt: 2 })).toEqual([]);

  // Over two shards, in pages of every size, forth and back.
  const sharded = db
    .find("ticket")
    .where({ status: "open", priority: { gte: -100 } })
    .using("byPriority");
  const all = [-2, -0.25, 0, 1.5, 9, 10, 10n ** 21n];
  expect((await sharded.rows()).map((row) => row.priority)).toEqual(all);
  for (const limit of [1, 2, 3]) {
    const pages: unknown[] = [];
    let back: string | undefined;
    let page = await sharded.page({ limit });
    for (;;) {
      pages.push(...page.items.map((row) => row.priority));
      if (page.next === undefined) break;
      page = await sharded.page({ limit, cursor: page.next });
      back = page.previous;
    }
    expect(pages).toEqual(all);
    expect((await sharded.page({ limit, cursor: back })).items).toHaveLength(limit);
  }
  expect((await sharded.reverse().rows()).map((row) => row.priority)).toEqual(all.toReversed());
  expect(await sharded.count()).toBe(7);

  expect(await db.ticket.update({ teamId: "a", at: 1 }, { priority: 11 }).orThrow()).toMatchObject({ row: { priority: 11 } });
  expect(await db.ticket.update({ teamId: "a", at: 2 }, { remove: ["priority"] }).orThrow()).not.toHaveProperty("row.priority");
  expect(await found({ gte: -1 })).toEqual([0, 1.5, 9, 10, 11, 10n ** 21n]);
  expect(await db.ticket.update({ teamId: "a", at: 3 }, { title: "x" }, { if: { priority: { lt: 0 } } })).toMatchObject({ ok: false });
  expect(await db.ticket.update({ teamId: "a", at: 3 }, { title: "x" }, { if: { priority: { lte: 0 } } })).toMatchObject({ ok: true });
  expect((await db.team({ teamId: "a" }).in("of").ids()).map(({ at }) => at)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect((await db.team({ teamId: "a" }).walk().in("of").ids()).items).toHaveLength(8);
  await db.ticket.delete({ teamId: "a", at: 1 }).orThrow();
  const strays: unknown[] = [];
  const rows: unknown[] = [];
  for await (const row of db.scan({ onStray: (stray) => strays.push(stray) })) rows.push(row);
  expect([rows.length, strays]).toEqual([7, []]);
});

/** Accounts under a number alone, with what Edgetable keeps beside them. */
const accountsIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      account: node({
        key: "{no:number}",
        schema: z.object({ no: z.union([number, z.bigint()]), email: text.optional() }),
        unique: ["email"],
      }),
    },
    parts: { entry: part({ of: "account", key: "{seq:number}", schema: z.object({ seq: number, sum: number }) }) },
    layout: {
      partitionKey: "No",
      sortKey: "Seq",
      types: { No: "N", Seq: "N" },
      nodes: { account: { keys: { Seq: "{no:number}" } } },
    },
  });

test("a numeric partition key is one that names nodes, beside Edgetable's own items", async () => {
  const make = () =>
    defineGraph({
      table: engine.freshTableName("accounts"),
      nodes: {
        account: node({
          key: "{no:number}",
          schema: z.object({ no: z.union([number, z.bigint()]), email: text.optional(), region: text.optional() }),
          unique: ["email"],
        }),
      },
      layout: {
        partitionKey: "No",
        types: { No: "N" },
        indexes: { byRegion: { partitionKey: "Region" } },
        nodes: { account: { keys: { Region: "{region}" }, sparse: ["Region"] } },
      },
    });
  const graph = make();
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  expect(await db.table.diff()).toEqual([]);
  const ids = [1, -2.5, 1e21, 10n ** 37n + 1n, 0.000001];
  for (const no of ids) await db.account.create({ no, email: `${no}@x`, region: "eu" }).orThrow();
  for (const no of ids) expect(await db.account.get({ no })).toMatchObject({ email: `${no}@x` });
  expect(await db.account.getMany(ids.slice(0, 2).map((no) => ({ no })))).toMatchObject(
    ids.slice(0, 2).map((no) => ({ email: `${no}@x` })),
  );
  expect(await db.account.create({ no: 7, email: "1@x" })).toMatchObject({ ok: false, reason: "notUnique" });
  const first = await db.find("account").where({ region: "eu" }).page({ limit: 2 });
  const second = await db.find("account").where({ region: "eu" }).page({ limit: 9, cursor: first.next });
  expect(new Set([...first.items, ...second.items].map(({ email }) => email))).toEqual(new Set(ids.map((no) => `${no}@x`)));
  const scan = db.scan();
  const rows: unknown[] = [];
  for await (const row of scan) rows.push(row);
  expect([rows.length, scan.report().system]).toEqual([5, 6]);
  await expect(db.account.create({ no: 1e200 }).orThrow()).rejects.toMatchObject({ code: "keys.notEncodable" });
  await db.account.delete({ no: 1 }).orThrow();
  await db.account.create({ no: 7, email: "1@x" }).orThrow();
});

test("a number is what a number's key says, and a key of bytes is refused", () => {
  expect(() => accountsIn("Accounts")).toThrow(/account.*entry|entry.*account/s);
  const tickets = (types: Readonly<Record<string, "S" | "N">>) =>
    defineGraph({
      table: "Tickets",
      nodes: { ticket: node({ key: "T#{id}", schema: z.object({ id: text, at: number }) }) },
      layout: {
        partitionKey: "Id",
        indexes: { byAt: { partitionKey: "Id", sortKey: "At" } },
        nodes: { ticket: { keys: { At: "{at:6}" } } },
        types,
      },
    });
  expect(() => tickets({ At: "N" })).toThrow(
    'layout.nodes.ticket.keys.At: key template "{at:6}": its attribute is a number (layout.types), which holds one number and no text; write {field:number}.',
  );
  expect(() => tickets({ At: "B" as "S" })).toThrow("layout.types.At: a key of type B contains bytes, which no template makes.");
  expect(() => tickets({ Atx: "N" })).toThrow('layout.types: "Atx" is not a computed attribute. Did you mean "At"?');
});

test("a decimal's text sorts as its number, and gives the decimal back", async () => {
  const { decimalOf, decimalText, comparePrimary } = await import("../keys/template.ts");
  const decimals = fc.tuple(fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }), fc.integer({ min: -60, max: 60 }));
  fc.assert(
    fc.property(decimals, decimals, ([a, x], [b, y]) => {
      const [one, other] = [decimalText(`${a}E${x}`), decimalText(`${b}E${y}`)];
      const [left, right] = [a * 10n ** BigInt(x + 60), b * 10n ** BigInt(y + 60)];
      expect(Math.sign(comparePrimary(one, other))).toBe(left < right ? -1 : left > right ? 1 : 0);
      expect(decimalText(decimalOf(one))).toBe(one);
    }),
    propertyRuns(200),
  );
  expect(["0", "-0.25", "1E+3", "1e-7", "12.50", "100", "-0"].map((one) => decimalOf(decimalText(one)))).toEqual([
    "0",
    "-0.25",
    "1000",
    "0.0000001",
    "12.5",
    "100",
    "0",
  ]);
});

test("a number in the table's key that a double cannot hold is no row: its id would name another item, or none", async () => {
  const table = engine.freshTableName("digits");
  const graph = defineGraph({
    table,
    nodes: { meter: node({ key: "{meterId}", schema: z.object({ meterId: text }), stored: false }) },
    parts: {
      reading: part({ of: "meter", key: "{at:number}", schema: z.object({ at: z.union([number, z.bigint()]), value: text }) }),
    },
    layout: { partitionKey: "Meter", sortKey: "At", types: { At: "N" } },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const held = ["-0", "100", "0.1", "1700000000.1234567", "9007199254740993", "-1.5e-20", "1e40", "123456789012345678901234567890"];
  const rounded = ["1700000000.1234567890123456", "1700000000.1234567890123457", "0.1000000000000000055", "1.00000000000000000001e-10"];
  for (const [at, n] of [...held, ...rounded].entries())
    await engine.transport.send("PutItem", { TableName: table, Item: { Meter: { S: "m" }, At: { N: n }, value: { S: String(at) } } });
  const rows = await db.meter({ meterId: "m" }).parts("reading").all();
  expect(rows.map(({ value }) => Number(value)).toSorted((a, b) => a - b)).toEqual(held.map((_, at) => at));
  const copying = async () => {
    for await (const row of db.scan()) expect(row).toBeDefined();
  };
  await expect(copying()).rejects.toMatchObject({ code: "scan.strayItem" });
  for (const { at, value } of rows) expect(await db.reading.get({ meterId: "m" }, { at })).toMatchObject({ value });
  const { kinds } = await verify(db, { settle: 0 });
  expect(kinds.map(({ kind, count }) => [kind, count])).toEqual([["unclaimed", rounded.length]]);
  expect(kinds[0]?.examples[0]?.reason).toContain('"At"');
});
