import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, min, node, part, sum } from "../index.ts";
import { openFactsLab } from "./facts-lab.test-support.ts";

const text = z.string();

/** A table of somebody else: no type attribute, users and teams keyed by two attributes, one edge a user that may lead elsewhere. */
const teamsIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text, name: text.optional() }) }),
      team: node({
        key: "TEAM#{teamId}",
        schema: z.object({ teamId: text }),
        derived: { members: count({ in: "joins", freshness: "stream" }), first: min({ in: "joins", of: "rank" }) },
      }),
    },
    edges: {
      joins: edge({
        from: "user",
        to: "team",
        multiplicity: "many-to-one",
        ends: "unchecked",
        schema: z.object({ rank: z.number().optional() }),
        copies: { from: { userName: { of: "name", freshness: "stream" } } },
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      nodes: { user: { keys: { SK: "user" } }, team: { keys: { SK: "team" } } },
      edges: { joins: { keys: { SK: "JOINS", team: "{to}" } } },
    },
  });

describe("an adopted table", () => {
  const open = () => openFactsLab(teamsIn);
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.lab.stop());

  test("an edge that is led from A to B to A in one batch counts at A alone", async () => {
    const { db, lab, session } = opened;
    const [u, a, b] = [{ userId: "U" }, { teamId: "A" }, { teamId: "B" }];
    await db.user.create({ ...u, name: "Ann" }).orThrow();
    for (const one of [a, b]) await db.team.create(one).orThrow();
    await db.joins.put(u, a, { rank: 1 }).orThrow();
    await lab.drain(session);
    await db.joins.put(u, b, { rank: 2 }).orThrow();
    const members = async () => [await db.team.get(a, { consistent: true }), await db.team.get(b, { consistent: true })];
    await lab.drain(session);
    expect(await members()).toEqual([
      { ...a, members: 0 },
      { ...b, members: 1, first: 2 },
    ]);
    await db.joins.put(u, a, { rank: 3 }).orThrow();
    await db.joins.put(u, b, { rank: 4 }).orThrow();
    await db.joins.put(u, a, { rank: 5 }).orThrow();
    await lab.drain(session);
    expect(await members()).toEqual([
      { ...a, members: 1, first: 5 },
      { ...b, members: 0 },
    ]);
    await db.user.update(u, { name: "Bea" }).orThrow();
    await lab.drain(session);
    expect(await db.joins.get(u, a)).toMatchObject({ userName: "Bea", rank: 5 });
  });
});

describe("a count of edges that no index finds", () => {
  const open = () => openFactsLab(teamsIn);
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.lab.stop());

  test("is taken from the nodes that keep it, by count() and by walks, and refused where a node does not", async () => {
    const { db, lab, session } = opened;
    const [a, b] = [{ teamId: "A" }, { teamId: "B" }];
    for (const one of [a, b]) await db.team.create(one).orThrow();
    for (const [user, team] of [
      ["U", a],
      ["V", a],
      ["W", b],
    ] as const)
      await db.joins.put({ userId: user }, team, {}).orThrow();
    await lab.drain(session);
    const counted = db.team(a).in("joins").count({ kept: "any" });
    const refusal = { code: "plan.noIndex", message: expect.stringContaining('No table or index key can answer in("joins") of "team"') };
    // The table has no record that says that counts are complete.
    await expect(Promise.resolve(counted)).rejects.toMatchObject(refusal);
    await db.migrations.run({ finish: true, indexLag: 0 });
    const late = teamsIn(lab.table).connect({ transport: lab.engine.transport });
    const report = await late.team(a).in("joins").count({ kept: "any" }).report();
    expect(report).toMatchObject({ value: 2, kept: [{ attributes: ["members"], freshness: "stream" }] });
    const { plan, notes, cost } = await late.team(a).in("joins").count({ kept: "any" }).explain();
    expect([plan.sources, cost.requests]).toEqual([[], 1]);
    expect(notes[1]).toContain("the call rejects: no key or index finds what it would count");
    await expect(Promise.resolve(late.team(a).in("joins").count())).rejects.toMatchObject(refusal);
    await expect(Promise.resolve(late.team({ teamId: "C" }).in("joins").count({ kept: "any" }))).rejects.toMatchObject(refusal);
    const ranked = (...users: readonly string[]) =>
      Promise.all(users.map((userId) => late.user({ userId }).out("joins").walk().rank({ in: "joins" }, { by: "degree", kept: "any" })));
    expect((await ranked("U", "W")).map(({ items }) => items)).toEqual([[{ id: a, count: 2, value: 2 }], [{ id: b, count: 1, value: 1 }]]);
    await db.joins.put({ userId: "X" }, { teamId: "C" }, {}).orThrow();
    await expect(Promise.resolve(ranked("X"))).rejects.toMatchObject({
      code: "plan.noIndex",
      message: expect.stringContaining('"team" {"teamId":"C"} holds no "members", and no key or index finds its edges "joins"'),
    });
  });
});

/** Several nodes of one type in a partition, told apart by a numeric sort key. */
const readingsIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      site: node({
        key: "{siteId:number}",
        schema: z.object({ siteId: z.number() }),
        derived: { tickets: count({ in: "at", freshness: "stream" }) },
      }),
      ticket: node({
        key: "{ticketId:number}",
        schema: z.object({ ticketId: z.number(), siteId: z.number().optional(), hours: z.number().optional() }),
      }),
    },
    edges: { at: edge({ from: "ticket", to: "site", stored: "reference" }) },
    layout: {
      partitionKey: "id",
      typeAttribute: "kind",
      types: { id: "N" },
      sharedIds: true,
      indexes: { bySite: { partitionKey: "site", sortKey: "id" } },
      edges: { at: { keys: { site: "S/{to}" } } },
    } as never,
  });

test("numeric keys and no sort key", async () => {
  const { db, lab, session } = await openFactsLab(readingsIn);
  try {
    await db.site.create({ siteId: 1 }).orThrow();
    await db.ticket.create({ ticketId: 10, siteId: 1 }).orThrow();
    await db.ticket.create({ ticketId: 11, siteId: 1 }).orThrow();
    await lab.drain(session);
    expect(await db.site.get({ siteId: 1 }, { consistent: true })).toEqual({ siteId: 1, tickets: 2 });
    await db.ticket.delete({ ticketId: 10 }).orThrow();
    await lab.drain(session);
    expect(await db.site.get({ siteId: 1 }, { consistent: true })).toEqual({ siteId: 1, tickets: 1 });
  } finally {
    await lab.stop();
  }
});

test("a least value is refused where no partition can hold the values", () => {
  expect(() =>
    defineGraph({
      table: "readings",
      nodes: {
        site: node({ key: "SITE#{id}", schema: z.object({ id: text }), derived: { least: min({ in: "at", of: "hours" }) } }),
        ticket: node({ key: "TICKET#{id}", schema: z.object({ id: text, siteId: text.optional(), hours: z.number().optional() }) }),
      },
      edges: {
        at: edge({
          from: "ticket",
          to: "site",
          stored: "reference",
          by: { id: "siteId" },
          schema: z.object({ hours: z.number().optional() }),
        }),
      },
      layout: {
        partitionKey: "id",
        indexes: { bySite: { partitionKey: "site", sortKey: "id" } },
        edges: { at: { keys: { site: "{to}" } } },
      },
    }),
  ).toThrow(/no sort key of text/);
});

/** Edges between several node types, and nodes of one type that share a partition. */
const officeIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      desk: node({
        key: "DESK#{floor}#{desk}",
        schema: z.object({ floor: text, desk: text }),
        derived: { liked: count({ in: "likes", freshness: "stream" }), books: sum({ parts: "shelf", of: "books", freshness: "stream" }) },
      }),
      person: node({
        key: "PERSON#{id}",
        schema: z.object({ id: text }),
        derived: { liked: count({ in: "likes", freshness: "stream" }), likes: count({ out: "likes", freshness: "stream" }) },
      }),
    },
    edges: { likes: edge({ from: "person", to: ["person", "desk"] }) },
    parts: { shelf: part({ of: "desk", key: "SHELF#{shelf}", schema: z.object({ shelf: text, books: z.number() }) }) },
  });

test("edges of several node types", async () => {
  const { db, lab, session } = await openFactsLab(officeIn);
  try {
    const [a, b, d] = [{ id: "a" }, { id: "b" }, { floor: "1", desk: "2" }];
    for (const one of [a, b]) await db.person.create(one).orThrow();
    await db.desk.create(d).orThrow();
    await db.likes.link(a, { type: "person", ...b }).orThrow();
    await db.likes.link(a, { type: "desk", ...d }).orThrow();
    await db.shelf.create(d, { shelf: "1", books: 7 }).orThrow();
    await lab.drain(session);
    expect(await db.person.get(a, { consistent: true })).toEqual({ ...a, liked: 0, likes: 2 });
    expect(await db.person.get(b, { consistent: true })).toEqual({ ...b, liked: 1, likes: 0 });
    expect(await db.desk.get(d, { consistent: true })).toEqual({ ...d, liked: 1, books: 7 });
  } finally {
    await lab.stop();
  }
});
