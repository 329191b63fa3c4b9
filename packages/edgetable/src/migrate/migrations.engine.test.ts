import { expect, test } from "vitest";
import { z } from "zod";
import type { ConnectOptions } from "../client/connect.ts";
import { defineGraph } from "../client/define-graph.ts";
import { count } from "../schema/derived.ts";
import { edge, node } from "../schema/definition.ts";
import {
  byAge,
  byName,
  club,
  connectTo,
  fast,
  fill,
  lab,
  likes,
  old,
  openMigrationsLab,
  person,
  watched,
} from "./migrations-lab.test-support.ts";

openMigrationsLab();

test("a table that was just created follows its model", async () => {
  const db = connectTo({ byAge });
  await db.table.create();
  expect(await db.migrations.plan()).toMatchObject({ steps: [], refusals: [] });
  expect(await db.migrations.status()).toMatchObject({
    state: "current",
    indexes: [
      { name: "reverse", state: "complete" },
      { name: "byAge", state: "complete" },
    ],
  });
  expect(await db.migrations.run()).toMatchObject({ complete: true, next: undefined, changed: 0 });
});

test("an index is added to a table with items: planned, filled, created and complete", async () => {
  await fill(300);
  const db = connectTo({ byAge });
  const plan = await db.migrations.plan();
  expect(plan.steps.map(({ kind }) => kind)).toEqual(["backfill", "createIndex", "record"]);
  expect(plan.steps[0]).toMatchObject({
    entries: [{ index: "byAge", shapes: ["person"], live: false }],
    items: 200,
    says: 'give items their index keys: "person" in "byAge"',
  });
  await expect(db.find("person").where({ age: 5 }).rows()).rejects.toMatchObject({ code: "plan.indexIncomplete" });

  const dry = await db.migrations.run({ ...fast, dryRun: true });
  expect(dry).toMatchObject({ complete: false, changed: 200 });
  expect(await db.migrations.status()).toMatchObject({ state: "outdated" });

  const begun = await db.migrations.run(fast);
  expect(begun).toMatchObject({ complete: false, changed: 200, next: expect.stringContaining("finish") as string });
  expect(await db.migrations.status()).toMatchObject({ state: "migrating", indexes: [{}, { name: "byAge", state: "missing" }] });
  await expect(db.find("person").where({ age: 5 }).rows()).rejects.toMatchObject({ code: "plan.indexIncomplete" });

  // An older writer takes away and changes what the first passes wrote.
  const before = old();
  await before.person.put({ id: "P1", name: "again", age: 1 });
  await before.person.update({ id: "P2" }, { age: 49 });
  await before.person.create({ id: "new", name: "new", age: 49 });
  const done = await db.migrations.run({ ...fast, finish: true });
  expect(done).toMatchObject({ complete: true, next: undefined });
  expect(await db.migrations.status()).toMatchObject({ state: "current" });
  expect((await db.find("person").where({ age: 49 }).rows()).map(({ id }) => id).toSorted()).toEqual([
    "P149",
    "P199",
    "P2",
    "P299",
    "P49",
    "new",
  ]);
  expect(await db.find("person").using("byAge").count()).toBe(201);
  expect(await db.jobs.list()).toEqual([]);
  expect(await before.migrations.status()).toMatchObject({ state: "outdated" });
});

test("what is right already is not written, and the requests are those of the plan", async () => {
  await fill(10);
  const { sent, options } = watched();
  const db = connectTo({ byAge }, options);
  await db.migrations.plan();
  expect(sent).toEqual(["DescribeTable", "GetItem", "DescribeTimeToLive", ...Array.from({ length: 4 }, () => "Scan")]);
  await db.migrations.run({ ...fast, finish: true });
  expect(sent.filter((one) => one === "UpdateTable")).toHaveLength(1);
  sent.length = 0;
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, changed: 0 });
  expect(sent).toEqual(["DescribeTable", "GetItem", "DescribeTimeToLive", "GetItem"]);
});

test("several indexes are created one at a time, and one that the model no longer has is deleted last", async () => {
  await fill(20);
  await connectTo({ byAge }).migrations.run({ ...fast, finish: true });
  const { sent, options } = watched();
  const db = connectTo({ byName: byName(), byCity: { entries: { person: { by: "city", sparse: true } } } }, options);
  const { steps } = await db.migrations.plan();
  expect(steps.map(({ kind }) => kind)).toEqual(["backfill", "createIndex", "createIndex", "deleteIndex", "record"]);
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(sent.filter((one) => one === "UpdateTable")).toHaveLength(3);
  expect(await db.find("person").where({ name: "N3" }).count()).toBe(3);
  expect(await db.table.diff()).toEqual([]);
});

test("another model's unfinished migration is refused until it is undone", async () => {
  await fill(10);
  const one = connectTo({ byAge });
  const other = connectTo({ byName: byName() });
  await one.migrations.run(fast);
  const underway = (await one.migrations.plan()).model;
  await expect(other.migrations.run(fast)).rejects.toMatchObject({ code: "migrate.otherModel", details: { underway } });
  expect(await other.migrations.status()).toMatchObject({
    state: "otherModel",
    undo: expect.stringContaining("No index was created") as string,
  });
  expect(await other.migrations.undo()).toMatchObject({ undone: true, deleted: [] });
  expect(await other.migrations.undo()).toMatchObject({ undone: false });
  expect(await other.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
});

test("undo deletes an index that the migration had created, and none that was there", async () => {
  await fill(5);
  const stopping = new AbortController();
  const db = connectTo({ byAge, byName: byName() });
  const run = db.migrations.run({
    ...fast,
    finish: true,
    signal: stopping.signal,
    onProgress: ({ step, says }) => void (step === "createIndex" && says.includes("byName") && stopping.abort()),
  });
  await expect(run).rejects.toMatchObject({ code: "execute.aborted" });
  expect(await db.migrations.status()).toMatchObject({
    state: "migrating",
    indexes: [{ state: "complete" }, { name: "byAge", state: "incomplete" }, {}],
  });
  expect((await db.migrations.undo()).deleted).toEqual(expect.arrayContaining(["byAge"]));
  expect(await old().table.diff()).toEqual([]);
  expect(await old().migrations.status()).toMatchObject({ state: "current" });
});

test("items that cannot have a key are named, and left out only where that is asked for", async () => {
  await fill(5);
  const send = async (item: object) => lab.engine.transport.send("PutItem", { TableName: lab.table, Item: item as never });
  await send({ pk: { S: "PERSON#odd" }, sk: { S: "#" }, type: { S: "person" }, id: { S: "odd" } });
  const db = connectTo({ byName: byName() });
  await expect(db.migrations.run(fast)).rejects.toMatchObject({
    code: "migrate.missingSource",
    details: { items: 1, first: [{ definition: "person", problem: "missing", key: { pk: { S: "PERSON#odd" } } }] },
  });
  await old().person.delete({ id: "odd" });
  await send({ pk: { S: "STRANGE" }, sk: { S: "#" }, byNamePk: { N: "5" } });
  await expect(db.migrations.run(fast)).rejects.toMatchObject({
    code: "migrate.invalidKey",
    details: { items: 1, first: [{ definition: undefined, attribute: "byNamePk", problem: "invalid" }] },
  });
  const done = await db.migrations.run({ ...fast, finish: true, leaveOut: true });
  expect(done).toMatchObject({ complete: true, leftOut: { items: 1 } });
  expect(await db.find("person").using("byName").count()).toBe(5);
});

test("a text over the length of a key is named", async () => {
  await fill(1);
  await old().person.put({ id: "long", name: "x".repeat(1025) });
  await expect(connectTo({ byName: byName() }).migrations.run(fast)).rejects.toMatchObject({
    code: "migrate.invalidKey",
    details: { items: 1 },
  });
});

test("what no migration can follow is refused with the remedy", async () => {
  await fill(3);
  await connectTo({ byName: byName(8) }).migrations.run({ ...fast, finish: true });
  const shrunk = connectTo({ byName: byName(4) });
  await expect(shrunk.migrations.run(fast)).rejects.toMatchObject({
    code: "migrate.unsupported",
    message: expect.stringContaining("[4, 8]") as string,
  });
  const rekeyed = connectTo({ byName: { entries: { person: { by: ["city", "name"], sparse: true } }, shards: 8 } });
  expect((await rekeyed.migrations.plan()).refusals).toEqual([expect.stringContaining("inPlace")]);
  const renamed = defineGraph({
    table: lab.table,
    nodes: { person: node({ key: "P#{id}", schema: person.schema as z.ZodType<{ id: string; name: string }> }), club },
    edges: { likes },
  });
  expect((await renamed.connect({ transport: lab.engine.transport }).migrations.plan()).refusals.join()).toContain(
    'The key of "person" changes',
  );
});

test("shards that grow are moved, and then the old count may leave", async () => {
  await fill(40);
  await connectTo({ byName: byName(1) }).migrations.run({ ...fast, finish: true });
  const grown = connectTo({ byName: byName([4, 1]) });
  expect((await grown.migrations.plan()).steps.map(({ kind }) => kind)).toEqual(["reshard", "record"]);
  expect(await grown.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  const last = connectTo({ byName: byName(4) });
  expect((await last.migrations.plan()).steps.map(({ kind }) => kind)).toEqual(["record"]);
  expect(await last.migrations.run(fast)).toMatchObject({ complete: true });
  expect(await last.find("person").where({ name: "N3" }).count()).toBe(6);
});

test("a table without a record takes its indexes as complete and is recorded", async () => {
  const layout = {
    partitionKey: "PK",
    sortKey: "SK",
    nodes: { person: { keys: { SK: "PROFILE", GSI1PK: "{name}", GSI1SK: "{id}" } } },
    indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
  };
  const db = defineGraph({ table: lab.table, nodes: { person }, layout }).connect({ transport: lab.engine.transport });
  await db.table.create();
  expect(await db.migrations.plan()).toMatchObject({ recorded: undefined, steps: [{ kind: "record" }] });
  expect(await db.migrations.run()).toMatchObject({ complete: true });
  expect(await db.migrations.status()).toMatchObject({ state: "current" });
});

test("a kind that comes to an index in use is not found in part, nor by a model that disagrees", async () => {
  await fill(20);
  await old().club.put({ id: "C", name: "N1" });
  await connectTo({ byName: byName() }).migrations.run({ ...fast, finish: true });
  const { sent, options } = watched();
  const both = { byName: { entries: { person: "name", club: "name" } } };
  const db = connectTo(both, options);
  const clubs = () => db.find("club").where({ name: "N1" }).rows();
  await expect(clubs()).rejects.toMatchObject({ code: "plan.indexIncomplete", details: { index: "byName", shape: "club" } });
  expect(await db.find("person").where({ name: "N1" }).count()).toBe(3);
  expect((await db.migrations.plan()).steps[0]).toMatchObject({ entries: [{ index: "byName", shapes: ["club"], live: true }] });
  await db.migrations.run(fast);
  await expect(clubs()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  sent.length = 0;
  expect([await clubs(), await clubs()]).toEqual([[{ id: "C", name: "N1" }], [{ id: "C", name: "N1" }]]);
  expect(sent).toEqual(["GetItem", "Query", "Query"]);
  const disagrees = connectTo({ byName: { entries: { person: { by: ["city", "name"], sparse: true }, club: "name" } } });
  await expect(disagrees.find("person").where({ city: "Ulm", name: "N1" }).rows()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
});

test("an index that somebody created by hand is not read before it is complete", async () => {
  await fill(6);
  const AttributeDefinitions = ["pk", "sk", "byNamePk", "byNameSk"].map((AttributeName) => ({
    AttributeName,
    AttributeType: "S" as const,
  }));
  const KeySchema = [
    { AttributeName: "byNamePk", KeyType: "HASH" as const },
    { AttributeName: "byNameSk", KeyType: "RANGE" as const },
  ];
  const Create = { IndexName: "byName", KeySchema, Projection: { ProjectionType: "ALL" as const } };
  await lab.engine.transport.send("UpdateTable", { TableName: lab.table, AttributeDefinitions, GlobalSecondaryIndexUpdates: [{ Create }] });
  const db = connectTo({ byName: byName() });
  await expect.poll(async () => (await db.migrations.status()).indexes[1]?.state).toBe("incomplete");
  await expect(db.find("person").where({ name: "N1" }).count()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, changed: 6 });
  expect(await db.find("person").where({ name: "N1" }).count()).toBe(1);
  expect(await db.migrations.undo()).toMatchObject({ undone: false });
});

test("a count comes to nodes that have edges, beside old writers that do not keep it", async () => {
  await fill(8);
  const before = old();
  for (let at = 1; at < 8; at++) await before.likes.link({ id: `P${at}` }, { id: `P${at % 2}` });
  const kept = edge({ from: "person", to: "person", onDelete: { from: "restrict", to: "restrict" } });
  const fans = node({ key: "PERSON#{id}", schema: person.schema, derived: { fans: count({ in: "likes" }) } });
  const db = defineGraph({ table: lab.table, nodes: { person: fans, club }, edges: { likes: kept } }).connect({
    transport: lab.engine.transport,
  });
  expect((await db.migrations.plan()).steps).toMatchObject([
    { kind: "derive", facts: ["person.fans", "likes.inDegree", "likes.outDegree"] },
    { kind: "record" },
  ]);
  await db.migrations.run(fast);
  await before.likes.link({ id: "P2" }, { id: "P1" });
  await before.likes.unlink({ id: "P3" }, { id: "P1" });
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await db.person.get({ id: "P1" })).toMatchObject({ fans: 4 });
  expect(await db.person.get({ id: "P0" })).toMatchObject({ fans: 3 });
});

test("a connection that avoids incomplete indexes reads another one, and refuses where there is none", async () => {
  await fill(20);
  await connectTo({ byName: byName() }).migrations.run({ ...fast, finish: true });
  const db = connectTo({ byAge, byName: byName() }, { incompleteIndexes: "avoid" });
  const search = db.find("person").where({ age: 8, name: "N1" });
  expect((await search.explain()).requests[0]?.input).toMatchObject({ IndexName: "byAge" });
  expect(await search.rows()).toEqual([{ id: "P8", name: "N1", age: 8 }]);
  expect(await search.count()).toBe(1);
  expect((await search.page({ limit: 5 })).items).toHaveLength(1);
  const iterated: unknown[] = [];
  for await (const row of search) iterated.push(row);
  expect(iterated).toEqual([{ id: "P8", name: "N1", age: 8 }]);
  expect(await search.walk().ids()).toMatchObject({ items: [{ id: "P8" }], complete: true });
  const alone = db.find("person").where({ age: 8 });
  for (const call of [() => alone.rows(), () => alone.count(), () => alone.sum("age"), () => alone.walk().ids()])
    await expect(call()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
  await db.migrations.run({ ...fast, finish: true });
  expect(await db.find("person").where({ age: 8 }).rows()).toHaveLength(1);
});

test("the stream, deletion protection and expiry are switched as the model says", async () => {
  await fill(1);
  const settings = { stream: true, deletionProtection: true, pointInTimeRecovery: true } as const;
  const of = (given: object) =>
    defineGraph({ table: lab.table, nodes: { person, club }, edges: { likes }, ...given }).connect({ transport: lab.engine.transport });
  const { steps } = await of({ settings }).migrations.plan();
  expect(steps.map(({ kind }) => kind)).toEqual(["setTable"]);
  expect(steps[0]?.says).toContain("switch the stream on, switch deletion protection on");
  expect(await of({ settings }).migrations.run()).toMatchObject({ complete: true });
  const { Table } = await lab.engine.transport.send("DescribeTable", { TableName: lab.table });
  expect(Table).toMatchObject({
    DeletionProtectionEnabled: true,
    StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
  });
  expect(await of({ settings: { deletionProtection: false, stream: false } }).migrations.run()).toMatchObject({ complete: true });
  expect(await of({}).migrations.plan()).toMatchObject({ steps: [] });
});

test("a plan says that the stream is off which is to keep an attribute", async () => {
  await fill(1);
  const followed = node({
    key: "PERSON#{id}",
    schema: z.object({ id: z.string(), name: z.string(), age: z.int().optional(), city: z.string().optional() }),
    derived: { fans: count({ in: "likes", freshness: "stream" }) },
  });
  const of = (given: object) =>
    defineGraph({ table: lab.table, nodes: { person: followed, club }, edges: { likes }, ...given }).connect({
      transport: lab.engine.transport,
    });
  const said = expect.stringContaining('leaves "fans" to its processor') as string;
  expect((await of({}).migrations.plan()).notes).toContainEqual(said);
  expect((await of({ settings: { stream: true } }).migrations.plan()).notes).not.toContainEqual(said);
});

test("reads through an index in use that a kind has just come to are refused until it is complete, and cost no request then", async () => {
  await fill(10);
  const ordered = (both: boolean, options: ConnectOptions = {}) =>
    defineGraph({
      table: lab.table,
      nodes: { person, club: node({ key: "CLUB#{id}", schema: z.object({ id: z.string(), name: z.string() }), mirror: both }) },
      edges: {
        likes: edge({ from: "person", to: "person", schema: z.object({ at: z.string() }), orderBy: "at" }),
        joins: edge({ from: "person", to: "club", schema: z.object({ at: z.string() }), ...(both ? { orderBy: "at" as const } : {}) }),
      },
    }).connect({ transport: lab.engine.transport, ...options });
  const before = ordered(false);
  await before.migrations.run({ ...fast, finish: true, inPlace: true });
  await before.club.put({ id: "C", name: "Chess" }).orThrow();
  await before.joins.link({ id: "P1" }, { id: "C" }, { at: "2" }).orThrow();
  await before.likes.link({ id: "P1" }, { id: "P2" }, { at: "1" }).orThrow();
  expect(await before.person({ id: "P1" }).out("likes").edges()).toHaveLength(1);

  const { sent, options } = watched();
  const db = ordered(true, options);
  const incomplete = { code: "plan.indexIncomplete" };
  await expect(db.person({ id: "P1" }).out("joins").edges()).rejects.toMatchObject(incomplete);
  await expect(db.person({ id: "P1" }).out("joins").limit(1).walk().ids()).rejects.toMatchObject(incomplete);
  await expect(db.club({ id: "C" }).incoming()).rejects.toMatchObject(incomplete);
  await db.migrations.run({ ...fast, finish: true, inPlace: true });
  expect(await db.person({ id: "P1" }).out("joins").edges()).toHaveLength(1);
  expect((await db.person({ id: "P1" }).out("joins").limit(1).walk().ids()).items).toEqual([{ id: "C" }]);
  sent.length = 0;
  expect(await db.person({ id: "P1" }).out("likes").edges()).toHaveLength(1);
  expect(await db.club({ id: "C" }).incoming()).toBeDefined();
  expect(sent).toEqual(["Query", "Query"]);
});
