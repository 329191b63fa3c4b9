import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();

/** Sort keys that hold an attribute beside the id: of tickets that share their team's partition, of steps, and of edges. */
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text }) }),
      ticket: node({ key: "TEAM#{team}#{no}", schema: z.object({ team: text, no: text, status: text, title: text }) }),
    },
    parts: {
      step: part({ of: "user", key: "STEP#{stepId}", schema: z.object({ stepId: text, at: text, title: text }) }),
    },
    edges: {
      owns: edge({ from: "user", to: "ticket" }),
      does: edge({ from: "ticket", to: "step", ends: "unchecked" }),
      knows: edge({ from: "user", to: "user", stored: "twice", schema: z.object({ since: text, how: text }) }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { reverse: { partitionKey: "G1", sortKey: "G2" } },
      nodes: { ticket: { keys: { PK: "TEAM#{team}", SK: "TICKET#{status}#{no}" } } },
      parts: { step: { keys: { SK: "STEP#{at}#{stepId}" } } },
      edges: {
        owns: { keys: { SK: "OWNS#{to.team}#{to.no}", G1: "TICKET#{to.team}#{to.no}", G2: "{from}" } },
        does: { keys: { PK: "DOES#{from.team}#{from.no}", SK: "{to.userId}#{to.stepId}" } },
        knows: { keys: { SK: "KNOWS#{since}#{to}" }, mirror: { keys: { SK: "KNOWN#{since}#{from}" } } },
      },
    },
  });

const open = async (name: string) => {
  const db = graphOf(engine.freshTableName(name)).connect({ transport: engine.transport });
  await db.table.create();
  for (const userId of ["a", "b", "c"]) await db.user.create({ userId }).orThrow();
  for (const [no, status] of [
    ["1", "open"],
    ["2", "done"],
    ["3", "open"],
    ["10", "done"],
  ] as const)
    await db.ticket.create({ team: "t", no, status, title: `T${no}` }).orThrow();
  for (const [stepId, at] of [
    ["x", "2"],
    ["y", "1"],
  ] as const)
    await db.step.create({ userId: "a" }, { stepId, at, title: `S${stepId}` }).orThrow();
  await db.knows.link({ userId: "a" }, { userId: "b" }, { since: "2020", how: "work" }).orThrow();
  await db.knows.link({ userId: "a" }, { userId: "c" }, { since: "2019", how: "school" }).orThrow();
  return db;
};

describe("a row whose sort key holds more than its id", () => {
  test("is found among the others of its partition: a node", async () => {
    const db = await open("foundNodes");
    const ticket = (no: string) => ({ team: "t", no });
    for (const no of ["1", "2", "3", "10"]) expect(await db.ticket.get(ticket(no))).toMatchObject({ no, title: `T${no}` });
    expect(await db.ticket.get(ticket("9"))).toBeUndefined();
    expect(await db.ticket.get({ team: "u", no: "1" })).toBeUndefined();
    expect(await db.ticket(ticket("3")).get({ consistent: true })).toMatchObject({ title: "T3" });
    expect(await db.ticket.get(ticket("2"), { select: ["title"] })).toEqual({ title: "T2" });
    expect(await db.ticket.get(ticket("2"), { given: { status: "done" } })).toMatchObject({ title: "T2" });
    const many = await db.ticket.getMany([ticket("10"), ticket("9"), ticket("1")]);
    expect(many.map((one) => one?.title)).toEqual(["T10", undefined, "T1"]);
    const { requests } = await db.ticket.getMany([ticket("10"), ticket("1")]).explain();
    expect(requests.map(({ operation }) => operation)).toEqual(["Query", "Query"]);
    for (const no of ["3", "2"]) await db.owns.link({ userId: "a" }, ticket(no)).orThrow();
    const titles = (rows: readonly ({ readonly title: string } | undefined)[]) => rows.map((one) => one?.title);
    expect(titles(await db.user({ userId: "a" }).out("owns").nodes())).toEqual(["T2", "T3"]);
    expect(titles((await db.user({ userId: "a" }).walk().out("owns").nodes()).items)).toEqual(["T2", "T3"]);
  });

  test("is found by its id: a part", async () => {
    const db = await open("foundParts");
    const a = { userId: "a" };
    expect(await db.step.get(a, { stepId: "x" })).toMatchObject({ at: "2", title: "Sx" });
    expect(await db.step.get(a, { stepId: "y" }, { select: ["title"] })).toEqual({ title: "Sy" });
    expect(await db.step.get(a, { stepId: "z" })).toBeUndefined();
    expect(await db.step({ ...a, stepId: "y" }).get()).toMatchObject({ title: "Sy" });
    const many = await db.step.getMany(a, [{ stepId: "y" }, { stepId: "z" }, { stepId: "x" }]);
    expect(many.map((one) => one?.title)).toEqual(["Sy", undefined, "Sx"]);
    await db.does.link({ team: "t", no: "1" }, { ...a, stepId: "x" }).orThrow();
    await db.does.link({ team: "t", no: "1" }, { ...a, stepId: "z" }).orThrow();
    const { value, missing } = await db.ticket({ team: "t", no: "1" }).out("does").entries().report();
    expect(value.map((one) => one.node?.title)).toEqual(["Sx", undefined]);
    expect(missing).toEqual([{ ...a, stepId: "z" }]);
    const walked = await db.user({ userId: "a" }).walk().out("owns").out("does").nodes();
    expect(walked.items).toEqual([]);
    await db.owns.link(a, { team: "t", no: "1" }).orThrow();
    const { items } = await db.user(a).walk().out("owns").out("does").nodes();
    expect(items.map(({ title }) => title)).toEqual(["Sx"]);
  });

  test("is found by its ends: an edge", async () => {
    const db = await open("foundEdges");
    const [a, b, c] = [{ userId: "a" }, { userId: "b" }, { userId: "c" }];
    expect(await db.knows.get(a, b)).toEqual({ from: a, to: b, since: "2020", how: "work" });
    expect(await db.knows.get(a, c, { select: ["how"] })).toEqual({ from: a, to: c, how: "school" });
    expect(await db.knows.get(b, a)).toBeUndefined();
    expect(await db.user(a).has("knows", c)).toBe(true);
    expect(await db.user(c).has("knows", a)).toBe(false);
    expect((await db.knows.getMany(a, [c, a, b])).map(({ to }) => to)).toEqual([c, b]);
    expect((await db.knows.getMany(a, [c, b], { where: { how: "work" } })).map(({ to }) => to)).toEqual([b]);
    await db.knows.relink(a, b, { since: "2018" }).orThrow();
    expect(await db.knows.get(a, b)).toMatchObject({ since: "2018" });
  });
});

test("a row whose partition does not follow from its id is refused with what finds it", async () => {
  const db = defineGraph({
    table: engine.freshTableName("apart"),
    nodes: { user: node({ key: "USER#{userId}", schema: z.object({ userId: text }) }) },
    parts: { step: part({ of: "user", key: "STEP#{stepId}", schema: z.object({ stepId: text, at: text }) }) },
    edges: { met: edge({ from: "user", to: "user", schema: z.object({ year: text }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { reverse: { partitionKey: "G1", sortKey: "G2" } },
      parts: { step: { keys: { PK: "AT#{at}", SK: "{userId}#{stepId}", G1: "USER#{userId}", G2: "STEP#{stepId}" } } },
      edges: { met: { keys: { PK: "YEAR#{year}#{from}", SK: "{to}", G1: "MET#{to}", G2: "{from}" } } },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  const [a, b] = [{ userId: "a" }, { userId: "b" }];
  for (const id of [a, b]) await db.user.create(id).orThrow();
  await db.met.link(a, b, { year: "2020" }).orThrow();
  await db.step.create(a, { stepId: "1", at: "x" }).orThrow();
  const refused = (of: string) => `The partition of "${of}" `;
  expect(() => db.met.get(a, b)).toThrow(refused("met"));
  expect(() => db.met.getMany(a, [b])).toThrow(refused("met"));
  expect(() => db.step.get(a, { stepId: "1" })).toThrow(refused("step"));
  expect(() => db.step.getMany(a, [{ stepId: "1" }])).toThrow('it takes {at} too. Find it by an index with db.find("step").');
});

test("nodes without items are left out beside nodes that their ids do not place", async () => {
  const db = defineGraph({
    table: engine.freshTableName("unstored"),
    nodes: {
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text }) }),
      ticket: node({ key: "TEAM#{team}#{no}", schema: z.object({ team: text, no: text, status: text }) }),
      tag: node({ key: "TAG#{tag}", schema: z.object({ tag: text }), stored: false }),
    },
    edges: { has: edge({ from: "user", to: ["ticket", "tag"] }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { reverse: { partitionKey: "G1", sortKey: "G2" } },
      nodes: { ticket: { keys: { PK: "TEAM#{team}", SK: "TICKET#{status}#{no}" } } },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  const [a, ticket] = [{ userId: "a" }, { team: "t", no: "1" }];
  await db.user.create(a).orThrow();
  await db.ticket.create({ ...ticket, status: "open" }).orThrow();
  await db.has.link(a, { type: "ticket", ...ticket }).orThrow();
  await db.has.link(a, { type: "tag", tag: "x" }).orThrow();
  expect(await db.user(a).out("has").nodes()).toEqual([{ kind: "ticket", row: { ...ticket, status: "open" } }]);
  expect((await db.user(a).out("has").entries()).map((one) => one.node?.row)).toEqual([undefined, { ...ticket, status: "open" }]);
});

test("an edge to several types is found by its ends", async () => {
  const nodes = {
    user: node({ key: "USER#{userId}", schema: z.object({ userId: text }) }),
    tag: node({ key: "TAG#{tag}", schema: z.object({ tag: text }) }),
    page: node({ key: "PAGE#{userId}", schema: z.object({ userId: text }) }),
  };
  const schema = z.object({ since: text, how: text });
  const sent: SentRequest[] = [];
  const db = defineGraph({
    table: engine.freshTableName("severalFound"),
    nodes,
    edges: { knows: edge({ from: "user", to: ["user", "tag", "page"], ends: "unchecked", schema }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { reverse: { partitionKey: "G1", sortKey: "G2" } },
      edges: { knows: { keys: { SK: "KNOWS#{since}#{to}" } } },
    },
  }).connect({ transport: engine.transport, onRequest: (request) => void sent.push(request) });
  await db.table.create();
  const a = { userId: "a" };
  const [user, other, page, tag] = [
    { type: "user", userId: "b" },
    { type: "user", userId: "c" },
    { type: "page", userId: "b" },
    { type: "tag", tag: "b" },
  ] as const;
  for (const [at, end] of [other, page, user, tag].entries()) await db.knows.link(a, end, { since: `${at}`, how: end.type }).orThrow();
  for (const end of [user, other, page, tag]) {
    expect(await db.knows.get(a, end)).toMatchObject({ from: a, to: end, how: end.type });
    expect(await db.knows.get(a, end, { select: ["how"], consistent: true })).toEqual({
      from: { type: "user", ...a },
      to: end,
      how: end.type,
    });
    expect(await db.user(a).has("knows", end)).toBe(true);
    expect(await db.user({ userId: "b" }).has("knows", end)).toBe(false);
  }
  const many = () => db.knows.getMany(a, [tag, { ...page, userId: "z" }, other, user, page, tag], { where: { since: { gte: "1" } } });
  sent.length = 0;
  expect((await many()).map(({ to }) => to)).toEqual([tag, user, page, tag]);
  const { requests } = await many().explain();
  const inputs = (of: readonly { readonly input: unknown }[]) => new Set(of.map(({ input }) => JSON.stringify(input)));
  expect(inputs(sent)).toEqual(inputs(requests));
});

test("rows of nodes whose id holds a Date, a number or a bigint are found by it", async () => {
  const day = node({
    key: "DAY#{on:date}#{hour:number}",
    schema: z.object({ on: z.date(), hour: z.union([z.number(), z.bigint()]) }),
    dates: ["on"],
  });
  const graph = defineGraph({
    table: engine.freshTableName("foundDates"),
    nodes: { day },
    parts: { visit: part({ of: "day", key: "VISIT#{no}", schema: z.object({ no: text, at: z.date(), title: text }), dates: ["at"] }) },
    edges: { next: edge({ from: "day", to: "day", schema: z.object({ rank: text, how: text.optional() }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      parts: { visit: { keys: { SK: "VISIT#{at:date}#{no}" } } },
      edges: { next: { keys: { SK: "NEXT#{rank}#{to}" } } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const ids = [
    { on: new Date(1), hour: 7 },
    { on: new Date(2), hour: 2n ** 60n + 1n },
  ];
  for (const id of ids) await db.day.create(id).orThrow();
  for (const id of ids) {
    const other = ids.find((one) => one !== id)!;
    for (const no of ["1", "2"]) await db.visit.create(id, { no, at: new Date(5), title: no }).orThrow();
    for (const to of ids) await db.next.link(id, to, { rank: "1" }).orThrow();

    expect(await db.visit.update(id, { no: "2" }, { title: "new" })).toMatchObject({ ok: true, row: { ...id, no: "2", title: "new" } });
    expect(await db.visit.update(id, { no: "2" }, { at: new Date(6) })).toMatchObject({ ok: true });
    expect(await db.visit.upsert(id, { no: "2", at: new Date(7), title: "" }, { title: "last" })).toMatchObject({
      ok: true,
      created: false,
    });
    expect(await db.visit.get(id, { no: "2" })).toEqual({ ...id, no: "2", at: new Date(6), title: "last" });
    expect(await db.visit.delete(id, { no: "1" })).toMatchObject({ ok: true });
    expect(await db.day(id).parts("visit").count()).toBe(1);

    expect(await db.next.relink(id, other, { rank: "2", how: "on foot" })).toMatchObject({ ok: true });
    expect(await db.next.get(id, other)).toEqual({ from: id, to: other, rank: "2", how: "on foot" });
    expect(await db.next.unlink(id, id)).toMatchObject({ ok: true });
    expect(await db.day(id).out("next").ids()).toEqual([other]);
  }
});
