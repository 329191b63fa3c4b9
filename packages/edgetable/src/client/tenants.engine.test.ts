import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { count, defineGraph, edge, node, part } from "../index.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({
        key: "TENANT#{tenantId}#USER#{userId}",
        schema: z.object({ tenantId: text, userId: text, name: text }),
        unique: ["name"],
      }),
      team: node({ key: "TENANT#{tenantId}#TEAM#{teamId}", schema: z.object({ tenantId: text, teamId: text, name: text }) }),
      country: node({ key: "COUNTRY#{code}", schema: z.object({ code: text }) }),
    },
    edges: { joins: edge({ from: "user", to: "team", orderBy: "at", schema: z.object({ at: text }) }) },
    parts: { note: part({ of: "team", key: "NOTE#{n}", schema: z.object({ n: text, text: text.optional() }) }) },
    indexes: {
      byName: { entries: { team: { by: ["tenantId", "name"], split: 1 } } },
      everywhere: { entries: { user: "name" } },
    },
  });

const openTenants = async (name: string) => {
  const sent: { readonly operation: string; readonly input: unknown }[] = [];
  const graph = graphOf(engine.freshTableName(name));
  const db = graph.connect({ transport: engine.transport, onRequest: ({ operation, input }) => sent.push({ operation, input }) });
  await db.table.create();
  sent.length = 0;
  return { db, sent, acme: db.as({ tenantId: "acme" }), other: db.as({ tenantId: "acmes" }) };
};

test("a tenant's connection fills its id fields in: the same requests and rows as with them", async () => {
  const { db, sent, acme } = await openTenants("fills");
  await acme.user.create({ userId: "ann", name: "Ann" }).orThrow();
  await acme.team.put({ teamId: "red", name: "Red" }).orThrow();
  await acme.joins.link({ userId: "ann" }, { teamId: "red" }, { at: "2026" }).orThrow();
  await acme.note.create({ teamId: "red" }, { n: "1" }).orThrow();
  expect(await db.user({ tenantId: "acme", userId: "ann" }).get()).toEqual({ tenantId: "acme", userId: "ann", name: "Ann" });
  sent.length = 0;
  const page = await acme.user({ userId: "ann" }).out("joins").page({ limit: 5 });
  const mine = sent.splice(0);
  const whole = await db.user({ tenantId: "acme", userId: "ann" }).out("joins").page({ limit: 5 });
  expect(sent.splice(0).at(-1)).toEqual(mine.at(-1));
  expect(page).toEqual(whole);
  expect(page.items).toEqual([{ from: { tenantId: "acme", userId: "ann" }, to: { tenantId: "acme", teamId: "red" }, at: "2026" }]);
  expect(await acme.find("team").where({ name: "Red" }).rows()).toEqual([{ tenantId: "acme", teamId: "red", name: "Red" }]);
  expect(await acme.team({ teamId: "red" }).in("joins").nodes()).toMatchObject([{ name: "Ann" }]);
  expect(await acme.team({ teamId: "red" }).parts("note").all()).toMatchObject([{ n: "1" }]);
});

test("no call names another tenant's item", async () => {
  const { db, sent, acme, other } = await openTenants("names");
  await other.user.create({ userId: "ann", name: "Other" }).orThrow();
  sent.length = 0;
  const foreign = { tenantId: "acmes", userId: "ann" };
  const refused = expect.objectContaining({ code: "request.otherTenant" });
  expect(() => acme.user(foreign)).toThrow(refused);
  expect(() => acme.joins.link(foreign, { teamId: "red" }, { at: "1" })).toThrow(refused);
  const ann = acme.user({ userId: "ann" });
  expect(() => ann.common({ out: "joins" }, [{ userId: "bob" }, foreign])).toThrow(refused);
  expect(() => ann.out("joins").in("joins").except([foreign])).toThrow(refused);
  expect(await acme.user.get({ userId: "ann" })).toBeUndefined();
  expect(sent).toHaveLength(1);
  expect(db).toBeDefined();
});

const outsider = { code: "request.otherTenant" };

test("a cursor is its tenant's: of neighbours, parts, searches and walks", async () => {
  const { acme, other } = await openTenants("cursors");
  for (const one of [acme, other]) {
    const name = one === acme ? "Ann" : "Eve";
    await one.user.create({ userId: "ann", name }).orThrow();
    for (const teamId of ["red", "blue"]) {
      await one.team.create({ teamId, name: teamId }).orThrow();
      await one.joins.link({ userId: "ann" }, { teamId }, { at: teamId }).orThrow();
      await one.note.create({ teamId: "red" }, { n: teamId }).orThrow();
    }
  }
  type One = typeof acme;
  const asked: readonly ((db: One, cursor?: string) => PromiseLike<{ readonly next?: string | undefined }>)[] = [
    (db, cursor) => db.user({ userId: "ann" }).out("joins").page({ limit: 1, cursor }),
    (db, cursor) => db.team({ teamId: "red" }).parts("note").page({ limit: 1, cursor }),
    (db, cursor) =>
      db
        .find("team")
        .where({ name: { gte: "a" } })
        .page({ limit: 1, cursor }),
  ];
  for (const page of asked) {
    const { next } = await page(acme);
    expect(next).toBeDefined();
    await expect(page(acme, next)).resolves.toBeDefined();
    await expect(page(other, next)).rejects.toMatchObject({ code: "cursor.invalid" });
  }
  const walk = (db: One, cursor?: string) =>
    db
      .user({ userId: "ann" })
      .walk()
      .out("joins")
      .in("joins")
      .nodes({ budget: { requests: 1 }, cursor });
  const { next: cursor } = await walk(acme);
  expect(cursor).toBeDefined();
  await expect(walk(other, cursor)).rejects.toMatchObject({ code: "cursor.invalid" });
});

test("a unique value of another tenant is not found, and stays taken", async () => {
  const { db, sent, acme, other } = await openTenants("unique");
  await other.user.create({ userId: "eve", name: "Eve" }).orThrow();
  expect(await acme.user.by({ name: "Eve" })).toBeUndefined();
  expect(await other.user.by({ name: "Eve" })).toMatchObject({ tenantId: "acmes", userId: "eve" });
  const outcome = await acme.user.create({ userId: "ann", name: "Eve" });
  expect(outcome).toMatchObject({ ok: false, reason: "notUnique" });
  expect(JSON.stringify(outcome)).not.toContain("acmes");
  sent.length = 0;
  await acme.user.create({ userId: "ann", name: "Ann" }).orThrow();
  await acme.user.update({ userId: "ann" }, { name: "Amy" }).orThrow();
  await acme.user.delete({ userId: "ann" }).orThrow();
  expect(sent.map(({ operation }) => operation)).toContain("TransactWriteItems");
  expect(await db.user.by({ name: "Amy" })).toBeUndefined();
});

test("what is not under the tenant's prefix is refused, with the key that is shared", async () => {
  const { sent, acme } = await openTenants("shared");
  await expect(acme.country.get({ code: "PT" })).rejects.toMatchObject({
    code: "plan.unsupported",
    message: expect.stringContaining('"country" by pk (COUNTRY#{code}), which does not begin with tenantId') as string,
  });
  await expect(acme.country.create({ code: "PT" })).rejects.toMatchObject({ code: "plan.unsupported" });
  await expect(acme.find("user").where({ name: "Ann" }).using("everywhere").rows()).rejects.toMatchObject({
    code: "plan.unsupported",
    message: expect.stringContaining("everywherePk") as string,
  });
  const whole = acme as unknown as ReturnType<ReturnType<typeof graphOf>["connect"]>;
  await expect(whole.scan()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: "plan.unsupported",
    details: { operation: "Scan" },
  });
  await expect(whole.table.delete()).rejects.toMatchObject({ code: "plan.unsupported" });
  await expect(whole.migrations.plan()).rejects.toMatchObject({ code: "plan.unsupported" });
  await expect(verify(whole)).rejects.toMatchObject({ code: "plan.unsupported" });
  expect(sent.filter(({ operation }) => operation !== "GetItem")).toEqual([]);
  // It has no sockets of its own to give back.
  await whole.close();
  expect(await acme.user.get({ userId: "ann" })).toBeUndefined();
});

test("a tenant is one or several id fields with values", async () => {
  const { db, sent } = await openTenants("given");
  const as = (tenant: object) => db.as(tenant as { tenantId: string }).user.get({ userId: "1" } as never);
  for (const tenant of [{}, "acme" as never, { tenant: "acme" }, { tenantId: undefined }, { tenantId: null }])
    await expect((async () => as(tenant))()).rejects.toMatchObject({
      code: expect.stringMatching(/plan.invalidOption|schema.invalidValue/) as string,
    });
  await expect((async () => as({ tenantId: "" }))()).rejects.toMatchObject({ code: "keys.empty" });
  await expect(as({ tenantId: 5 })).rejects.toMatchObject({ code: "keys.wrongType" });
  expect(sent).toEqual([]);
  expect(db.as({ tenantId: "acme" })).toBe(db.as({ tenantId: "acme" }));

  const graph = defineGraph({
    table: engine.freshTableName("two-fields"),
    nodes: {
      job: node({ key: "ORG#{orgId:number}#SITE#{siteId}#JOB#{jobId}", schema: z.object({ orgId: z.int(), siteId: text, jobId: text }) }),
      plan: node({ key: "ORG#{orgId:number}#PLAN#{planId}", schema: z.object({ orgId: z.int(), planId: text }) }),
    },
  });
  const whole = graph.connect({ transport: engine.transport });
  await whole.table.create();
  const site = whole.as({ orgId: 5, siteId: "north" });
  await site.job.create({ jobId: "1" }).orThrow();
  expect(await whole.job.get({ orgId: 5, siteId: "north", jobId: "1" })).toEqual({ orgId: 5, siteId: "north", jobId: "1" });
  expect(await whole.as({ orgId: 55, siteId: "north" }).job.get({ jobId: "1" })).toBeUndefined();
  await expect(site.plan.get({ planId: "1" })).rejects.toMatchObject({ code: "plan.unsupported" });
});

test("an edge that a program without a tenant wrote from another tenant is not seen, nor counted, at either end", async () => {
  const { db, acme, other } = await openTenants("crossing");
  await acme.team.create({ teamId: "red", name: "Red" }).orThrow();
  for (const tenantId of ["acme", "acmes"]) await db.user.create({ tenantId, userId: "u", name: tenantId }).orThrow();
  for (const tenantId of ["acme", "acmes"])
    await db.joins.link({ tenantId, userId: "u" }, { tenantId: "acme", teamId: "red" }, { at: tenantId }).orThrow();
  const mine = [{ tenantId: "acme", userId: "u" }];
  const joined = acme.team({ teamId: "red" }).in("joins");
  expect(await joined.ids()).toEqual(mine);
  expect(await joined.nodes()).toMatchObject(mine);
  expect(await joined.count()).toBe(1);
  expect((await joined.page({ limit: 1 })).items).toHaveLength(1);
  expect((await acme.team({ teamId: "red" }).walk().in("joins").ids()).items).toEqual(mine);
  expect((await acme.team({ teamId: "red" }).walk().in("joins").count()).count).toBe(1);
  expect(await other.user({ userId: "u" }).out("joins").nodes()).toEqual([]);
  expect(await db.team({ tenantId: "acme", teamId: "red" }).in("joins").count()).toBe(2);
});

test("a write cannot give an item a key by which another tenant finds it", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("entries"),
    nodes: {
      order: node({
        key: "TENANT#{tenantId}#ORDER#{orderId}",
        schema: z.object({ tenantId: text, orderId: text, buyer: text, clientId: text.optional() }),
      }),
      client: node({ key: "TENANT#{tenantId}#CLIENT#{clientId}", schema: z.object({ tenantId: text, clientId: text }) }),
    },
    edges: {
      billed: edge({ from: "order", to: "client", stored: "reference", by: { tenantId: "buyer" } }),
      sent: edge({ from: "order", to: "client", ends: "unchecked", schema: z.object({ at: text }) }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const acme = db.as({ tenantId: "acme" });
  const order = { orderId: "1" };
  await acme.order.create({ ...order, buyer: "acme", clientId: "c" }).orThrow();
  await expect(acme.order.put({ ...order, buyer: "other", clientId: "c" })).rejects.toMatchObject(outsider);
  await expect(acme.order.update(order, { buyer: "other", clientId: "d" })).rejects.toMatchObject(outsider);
  await expect(acme.transact([acme.order.update(order, { buyer: "other", clientId: "d" })])).rejects.toMatchObject(outsider);
  const batch = await acme
    .batch([acme.order.put({ ...order, buyer: "other", clientId: "c" })])
    .orThrow()
    .catch((error: unknown) => error);
  expect(batch).toMatchObject(outsider);
  await acme.order.update(order, { clientId: "d" }).orThrow();
  expect(await acme.client({ clientId: "d" }).in("billed").ids()).toMatchObject([{ orderId: "1" }]);
  expect(await db.order.get({ tenantId: "acme", orderId: "1" })).toMatchObject({ buyer: "acme", clientId: "d" });
});

test("a transaction and a batch take calls of their own tenant only", async () => {
  const { db, acme, other } = await openTenants("together");
  const call = () => other.team.put({ teamId: "red", name: "Red" });
  for (const mixed of [() => acme.transact([call()]), () => acme.batch([call()]), () => db.transact([call()])])
    expect(mixed).toThrow(expect.objectContaining({ code: "plan.unsupported" }));
  await acme.transact([acme.team.put({ teamId: "red", name: "Red" }), acme.user.create({ userId: "ann", name: "Ann" })]).orThrow();
  expect(await db.team.get({ tenantId: "acme", teamId: "red" })).toBeDefined();
});

test("jobs are their tenant's, and a load names rows of other tenants as failures", async () => {
  const { db, acme, other } = await openTenants("jobs");
  const rows = [
    { node: "team" as const, row: { teamId: "red", name: "Red" } },
    { node: "team" as const, row: { tenantId: "acmes", teamId: "blue", name: "Blue" } },
  ];
  const report = await acme.load(rows, { job: "import" });
  expect(report.failures).toMatchObject([{ row: 1, error: outsider }]);
  expect(
    await db.team.getMany([
      { tenantId: "acme", teamId: "red" },
      { tenantId: "acmes", teamId: "blue" },
    ]),
  ).toEqual([{ tenantId: "acme", teamId: "red", name: "Red" }, undefined]);
  const left = (one: typeof acme, at: number) =>
    one.jobs.run("tidy", {}, async (job) => {
      job.save({ at });
      throw new Error("cut off");
    });
  await expect(left(acme, 1)).rejects.toThrow("cut off");
  await expect(left(other, 2)).rejects.toThrow("cut off");
  expect(await acme.jobs.list()).toMatchObject([{ facts: { at: 1 } }]);
  expect(await other.jobs.list()).toMatchObject([{ facts: { at: 2 } }]);
  const ids = (await db.jobs.list()).map(({ id }) => id);
  expect(ids).toHaveLength(2);
  await expect(acme.jobs.forget(ids.find((id) => id.includes("acmes"))!)).rejects.toMatchObject(outsider);
  await acme.jobs.forget("tidy");
  await db.jobs.forget((await db.jobs.list())[0]!.id);
  expect(await other.jobs.list()).toEqual([]);
});

test("a deletion that goes on as a job is found by its tenant, and by the whole", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("deletion"),
    nodes: { team: node({ key: "TENANT#{tenantId}#TEAM#{teamId}", schema: z.object({ tenantId: text, teamId: text }) }) },
    parts: { note: part({ of: "team", key: "NOTE#{n:4}", schema: z.object({ n: z.int() }) }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const [acme, other] = [db.as({ tenantId: "acme" }), db.as({ tenantId: "acmes" })];
  const red = { teamId: "red" };
  await acme.team.create(red).orThrow();
  await acme.load(Array.from({ length: 150 }, (_, n) => ({ part: "note" as const, owner: red, row: { n } })));
  const stop = new AbortController();
  const cut = acme.team.delete(red, { indexLag: 0, onProgress: () => stop.abort() }).run({ signal: stop.signal });
  await expect(cut).rejects.toMatchObject({ code: "execute.aborted" });
  expect(await acme.jobs.list()).toMatchObject([{ kind: "delete" }]);
  expect(await other.jobs.list()).toEqual([]);
  expect(await other.jobs.resumeAll()).toEqual({ resumed: [], leased: [], refused: [] });
  const [job] = await db.jobs.list();
  await expect(other.jobs.resume(job!.id)).rejects.toMatchObject(outsider);
  const resumed = await acme.jobs.resume(job!.id, { indexLag: 0 });
  expect(await resumed.done).toMatchObject({ ok: true });
  expect(await acme.team(red).parts("note").count()).toBe(0);
  expect(await db.jobs.list()).toEqual([]);
});

test("what follows from rows stays with the tenant: sharded counts, copies by a job, grids", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("derived"),
    nodes: {
      user: node({ key: "TENANT#{tenantId}#USER#{userId}", schema: z.object({ tenantId: text, userId: text }) }),
      team: node({
        key: "TENANT#{tenantId}#TEAM#{teamId}",
        schema: z.object({ tenantId: text, teamId: text, name: text }),
        derived: { members: count({ in: "joins", shards: 2 }) },
      }),
      issue: node({
        key: "TENANT#{tenantId}#ISSUE#{issueId}",
        schema: z.object({ tenantId: text, issueId: text, teamId: text, num: z.int() }),
        fields: { of: "team", orderBy: "num:6" },
      }),
    },
    edges: {
      joins: edge({ from: "user", to: "team", onDelete: { to: "cascade" } }),
      rates: edge({ from: "user", to: "team", copies: { to: { teamName: { of: "name", beyond: "job" } } } }),
    },
  });
  const sent: string[] = [];
  const db = graph.connect({ transport: engine.transport, onRequest: ({ input }) => sent.push(JSON.stringify(input)) });
  await db.table.create();
  const acme = db.as({ tenantId: "acme" });
  const red = { teamId: "red" };
  await acme.team.create({ ...red, name: "Red" }).orThrow();
  for (let at = 0; at < 3; at++) {
    await acme.user.create({ userId: `u${at}` }).orThrow();
    await acme.joins.link({ userId: `u${at}` }, red).orThrow();
    await acme.rates.link({ userId: `u${at}` }, red).orThrow();
  }
  await acme.joins.unlink({ userId: "u1" }, red).orThrow();
  expect(sent.some((one) => one.includes("~counter#"))).toBe(true);
  expect(await acme.team(red).in("joins").count()).toBe(2);
  await acme.team.update(red, { name: "Rose" }).orThrow();
  expect(await acme.team(red).in("rates").first()).toMatchObject({ teamName: "Rose" });

  await acme.issue.create({ issueId: "1", ...red, num: 1 }).orThrow();
  await acme.issue.create({ issueId: "2", ...red, num: 2 }).orThrow();
  const field = await acme.issue.fields(red).define({ name: "Size", type: "text" });
  await acme.issue.values({ issueId: "2" }).set({ [field.fieldId]: "large" });
  const page = await acme.issue
    .grid(red)
    .where({ [`field:${field.fieldId}`]: "large" })
    .sort(`field:${field.fieldId}`)
    .page();
  expect(page.items.map(({ row }) => row.issueId)).toEqual(["2"]);
  // The order in which an id's fields are given makes no difference.
  for (const given of [
    { ...red, tenantId: "acme" },
    { tenantId: "acme", ...red },
  ])
    expect((await db.issue.grid(given).page()).items).toEqual((await acme.issue.grid(red).page()).items);
  expect((await acme.issue.grid(red).page()).items).toHaveLength(2);
  expect(
    (await db
      .as({ tenantId: "other" })
      .issue.grid(red)
      .page()
      .run()
      .catch((error: unknown) => error)) as object,
  ).toMatchObject({
    items: [],
  });
});

test("an edge between two tenants is left out wherever a tenant reads, counted or kept", async () => {
  const id = z.object({ tenantId: text, id: text });
  const graph = defineGraph({
    table: engine.freshTableName("crossing"),
    nodes: {
      user: node({ key: "T#{tenantId}#U#{id}", schema: id, derived: { all: count({ out: "joins" }) } }),
      team: node({ key: "T#{tenantId}#M#{id}", schema: id, derived: { all: count({ in: "joins" }) } }),
    },
    edges: {
      joins: edge({ from: "user", to: "team", onDelete: { from: "cascade", to: "cascade" } }),
      likes: edge({ from: "user", to: "team", schema: z.object({ at: text }), orderBy: "at" }),
    },
  });
  const db = graph.connect({ transport: engine.transport, cursorSecret: "0".repeat(32) });
  await db.table.create();
  const a = db.as({ tenantId: "a" });
  for (const tenantId of ["a", "b"]) {
    await db.user.put({ tenantId, id: "1" });
    await db.team.put({ tenantId, id: "1" });
  }
  for (const [from, to] of [
    ["b", "a"],
    ["a", "b"],
    ["a", "a"],
  ] as const) {
    const ends = [
      { tenantId: from, id: "1" },
      { tenantId: to, id: "1" },
    ] as const;
    await db.joins.link(...ends).orThrow();
    await db.likes.link(...ends, { at: "1" }).orThrow();
  }
  const one = { id: "1" };
  for (const name of ["joins", "likes"] as const) {
    const [out, into] = [a.user(one).out(name), a.team(one).in(name)];
    expect([await out.edges(), await into.edges()]).toMatchObject([0, 1].map(() => [{ from: { tenantId: "a" }, to: { tenantId: "a" } }]));
    expect([await out.count(), await into.count()]).toEqual([1, 1]);
    expect([await out.nodes(), await into.nodes()]).toMatchObject([0, 1].map(() => [{ tenantId: "a", id: "1" }]));
    expect([await out.entries(), await into.entries()].map((entries) => entries.length)).toEqual([1, 1]);
    expect([await out.page({ limit: 5 }), await into.page({ limit: 5 })].map(({ items }) => items.length)).toEqual([1, 1]);
    const [forward, back] = [a.user(one).walk().out(name), a.team(one).walk().in(name)];
    expect([(await forward.count()).count, (await back.count()).count]).toEqual([1, 1]);
    for (const { items } of [await forward.ids(), await back.ids()]) expect(items).toEqual([{ tenantId: "a", id: "1" }]);
    for (const { items } of [await forward.nodes(), await back.nodes()]) expect(items).toHaveLength(1);
    for (const { items } of [await forward.groupCount(), await back.groupCount()]) expect(items).toMatchObject([{ count: 1 }]);
  }
  expect((await a.user(one).walk().rank({ out: "joins" }, { by: "degree", top: 2 })).items).toMatchObject([{ count: 1, value: 1 }]);
  expect((await a.user(one).out("joins").edges().report()).strays).toBe(1);
  // The connection without a tenant sees all of them.
  expect(
    await db
      .user({ tenantId: "a", ...one })
      .out("joins")
      .count(),
  ).toBe(2);
  // A deletion by the tenant takes them along, at both ends.
  const otherTeam = db.team({ tenantId: "b", ...one });
  const otherUser = db.user({ tenantId: "b", ...one });
  expect(await otherTeam.get()).toMatchObject({ all: 1 });
  expect(await otherUser.get()).toMatchObject({ all: 1 });
  await a.user.delete(one).orThrow();
  await a.team.delete(one, { indexLag: 0 }).orThrow();
  expect(await a.jobs.list()).toEqual([]);
  expect([await otherTeam.in("joins").edges(), await otherTeam.get()]).toEqual([[], { tenantId: "b", ...one, all: 0 }]);
  expect([await otherUser.out("joins").edges(), await otherUser.get()]).toEqual([[], { tenantId: "b", ...one, all: 0 }]);
  // What does not go with its node stays.
  expect(await otherTeam.in("likes").edges()).toHaveLength(1);
  expect((await verify(db)).kinds.filter(({ isHarmless }) => !isHarmless)).toEqual([]);
});

test.each(["once", "twice"] as const)(
  "conditions that an index of all tenants takes do not lead there, edges stored %s",
  async (stored) => {
    const joined = { tenantId: text, userId: text, team: text, age: z.number() };
    const graph = defineGraph({
      table: engine.freshTableName("shared"),
      nodes: { user: node({ key: "TENANT#{tenantId}#USER#{userId}", schema: z.object(joined) }) },
      parts: { note: part({ of: "user", key: "NOTE#{n}", schema: z.object({ n: text, about: text, rank: z.number() }) }) },
      edges: { knows: edge({ from: "user", to: "user", stored, schema: z.object({ since: z.number(), how: text }) }) },
      indexes: {
        everywhere: {
          entries: { knows: ["since:number", "how"], user: ["team", "age:number"], note: ["about", "rank:number"] },
          shards: 2,
        },
        own: { entries: { user: { by: ["tenantId", "age:number"], split: 1 } } },
      },
    });
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    const acme = db.as({ tenantId: "acme" });
    const [ann, bob] = [{ userId: "ann" }, { userId: "bob" }];
    for (const one of [ann, bob]) await acme.user.create({ ...one, team: "red", age: 30 }).orThrow();
    await db.user.create({ tenantId: "other", userId: "cid", team: "red", age: 30 }).orThrow();
    await acme.knows.link(ann, bob, { since: 2020, how: "work" }).orThrow();
    await acme.note.create(ann, { n: "1", about: "tea", rank: 1 }).orThrow();
    const where = { since: 2020, how: "work" };
    for (const known of [acme.user(ann).out("knows"), acme.user(bob).in("knows"), acme.user(ann).both("knows")]) {
      expect(await known.where(where).edges()).toHaveLength(1);
      expect(await known.where(where).unordered().count()).toBe(1);
      expect((await known.where(where).page({ limit: 1 })).items).toHaveLength(1);
      expect((await known.where(where).walk().ids()).items).toHaveLength(1);
    }
    expect(await acme.user(ann).parts("note").where({ about: "tea", rank: 1 }).all()).toHaveLength(1);
    expect(await acme.find("user").where({ team: "red", age: 30 }).rows()).toHaveLength(2);
    await expect(acme.find("knows").where(where).rows()).rejects.toMatchObject({ code: "plan.unsupported" });
    await expect(acme.user(ann).out("knows").where(where).using("everywhere").edges()).rejects.toMatchObject({ code: "plan.unsupported" });
  },
);

test("an index that a tenant's search lacks is proposed by the tenant's partition", async () => {
  const { db, acme } = await openTenants("proposed");
  // Such a search does not compile.
  interface Untyped {
    find(kind: string): { where(filter: object): { rows(): PromiseLike<unknown> } };
  }
  const search = async (by: object, kind: string, filter: object): Promise<unknown> => (by as Untyped).find(kind).where(filter).rows();
  await expect(search(acme, "note", { text: "x" })).rejects.toThrow(
    'indexes: { byValue: { entries: { note: { by: ["tenantId","text"], split: 1 } } } }.',
  );
  await expect(search(acme, "joins", { at: "2026" })).rejects.toThrow(
    'entries: { joins: { by: ["tenantId","at"], split: 1 } } } }. "joins" needs "tenantId" for it: copies: { from: ["tenantId"] }.',
  );
  await expect(search(acme, "country", { code: { gte: "a" } })).rejects.toThrow('entries: { country: "code" } } }.');
  await expect(search(db, "joins", { at: "2026" })).rejects.toThrow('entries: { joins: "at" } } }.');
});
