import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { systemEffects } from "../executor/session.ts";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";

const text = z.string();
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      session: node({
        key: "SESSION#{id}",
        schema: z.object({ id: text, user: text, expiresAt: z.number().optional() }),
        ttl: "expiresAt",
        mirror: true,
      }),
      user: node({ key: "USER#{id}", schema: z.object({ id: text }) }),
    },
    parts: {
      code: part({
        of: "user",
        key: "CODE#{code}",
        schema: z.object({ code: text, expiresAt: z.date() }),
        ttl: "expiresAt",
        dates: ["expiresAt"],
      }),
    },
    edges: {
      watches: edge({ from: "user", to: "session", schema: z.object({ expiresAt: z.number().optional() }), ttl: "expiresAt" }),
    },
    indexes: { byUser: { entries: { session: { by: "user:text", shards: { count: 2 } } } } },
  });

let engine: TestEngine;
let table: string;
let sent: SentRequest[] = [];
let clock = 0;
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
let showing: typeof db;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const seconds = (): number => Math.floor(clock / 1000);

beforeEach(async () => {
  clock = Date.UTC(2030, 0, 1);
  table = engine.freshTableName("expiry");
  const effects = { ...systemEffects, now: () => clock };
  const options = { transport: engine.transport, advanced: { effects }, onRequest: (request: SentRequest) => void sent.push(request) };
  db = graphOf(table).connect(options);
  showing = graphOf(table).connect({ ...options, expired: "show" });
  await db.table.create();
  for (const [id, after] of [
    ["old", -10],
    ["now", 0],
    ["new", 10],
    ["ever", undefined],
  ] as const)
    await db.session.create({ id, user: "ada", ...(after === undefined ? {} : { expiresAt: seconds() + after }) }).orThrow();
  await db.user.create({ id: "ada" }).orThrow();
  const until = { expiresAt: seconds() + 10 };
  for (const id of ["old", "new", "ever"]) await showing.watches.link({ id: "ada" }, { id }, id === "ever" ? {} : until).orThrow();
  await db.code.put({ id: "ada" }, { code: "a", expiresAt: new Date(clock - 5_500) }).orThrow();
  await db.code.put({ id: "ada" }, { code: "b", expiresAt: new Date(clock + 5_500) }).orThrow();
  sent = [];
});

const idsOf = (rows: Iterable<{ readonly id: string } | undefined>): readonly (string | undefined)[] =>
  [...rows].map((row) => row?.id).toSorted();
const LIVING = ["ever", "new", "now"];
const ALL = [...LIVING, "old"];
const ada = { id: "ada" };

describe("the table", () => {
  test("has its time to live switched on by create, once, and diff compares it", async () => {
    const { TimeToLiveDescription: found } = await engine.transport.send("DescribeTimeToLive", { TableName: table });
    expect(found).toMatchObject({ AttributeName: "expiresAt", TimeToLiveStatus: "ENABLED" });
    await db.table.create();
    expect(sent.map(({ operation }) => operation)).not.toContain("UpdateTimeToLive");
    expect(await db.table.diff()).toEqual([]);
  });

  test("that expires by no attribute, or by another, does not fit", async () => {
    const other = engine.freshTableName("expiry-other");
    const plain = defineGraph({ table: other, nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: text }) }) } });
    const ttl = defineGraph({
      table: other,
      nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: text, ends: z.number() }), ttl: "ends" }) },
    });
    await plain.connect({ transport: engine.transport }).table.create();
    const user = ttl.connect({ transport: engine.transport });
    expect(await user.table.diff()).toEqual([{ place: "time to live", model: "ends", table: "off", harmless: false }]);
    expect(await user.table.create()).toEqual({ created: false });
    expect(await user.table.diff()).toEqual([]);
    expect(await plain.connect({ transport: engine.transport }).table.diff()).toEqual([
      { place: "time to live", model: "none", table: "ends", harmless: true },
    ]);
    const renamed = defineGraph({
      table: other,
      nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: text, until: z.number() }), ttl: "until" }) },
    });
    await expect(renamed.connect({ transport: engine.transport }).table.create()).rejects.toMatchObject({ code: "table.mismatch" });
  });
});

describe("an item that has expired and is still there", () => {
  test("is left out of every read, and shown on request", async () => {
    const of = async (one: typeof db) => ({
      get:
        idsOf(await Promise.all(ALL.map((id) => one.session({ id }).get()))).length -
        idsOf(await one.session.getMany(ALL.map((id) => ({ id })))).indexOf(undefined),
      many: idsOf(await one.session.getMany(ALL.map((id) => ({ id })))).filter((id) => id !== undefined),
      find: idsOf(await one.find("session").where({ user: "ada" }).rows()),
      page: idsOf((await one.find("session").where({ user: "ada" }).page({ limit: 10 })).items),
      count: await one.find("session").where({ user: "ada" }).count(),
      nodes: idsOf((await one.user(ada).out("watches").entries()).flatMap(({ node: found }) => found ?? [])),
      walk: idsOf(await one.user(ada).out("watches").in("watches").out("watches").nodes()),
      parts: (await one.user(ada).parts("code").all()).map(({ code }) => code),
      codes: (await one.user(ada).collection()).parts.code?.length,
      partCount: await one.user(ada).parts("code").count(),
      own: (await one.session({ id: "old" }).incoming()).node?.id,
    });
    const living = { many: LIVING, find: LIVING, page: LIVING, count: 3, nodes: ["ever", "new"], walk: ["ever", "new"] };
    expect(await of(db)).toMatchObject({ ...living, parts: ["b"], codes: 1, partCount: 1, own: undefined });
    const all = { many: ALL, find: ALL, page: ALL, count: 4, nodes: ["ever", "new", "old"], walk: ["ever", "new", "old"] };
    expect(await of(showing)).toMatchObject({ ...all, parts: ["a", "b"], codes: 2, partCount: 2, own: "old" });
    expect(await db.session({ id: "old" }).get()).toBeUndefined();
    expect(await db.session({ id: "old" }).get().run({ expired: "show" })).toMatchObject({ id: "old" });
  });

  test("an edge goes at its time too, between two layers of a walk that was planned before", async () => {
    const walk = () => db.user(ada).out("watches").in("watches").out("watches");
    expect(idsOf(await walk().ids())).toEqual(["ever", "new", "old"]);
    clock += 20_000;
    expect(idsOf(await walk().ids())).toEqual(["ever"]);
    expect(await db.user(ada).has("watches", { id: "new" })).toBe(false);
    expect((await db.user(ada).out("watches").page({ limit: 2 })).items).toHaveLength(1);
    expect(await db.user(ada).out("watches").count()).toBe(1);
  });

  test("is filtered by DynamoDB, as explain says", async () => {
    const call = db.user(ada).out("watches").edges();
    await call;
    const [explained] = (await call.explain()).requests;
    expect(sent[0]?.input).toEqual(explained?.input);
    expect(explained?.input).toMatchObject({
      FilterExpression: "NOT (#ttl < :now)",
      ExpressionAttributeNames: { "#ttl": "expiresAt" },
      ExpressionAttributeValues: { ":now": { N: String(seconds()) } },
    });
  });

  test("is returned by an index that does not project the time, which no filter may name", async () => {
    const graph = defineGraph({
      table: engine.freshTableName("expiry"),
      nodes: { visit: node({ key: "VISIT#{id}", schema: z.object({ id: text, user: text, until: z.number() }), ttl: "until" }) },
      indexes: {
        byKey: { entries: { visit: "user" }, projection: "KEYS_ONLY" },
        byTime: { entries: { visit: ["user", "id"] }, projection: ["until"] },
      },
    });
    const filters: unknown[] = [];
    const onRequest = ({ input }: SentRequest): void =>
      void filters.push((input as { readonly FilterExpression?: string }).FilterExpression);
    const visits = graph.connect({ transport: engine.transport, onRequest });
    await visits.table.create();
    await visits.visit.create({ id: "1", user: "u", until: 5 }).orThrow();
    const found = visits.find("visit").where({ user: "u" });
    filters.length = 0;
    expect([await found.using("byKey").count(), await found.using("byTime").count()]).toEqual([1, 0]);
    expect(filters).toEqual([undefined, "NOT (#ttl < :now)"]);
    const explained = [await found.using("byKey").explain(), await found.using("byTime").explain()];
    expect(explained.map((one) => JSON.stringify(one).includes("NOT (#ttl < :now)"))).toEqual([false, true]);
  });

  test("counts as absent for create and link, by one condition", async () => {
    expect(await db.session.create({ id: "now", user: "eve" })).toMatchObject({ ok: false, reason: "exists" });
    sent = [];
    expect(await db.session.create({ id: "old", user: "eve" })).toMatchObject({ ok: true });
    expect(sent.map(({ operation }) => operation)).toEqual(["PutItem"]);
    expect(await db.session({ id: "old" }).get()).toEqual({ id: "old", user: "eve" });
    expect(await db.transact([db.session.create({ id: "old", user: "eve" })])).toMatchObject({ ok: false });
    clock += 20_000;
    expect(await db.watches.link(ada, { id: "ever" })).toMatchObject({ ok: false, reason: "exists" });
    await db.session.put({ id: "new", user: "ada" }).orThrow();
    expect(await db.watches.link(ada, { id: "new" }, {})).toMatchObject({ ok: true });
  });

  test("counts as absent for update and relink, which do not bring it back", async () => {
    const later = { expiresAt: seconds() + 3600 };
    expect(await db.session.update({ id: "old" }, later)).toEqual(expect.objectContaining({ ok: false, reason: "notFound" }));
    expect(await db.session.update({ id: "old" }, { user: "eve" })).not.toHaveProperty("current");
    expect(sent.map(({ operation }) => operation)).toEqual(["UpdateItem", "UpdateItem"]);
    expect(await db.session.update({ id: "old" }, { user: "eve" }, { if: { user: "eve" } })).toMatchObject({ reason: "notFound" });
    expect(await db.session.update({ id: "now" }, later)).toMatchObject({ ok: true });
    expect(await db.session.update({ id: "ever" }, { user: "eve" })).toMatchObject({ ok: true });
    expect(await db.transact([db.session.update({ id: "old" }, later)])).toMatchObject({ ok: false });
    clock += 20_000;
    expect(await db.watches.relink(ada, { id: "new" }, later)).toMatchObject({ ok: false, reason: "notFound" });
    expect(await db.watches.relink(ada, { id: "ever" }, later)).toMatchObject({ ok: true });
    expect(await db.code.update(ada, { code: "b" }, { expiresAt: new Date(clock + 5_500) })).toMatchObject({ reason: "notFound" });
  });

  test("is no end of a new edge, and no node that a transaction checks", async () => {
    await db.user.create({ id: "eve" }).orThrow();
    const missing = { ok: false, reason: "endMissing", end: "to", id: { id: "old" } };
    expect(await db.watches.link({ id: "eve" }, { id: "old" })).toMatchObject(missing);
    expect(await db.watches.link({ id: "eve" }, { id: "now" })).toMatchObject({ ok: true });
    expect(await db.watches.link({ id: "eve" }, { id: "ever" })).toMatchObject({ ok: true });
    const checked = (id: string) => db.transact([db.session.check({ id }), db.user.put({ id: "bob" })]);
    expect(await checked("old")).toMatchObject({ ok: false });
    expect(await checked("new")).toMatchObject({ ok: true });
  });

  test("is written like any other where reads show it", async () => {
    const { ok } = await showing.session.update({ id: "old" }, { user: "eve" });
    expect(ok).toBe(true);
    expect(await showing.watches.link({ id: "ada" }, { id: "old" })).toMatchObject({ ok: false, reason: "exists" });
    await showing.user.create({ id: "eve" }).orThrow();
    expect(await showing.watches.link({ id: "eve" }, { id: "old" })).toMatchObject({ ok: true });
  });

  test("is replaced by put and removed by delete", async () => {
    expect(await db.session.put({ id: "old", user: "eve", expiresAt: seconds() - 5 })).toMatchObject({ ok: true });
    expect(await showing.session({ id: "old" }).get()).toMatchObject({ user: "eve" });
    expect(await db.session.delete({ id: "old" })).toMatchObject({ ok: true });
    expect(await showing.session({ id: "old" }).get()).toBeUndefined();
  });

  test("a deletion takes it along", async () => {
    clock += 20_000;
    await db.user.delete(ada).orThrow();
    const { Items = [] } = await engine.transport.send("Scan", { TableName: table });
    expect(Items.filter((item) => JSON.stringify(item).includes("USER#ada"))).toHaveLength(3);
  });
});

describe("the time", () => {
  test.each([
    ["text", "2030-01-01T00:00:00Z"],
    ["milliseconds", Date.UTC(2030, 0, 1)],
    ["a fraction", 1.5],
    ["a negative number", -1],
    ["a Date that `dates` does not name", new Date()],
  ])("is refused as %s, whoever writes it", async (_, expiresAt) => {
    const unchecked = graphOf(table).connect({ transport: engine.transport, validate: false });
    const row = { id: "x", user: "x", expiresAt: expiresAt as number };
    const refused = { code: "request.unsupportedValue", message: expect.stringContaining("Give whole seconds since 1970") as unknown };
    await expect((async () => unchecked.session.create(row))()).rejects.toMatchObject(refused);
    await expect((async () => unchecked.session.put(row))()).rejects.toMatchObject(refused);
    await expect((async () => unchecked.session.update({ id: "new" }, { expiresAt: row.expiresAt }))()).rejects.toMatchObject(refused);
    await expect((async () => unchecked.watches.put(ada, { id: "new" }, { expiresAt: row.expiresAt }))()).rejects.toMatchObject(refused);
    expect(await unchecked.load([{ node: "session", row }])).toMatchObject({ items: 0 });
  });

  test("is compared with any number, in filters and in conditions of writes", async () => {
    const [time] = (
      await db
        .user(ada)
        .out("watches")
        .where({ to: { id: "new" } })
        .edges()
    ).map(({ expiresAt }) => expiresAt!);
    const watched = db.user(ada).out("watches");
    for (const expiresAt of [{ gt: time! - 0.5 }, { gt: -1 }, { lt: 1e15 }, { between: [-1.5, 1e15] as [number, number] }]) {
      expect((await watched.where({ expiresAt }).ids()).map(({ id }) => id)).toContain("new");
      expect(await db.watches.relink(ada, { id: "new" }, { expiresAt: time }, { if: { expiresAt } })).toMatchObject({ ok: true });
    }
    expect(await watched.where({ expiresAt: { gt: time! + 0.5 } }).count()).toBe(0);
  });

  test("is compared with a Date to its milliseconds, in filters and in conditions of writes", async () => {
    const stored = seconds() + 5;
    const codes = db.user(ada).parts("code");
    const isThere = async (expiresAt: object): Promise<void> => {
      const expected = Object.entries(expiresAt).every(([operator, date]) => {
        const time = (date as Date).getTime() / 1000;
        return { gt: stored > time, gte: stored >= time, lt: stored < time, lte: stored <= time, eq: stored === time }[operator];
      });
      expect(await codes.where({ expiresAt }).count(), JSON.stringify(expiresAt)).toBe(expected ? 1 : 0);
      const written = await db.code.update(ada, { code: "b" }, { expiresAt: new Date(stored * 1000) }, { if: { expiresAt } });
      expect(written.ok, JSON.stringify(expiresAt)).toBe(expected);
    };
    for (const milliseconds of [-500, 0, 500])
      for (const operator of ["gt", "gte", "lt", "lte", "eq"]) await isThere({ [operator]: new Date(stored * 1000 + milliseconds) });
    await isThere({ gte: new Date(-1500), lt: new Date(Date.UTC(9999, 0)) });
  });

  test("takes no addition, which would date from 1970 where there is none", async () => {
    const adding = async () => db.session.update({ id: "ever" }, { add: { expiresAt: 3600 } });
    await expect(adding()).rejects.toMatchObject({ code: "request.unsupportedValue" });
  });

  test("is a number of seconds in the table where the row has a Date", async () => {
    const { Items = [] } = await engine.transport.send("Scan", { TableName: table });
    const times = Items.filter(({ type }) => JSON.stringify(type).includes("code")).map(({ expiresAt }) => expiresAt);
    expect(times).toEqual(expect.arrayContaining([{ N: String(seconds() - 6) }, { N: String(seconds() + 5) }]));
    expect(await db.user(ada).parts("code").all()).toMatchObject([{ code: "b", expiresAt: new Date((seconds() + 5) * 1000) }]);
  });
});

describe("a model", () => {
  const key = "USER#{id}";
  const refuse =
    (settings: object, more: object = {}) =>
    () =>
      defineGraph({ table: "users", nodes: { user: node({ key, ...settings } as never) }, ...more } as never);
  const shape = { id: text, ends: z.number(), email: text };

  test("is refused where the time is text, lies in a key, or is another attribute of the same table", () => {
    expect(refuse({ schema: z.object({ ...shape, ends: text }), ttl: "ends" })).toThrow('the schema of "ends" takes text');
    expect(refuse({ key: "USER#{id}#{ends:number}", schema: z.object(shape), ttl: "ends" })).toThrow('"ends" is in a key');
    const other = {
      parts: { code: part({ of: "user" as never, key: "C#{n}", schema: z.object({ n: text, until: z.number() }), ttl: "until" }) },
    };
    expect(refuse({ schema: z.object(shape), ttl: "ends" }, other)).toThrow('another definition stores it as "ends"');
  });

  test("is refused where DynamoDB would leave something behind", () => {
    expect(refuse({ schema: z.object(shape), ttl: "ends", unique: ["email"] })).toThrow("the marker of its unique value");
    const schema = z.object({ ends: z.number() });
    const edges = { edges: { knows: edge({ from: "user", to: "user", schema, ttl: "ends", maxDegree: { from: 3 } }) } };
    expect(refuse({ schema: z.object(shape) }, edges)).toThrow("the count of the edges at its ends");
    const copying = (copies: object) => ({ edges: { knows: edge({ from: "user", to: "user", schema, ttl: "ends", copies }) } });
    for (const end of ["from", "to"])
      expect(refuse({ schema: z.object(shape) }, copying({ [end]: { mail: "email" } }))).toThrow('copies of freshness "stream" need none');
    const streamed = copying({ to: { mail: { of: "email", freshness: "stream" }, who: { of: "id", freshness: "immutable" } } });
    expect(refuse({ schema: z.object(shape) }, streamed)).not.toThrow();
  });
});

describe("an attribute of the name of ttl in a kind without ttl", () => {
  const Kind = z.object({ id: text, name: text, expiresAt: z.number().optional() });
  const undeclared = () =>
    defineGraph({
      table,
      nodes: {
        session: node({ key: "SESSION#{id}", schema: z.object({ id: text, expiresAt: z.number() }), ttl: "expiresAt" }),
        card: node({ key: "CARD#{id}", schema: Kind, mirror: true }),
        plain: node({ key: "PLAIN#{id}", schema: z.object({ id: text, name: text }) }),
      },
      parts: { stamp: part({ of: "card", key: "STAMP#{n:3}", schema: z.object({ n: z.int(), expiresAt: z.number().optional() }) }) },
      edges: { swaps: edge({ from: "card", to: "card", schema: z.object({ expiresAt: z.number().optional() }) }) },
      indexes: { byName: { entries: { card: "name", plain: "name" } } },
    });

  test("hides items from every read, as DynamoDB removes them whatever their kind", async () => {
    table = engine.freshTableName("undeclared");
    const effects = { ...systemEffects, now: () => clock };
    const options = { transport: engine.transport, advanced: { effects }, onRequest: (request: SentRequest) => void sent.push(request) };
    const graph = undeclared();
    const [mine, all] = [graph.connect(options), graph.connect({ ...options, expired: "show" })];
    await mine.table.create();
    const late = { expiresAt: seconds() + 10 };
    for (const id of ["1", "2"]) await mine.card.create({ id, name: "x", ...(id === "1" ? late : {}) }).orThrow();
    await mine.stamp.create({ id: "2" }, { n: 1, ...late }).orThrow();
    await mine.swaps.link({ id: "2" }, { id: "1" }, late).orThrow();
    await mine.swaps.link({ id: "2" }, { id: "2" }).orThrow();
    const rows = async (db: typeof mine) => [
      (await db.card.getMany([{ id: "1" }, { id: "2" }])).map((row) => row?.id),
      (await db.find("card").where({ name: "x" }).rows()).map(({ id }) => id),
      await db.find("card").where({ name: "x" }).count(),
      (await db.card({ id: "2" }).out("swaps").edges()).length,
      (await db.card({ id: "2" }).parts("stamp").all()).length,
      (await db.card({ id: "2" }).walk().out("swaps").ids()).items.length,
    ];
    const whole = [["1", "2"], ["1", "2"], 2, 2, 1, 2];
    expect(await rows(mine)).toEqual(whole);
    clock += 20_000;
    expect(await rows(mine)).toEqual([[undefined, "2"], ["2"], 1, 1, 0, 1]);
    expect(await rows(all)).toEqual(whole);
    // Writes take them as absent.
    expect(await mine.card.update({ id: "1" }, { name: "y" })).toMatchObject({ ok: false, reason: "notFound" });
    expect(await mine.swaps.link({ id: "2" }, { id: "1" })).toMatchObject({ ok: false, reason: "endMissing" });
    expect(await mine.stamp.create({ id: "2" }, { n: 1 })).toMatchObject({ ok: true });
    expect(await mine.card.create({ id: "1", name: "z" })).toMatchObject({ ok: true });
    expect(await mine.card.get({ id: "1" })).toEqual({ id: "1", name: "z" });
    // Items of a kind that cannot have the attribute are not asked for it.
    sent = [];
    await mine.find("plain").where({ name: "x" }).rows();
    expect(sent.at(-1)?.input).not.toHaveProperty("FilterExpression");
  });
});
