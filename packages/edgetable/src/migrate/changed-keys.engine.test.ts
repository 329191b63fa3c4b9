import { expect, test } from "vitest";
import { z } from "zod";
import type { ConnectOptions } from "../client/connect.ts";
import { defineGraph } from "../client/define-graph.ts";
import { count } from "../schema/derived.ts";
import { edge, node } from "../schema/definition.ts";
import { verify } from "../verify/index.ts";
import { byName, club, connectTo, fast, fill, lab, old, openMigrationsLab, person, watched } from "./migrations-lab.test-support.ts";

openMigrationsLab();

test("a changed order is not read from old keys, until the items have the new ones", async () => {
  const meets = (orderBy: "at" | "bt", options: ConnectOptions = {}) =>
    defineGraph({
      table: lab.table,
      nodes: { person },
      edges: {
        meets: edge({
          from: "person",
          to: "person",
          schema: z.object({ at: z.string(), bt: z.string() }),
          orderBy,
          onDelete: { from: "cascade", to: "cascade" },
        }),
      },
    }).connect({ transport: lab.engine.transport, ...options });
  const before = meets("at");
  await before.table.create();
  for (const id of ["P1", "P2", "P3"]) await before.person.create({ id, name: id }).orThrow();
  const [one, two] = [{ id: "P2" }, { id: "P3" }] as const;
  await before.meets.link({ id: "P1" }, one, { at: "1", bt: "9" }).orThrow();
  await before.meets.link({ id: "P1" }, two, { at: "2", bt: "8" }).orThrow();

  const { sent, options } = watched();
  const db = meets("bt", options);
  const out = () => db.person({ id: "P1" }).out("meets");
  const inward = () => db.person(one).in("meets");
  const reads = {
    "a range": () =>
      out()
        .where({ bt: { gte: "5" } })
        .edges(),
    "the order": () => out().edges(),
    "a page in order": () => out().page({ limit: 1 }),
    "a count": () =>
      out()
        .where({ bt: { gte: "5" } })
        .count(),
    "an incoming range": () =>
      inward()
        .where({ bt: { gte: "5" } })
        .edges(),
    "the order of in-edges": () => inward().edges(),
    "a walk": () => out().limit(1).walk().ids(),
    "a walk against the edges": () =>
      inward()
        .where({ bt: { gte: "5" } })
        .walk()
        .ids(),
  };
  for (const [name, read] of Object.entries(reads))
    await expect(read(), name).rejects.toMatchObject({ code: "plan.indexIncomplete", details: { shape: "meets" } });
  // What does not depend on the order is read, and nodes are deleted.
  expect(await inward().count()).toBe(1);
  await db.person.create({ id: "P4", name: "P4" }).orThrow();
  await db.meets.link({ id: "P1" }, { id: "P4" }, { at: "3", bt: "1" }).orThrow();
  await db.meets.link({ id: "P4" }, { id: "P1" }, { at: "3", bt: "1" }).orThrow();
  await db.person.delete({ id: "P4" }).orThrow();
  await db.migrations.run({ ...fast, finish: true, inPlace: true });
  sent.length = 0;
  expect((await out().edges()).map(({ to }) => to)).toEqual([two, one]);
  expect(
    (
      await inward()
        .where({ bt: { gte: "9" } })
        .edges()
    ).map(({ bt }) => bt),
  ).toEqual(["9"]);
  expect(sent).toEqual(["GetItem", "Query", "Query"]);
  const late = watched();
  const another = meets("bt", late.options);
  await another.person({ id: "P1" }).out("meets").edges();
  await another.person({ id: "P1" }).out("meets").edges();
  // The record is read beside the first read of a connection.
  expect(late.sent).toEqual(["GetItem", "Query", "Query"]);
});

test("in-edges are not read by keys that the table's items do not begin with", async () => {
  const meets = (orderBy: "at" | undefined, key = "PERSON#{id}") =>
    defineGraph({
      table: lab.table,
      nodes: { person: node({ key: key as "PERSON#{id}", schema: z.object({ id: z.string() }) }), club },
      edges: {
        meets: edge({
          from: "person",
          to: "club",
          schema: z.object({ at: z.string() }),
          ...(orderBy && { orderBy }),
          onDelete: { from: "cascade", to: "cascade" },
        }),
      },
    }).connect({ transport: lab.engine.transport });
  const recorded = meets("at");
  await recorded.table.create();
  await recorded.person.create({ id: "P1" }).orThrow();
  for (const id of ["C1", "C2"]) {
    await recorded.club.create({ id, name: id }).orThrow();
    await recorded.meets.link({ id: "P1" }, { id }, { at: "1" }).orThrow();
  }
  // Without the order, and with another key of the node that they come from.
  for (const connect of [() => meets(undefined), () => meets(undefined, "HUMAN#{id}")]) {
    const inward = () => connect().club({ id: "C1" }).in("meets");
    const reads = {
      edges: () => inward().edges(),
      "a page": () => inward().page({ limit: 1 }),
      "a count": () => inward().count(),
      "a walk": () => inward().walk().ids(),
      "a deletion": () => connect().club.delete({ id: "C1" }),
    };
    for (const [name, read] of Object.entries(reads))
      await expect(read(), name).rejects.toMatchObject({ code: "plan.indexIncomplete", details: { shape: "meets", index: "reverse" } });
  }
  expect(await recorded.club({ id: "C1" }).in("meets").count()).toBe(1);
  const db = meets(undefined);
  await db.migrations.run({ ...fast, inPlace: true });
  // Items have either keys from now on, which the type alone begins.
  await expect(recorded.club({ id: "C1" }).in("meets").edges()).resolves.toHaveLength(1);
  await expect(meets("at").club({ id: "C1" }).in("meets").edges()).rejects.toMatchObject({
    code: "plan.indexIncomplete",
    message: expect.stringContaining("a migration has begun to a model that gives it other keys there") as string,
  });
  await expect(meets("at").person({ id: "P1" }).out("meets").edges()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
  expect(await meets("at").club({ id: "C1" }).in("meets").count()).toBe(1);
  await db.migrations.run({ ...fast, finish: true, inPlace: true });
  expect(await db.club({ id: "C1" }).in("meets").count()).toBe(1);
  // The keys of an order begin with more than the type: those of before it do not.
  expect(await recorded.club({ id: "C2" }).in("meets").count()).toBe(1);
  await db.club.delete({ id: "C1" }).orThrow();
  expect(await db.person({ id: "P1" }).out("meets").count()).toBe(1);
});

test("a new edge type is read in its order at once: all its edges have its keys", async () => {
  const schema = z.object({ at: z.string() });
  const follows = edge({ from: "person", to: "person", schema, orderBy: "at" });
  const before = defineGraph({ table: lab.table, nodes: { person }, edges: { follows } }).connect({ transport: lab.engine.transport });
  await before.table.create();
  const admires = edge({ from: "person", to: "person", schema, orderBy: "at" });
  const after = defineGraph({ table: lab.table, nodes: { person }, edges: { follows, admires } }).connect({
    transport: lab.engine.transport,
  });
  for (const id of ["P1", "P2"]) await after.person.create({ id, name: id }).orThrow();
  await after.admires.link({ id: "P1" }, { id: "P2" }, { at: "2026" }).orThrow();
  const recent = { at: { gte: "2" } };
  expect(await after.person({ id: "P2" }).in("admires").where(recent).edges()).toHaveLength(1);
  expect(await after.person({ id: "P1" }).out("admires").where(recent).edges()).toHaveLength(1);
});

test("an order is not read from the entries that another edge type left in its index", async () => {
  const graph = (ordered: "likes" | "joins") => {
    const of = (name: string) =>
      edge({ from: "person", to: "person", schema: z.object({ at: z.string() }), ...(name === ordered ? { orderBy: "at" as const } : {}) });
    return defineGraph({ table: lab.table, nodes: { person }, edges: { likes: of("likes"), joins: of("joins") } }).connect({
      transport: lab.engine.transport,
    });
  };
  const before = graph("likes");
  await before.table.create();
  for (const id of ["P1", "P2", "P3"]) await before.person.create({ id, name: id }).orThrow();
  await before.joins.link({ id: "P1" }, { id: "P2" }, { at: "1" }).orThrow();
  await before.likes.link({ id: "P1" }, { id: "P2" }, { at: "1" }).orThrow();
  const after = graph("joins");
  await expect(after.person({ id: "P1" }).out("joins").edges()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
  // In-edges have always been in `reverse`, but under keys that begin otherwise where they had an order.
  await expect(after.person({ id: "P2" }).in("likes").edges()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
  expect(await after.person({ id: "P2" }).in("joins").count()).toBe(1);
});

test("facts are derived beside a changed order, before its index is complete", async () => {
  const people = (orderBy: "at" | "bt", given: object) =>
    defineGraph({
      table: lab.table,
      nodes: { person: node({ key: "PERSON#{id}", schema: z.object({ id: z.string(), name: z.string() }), ...given }) },
      edges: {
        meets: edge({
          from: "person",
          to: "person",
          schema: z.object({ at: z.string(), bt: z.string() }),
          orderBy,
          ...(orderBy === "bt" ? { copies: { from: ["name"] } } : {}),
          onDelete: { from: "cascade", to: "cascade" },
        }),
      },
    }).connect({ transport: lab.engine.transport });
  const before = people("at", {});
  await before.table.create();
  for (const id of ["P1", "P2", "P3"]) await before.person.create({ id, name: id }).orThrow();
  await before.meets.link({ id: "P1" }, { id: "P2" }, { at: "1", bt: "9" }).orThrow();
  await before.meets.link({ id: "P3" }, { id: "P2" }, { at: "2", bt: "8" }).orThrow();
  const derived = {
    meetings: count({ out: "meets" }),
    met: count({ in: "meets" }),
  };
  const db = people("bt", { derived });
  await db.migrations.run({ ...fast, inPlace: true });
  expect(await db.migrations.run({ ...fast, finish: true, inPlace: true })).toMatchObject({ complete: true });
  expect(await db.person.get({ id: "P2" })).toEqual({ id: "P2", name: "P2", met: 2, meetings: 0 });
  expect((await db.person({ id: "P2" }).in("meets").edges()).map(({ bt }) => bt)).toEqual(["8", "9"]);
});

test("a degree guard counts every edge after a migration beside writers that do not know it", async () => {
  const people = (ends: object) =>
    defineGraph({
      table: lab.table,
      nodes: { person: node({ key: "PERSON#{id}", schema: z.object({ id: z.string(), name: z.string() }) }) },
      edges: {
        likes: edge({ from: "person", to: "person", ...ends }),
        meets: edge({ from: "person", to: "person", onDelete: { from: "cascade", to: "cascade" } }),
      },
    }).connect({ transport: lab.engine.transport });
  const at = (id: string) => ({ id });
  const before = people({});
  await before.table.create();
  for (let to = 0; to < 9; to++) await before.person.create({ id: `P${to}`, name: `N${to}` }).orThrow();
  const limited = people({ maxDegree: { from: 4 } });
  expect((await limited.migrations.plan()).steps).toMatchObject([{ kind: "derive", facts: ["likes.outDegree"] }, { kind: "record" }]);
  // The first link of the new model counts what there is, and the old one links without counting.
  await limited.migrations.run(fast);
  for (const [db, to] of [
    [before, 1],
    [limited, 2],
    [before, 3],
  ] as const)
    await db.likes.link(at("P0"), at(`P${to}`)).orThrow();
  expect(await limited.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await limited.likes.link(at("P0"), at("P4"))).toMatchObject({ ok: true });
  expect(await limited.likes.link(at("P0"), at("P5"))).toMatchObject({ ok: false, reason: "degreeExceeded" });

  const copying = defineGraph({
    table: lab.table,
    nodes: { person: node({ key: "PERSON#{id}", schema: z.object({ id: z.string(), name: z.string() }) }) },
    edges: {
      likes: edge({ from: "person", to: "person", maxDegree: { from: 4 } }),
      meets: edge({ from: "person", to: "person", onDelete: { from: "cascade", to: "cascade" }, copies: { to: ["name"] } }),
    },
  }).connect({ transport: lab.engine.transport });
  await copying.migrations.run(fast);
  for (const [db, from] of [
    [limited, 1],
    [copying, 2],
    [limited, 3],
    [limited, 4],
  ] as const)
    await db.meets.link(at(`P${from}`), at("P0")).orThrow();
  await limited.meets.unlink(at("P1"), at("P0")).orThrow();
  expect(await copying.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  await copying.person.update(at("P0"), { name: "new" }).orThrow();
  expect((await copying.person(at("P0")).in("meets").edges()).map(({ name }) => name)).toEqual(["new", "new", "new"]);
  expect((await verify(copying, { settle: 1 })).kinds.map(({ kind }) => kind)).toEqual([]);
});

test("a kind that leaves an index keeps its keys until the migration ends, and is refused to searches from its beginning", async () => {
  await fill(3);
  await old().club.put({ id: "C", name: "N1" });
  const both = connectTo({ byName: { entries: { person: "name", club: "name" } } });
  await both.migrations.run({ ...fast, finish: true });
  const clubs = async () =>
    (
      await connectTo({ byName: { entries: { person: "name", club: "name" } } })
        .find("club")
        .where({ name: "N1" })
        .rows()
    ).length;
  expect(await clubs()).toBe(1);
  const db = connectTo({ byName: byName() });
  expect(await db.migrations.run(fast)).toMatchObject({ complete: false, changed: 0 });
  await expect(clubs()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, changed: 1 });
  await expect(clubs()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
});

test("after keys that changed in place were undone, no model reads them until a migration has ended", async () => {
  await fill(6);
  await connectTo({ byName: byName() }).migrations.run({ ...fast, finish: true });
  const rekeyed = connectTo({ byName: { entries: { person: { by: ["city", "name"], sparse: true } } } });
  await rekeyed.migrations.run({ ...fast, inPlace: true });
  expect((await rekeyed.migrations.status()).undo).toContain(`Items may have either model's keys in "byName"`);
  const { undone, notes } = await rekeyed.migrations.undo();
  expect([undone, notes.join(" ")]).toEqual([true, expect.stringContaining('in "byName"')]);
  const search = async () => connectTo({ byName: byName() }).find("person").where({ name: "N1" }).count();
  await expect(search()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
  await expect(rekeyed.find("person").where({ city: "Ulm", name: "N1" }).count()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
  expect(await connectTo({ byName: byName() }).migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await search()).toBe(1);
});

test("an index over a derived attribute comes to nodes that programs of both models write", async () => {
  await fill(2);
  const fans = node({ key: "PERSON#{id}", schema: person.schema, derived: { fans: count({ in: "likes" }) } });
  const kept = edge({ from: "person", to: "person", onDelete: { from: "restrict", to: "restrict" } });
  const db = defineGraph({
    table: lab.table,
    nodes: { person: fans, club },
    edges: { likes: kept },
    indexes: { byFans: { entries: { person: "fans:number" } } },
  }).connect({ transport: lab.engine.transport });
  await db.person.put({ id: "P0", name: "written by both" }).orThrow();
  await old().likes.link({ id: "P1" }, { id: "P0" }).orThrow();
  await db.migrations.run(fast);
  await old().person.put({ id: "P2", name: "of the old model" }).orThrow();
  await db.person.put({ id: "P2", name: "of the new model" }).orThrow();
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, leftOut: { items: 0 } });
  const found = await db
    .find("person")
    .where({ fans: { gte: 0 } })
    .rows();
  expect(found.map(({ id, fans: number }) => [id, number]).toSorted()).toEqual([
    ["P0", 1],
    ["P1", 0],
    ["P2", 0],
  ]);
});
