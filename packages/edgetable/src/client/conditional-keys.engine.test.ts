import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part, type Layout, type Transport } from "../index.ts";
import { verify, type Finding } from "../verify/index.ts";

const text = z.string();
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const keys = { SK: "ORDER", GSI1PK: "OPEN#{team}", GSI1SK: "{at}" };
const layoutOf = (order: Layout["nodes"]): Layout => ({
  partitionKey: "PK",
  sortKey: "SK",
  indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
  ...(order ? { nodes: order } : {}),
});

const open = async () => {
  const table = engine.freshTableName("when");
  const graph = defineGraph({
    table,
    nodes: {
      order: node({ key: "ORDER#{id}", schema: z.object({ id: text, team: text, at: text, status: text, paid: z.boolean().optional() }) }),
    },
    layout: layoutOf({ order: { keys, when: { GSI1PK: { status: ["open", "waiting"] } } } }),
  });
  const sent: [string, Record<string, unknown>][] = [];
  const transport: Transport = {
    ...engine.transport,
    send: (operation, input, options) => {
      sent.push([operation, input as unknown as Record<string, unknown>]);
      return engine.transport.send(operation, input, options);
    },
  };
  const db = graph.connect({ transport });
  await db.table.create();
  const key = (id: string) => ({ PK: { S: `ORDER#${id}` }, SK: { S: "ORDER" } });
  const indexed = async (id: string) => {
    const { Item = {} } = await engine.transport.send("GetItem", { TableName: table, Key: key(id) });
    return [Item["GSI1PK"], Item["GSI1SK"]].map((value) => (value && "S" in value ? value.S : undefined));
  };
  return { db, table, sent, key, indexed };
};

const order = { id: "1", team: "T", at: "2024", status: "open" };

test("items have both keys of the index while the condition holds", async () => {
  const { db, sent, indexed } = await open();
  await db.order.create(order).orThrow();
  await db.order.create({ ...order, id: "2", status: "done" }).orThrow();
  expect(await indexed("1")).toEqual(["OPEN#T", "2024"]);
  expect(await indexed("2")).toEqual([undefined, undefined]);
  sent.length = 0;
  // The condition no longer holds: nothing else need be known.
  await db.order.update({ id: "1" }, { status: "done" }).orThrow();
  expect(sent.map(([operation]) => operation)).toEqual(["UpdateItem"]);
  expect(await indexed("1")).toEqual([undefined, undefined]);
  sent.length = 0;
  await db.order.update({ id: "1" }, { status: "waiting" }).orThrow();
  expect(sent.map(([operation]) => operation)).toEqual(["GetItem", "UpdateItem"]);
  expect(await indexed("1")).toEqual(["OPEN#T", "2024"]);
  // A change of another field of the key asks for the condition.
  await db.order.update({ id: "2" }, { team: "U", at: "2025" }).orThrow();
  expect(await indexed("2")).toEqual([undefined, undefined]);
  await db.order.update({ id: "1" }, { team: "U" }).orThrow();
  expect(await indexed("1")).toEqual(["OPEN#U", "2024"]);
  await db.order.put({ ...order, status: "done" }).orThrow();
  expect(await indexed("1")).toEqual([undefined, undefined]);
  expect(await db.order.get({ id: "1" })).toEqual({ ...order, status: "done" });
  expect(await verify(db)).toMatchObject({ clean: true });
});

test("only a search that implies the condition reads the index, or one that names it", async () => {
  const { db, sent } = await open();
  for (const [at, status] of ["open", "waiting", "done"].entries())
    await db.order.create({ ...order, id: String(at), at: `202${at}`, status }).orThrow();
  const ids = async (call: PromiseLike<readonly { id: string }[]>) => (await call).map(({ id }) => id);
  expect(await ids(db.find("order").where({ team: "T", status: "open" }).rows())).toEqual(["0"]);
  expect(sent.at(-1)?.[1]).toMatchObject({
    IndexName: "GSI1",
    FilterExpression: expect.any(String) as unknown,
    ExpressionAttributeValues: { ":p": { S: "OPEN#T" } },
  });
  expect(
    await ids(
      db
        .find("order")
        .where({ team: "T", status: { in: ["open", "waiting"] } })
        .rows(),
    ),
  ).toEqual(["0", "1"]);
  const refused = {
    code: "plan.noIndex",
    message: '"GSI1" holds "order" only while "status" is "open" or "waiting". Ask for that too, or name the index: using("GSI1").',
  };
  const sought = [
    { team: "T" },
    { team: "T", status: "done" },
    { team: "T", status: { in: ["open", "done"] } },
    { team: "T", status: { gte: "open" } },
  ];
  // The plan of a search is made once for each form: the values decide each time.
  for (const where of sought) await expect(db.find("order").where(where).rows()).rejects.toMatchObject(refused);
  expect(await ids(db.find("order").where({ team: "T" }).using("GSI1").rows())).toEqual(["0", "1"]);
  expect(await ids(db.find("order").where({ team: "T", status: "waiting" }).rows())).toEqual(["1"]);
});

test("verify finds keys of items whose condition does not hold, and items that lack them", async () => {
  const { db, table, key } = await open();
  await db.order.create(order).orThrow();
  await db.order.create({ ...order, id: "2", status: "done" }).orThrow();
  const update = (id: string, UpdateExpression: string, values?: Record<string, { S: string }>) =>
    engine.transport.send("UpdateItem", {
      TableName: table,
      Key: key(id),
      UpdateExpression,
      ...(values ? { ExpressionAttributeValues: values } : {}),
    });
  await update("1", "REMOVE GSI1PK, GSI1SK");
  await update("2", "SET GSI1PK = :p, GSI1SK = :s", { ":p": { S: "OPEN#T" }, ":s": { S: "2024" } });
  const findings: Finding[] = [];
  await verify(db, { onFinding: (finding) => void findings.push(finding) });
  expect(findings.map(({ kind, key: of }) => `${kind} ${JSON.stringify(of["PK"])}`).toSorted()).toEqual([
    'indexKey {"S":"ORDER#1"}',
    'indexKey {"S":"ORDER#2"}',
  ]);
});

test("an index key that is an attribute of the row stays while the condition does not hold", async () => {
  const table = engine.freshTableName("plain");
  const nodes = { order: node({ key: "ORDER#{id}", schema: z.object({ id: text, team: text, at: text, status: text }) }) };
  const layout: Layout = {
    ...layoutOf({ order: { keys: { SK: "ORDER", GSI1PK: "OPEN#{team}" }, when: { GSI1PK: { status: "open" } } } }),
    indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "at" } },
  };
  const db = defineGraph({ table, nodes, layout }).connect({ transport: engine.transport });
  await db.table.create();
  await db.order.create(order).orThrow();
  await db.order.create({ ...order, id: "2", at: "2020", status: "done" }).orThrow();
  expect(await db.order.get({ id: "2" })).toEqual({ ...order, id: "2", at: "2020", status: "done" });
  expect(await db.find("order").where({ team: "T", status: "open" }).rows()).toEqual([order]);
  await db.order.update({ id: "2" }, { status: "open" }).orThrow();
  await db.order.update({ id: "1" }, { status: "done" }).orThrow();
  expect((await db.find("order").where({ team: "T", status: "open" }).rows()).map(({ id }) => id)).toEqual(["2"]);
  expect(await verify(db)).toMatchObject({ clean: true });
});

test.each([
  [{ SK: { status: "open" } }, '"SK" is not a computed attribute of this item.'],
  [{ GSI1PK: { state: "open" } }, '"state" is not an attribute here.'],
  [{ GSI1PK: {} }, "it needs a text, number or boolean for each attribute"],
  [{ GSI1PK: { status: null } }, "it needs a text, number or boolean for each attribute"],
  [{ GSI1PK: { status: [{ exists: false }] } }, "it needs a text, number or boolean for each attribute"],
  [{ GSI1PK: { status: { exists: "no" } } }, "it needs a text, number or boolean for each attribute"],
])("the condition %j is refused", (when, message) => {
  const define = () =>
    defineGraph({
      table: "Orders",
      nodes: { order: node({ key: "ORDER#{id}", schema: z.object({ id: text, team: text, at: text, status: text }) }) },
      layout: layoutOf({ order: { keys, when: when as never } }),
    });
  expect(define).toThrow(message);
});

const softly = async (condition: { readonly exists: boolean }) => {
  const table = engine.freshTableName("soft");
  const schema = z.object({ id: text, team: text, at: text, deletedAt: text.nullable().optional() });
  const graph = defineGraph({
    table,
    nodes: { order: node({ key: "ORDER#{id}", schema }) },
    layout: layoutOf({ order: { keys, when: { GSI1PK: { deletedAt: condition } } } }),
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const found = async (deletedAt: { readonly exists: boolean }) => {
    const rows = await db.find("order").where({ team: "T", deletedAt }).rows();
    return rows.map(({ id }) => id);
  };
  return { db, found };
};

test("items are in an index while an attribute is missing: a soft deletion", async () => {
  const { db, found } = await softly({ exists: false });
  for (const id of ["1", "2"]) await db.order.create({ id, team: "T", at: `2024-${id}` }).orThrow();
  await db.order.create({ id: "3", team: "T", at: "2024-3", deletedAt: "now" }).orThrow();
  expect(await found({ exists: false })).toEqual(["1", "2"]);
  await db.order.update({ id: "1" }, { deletedAt: "2025" }).orThrow();
  await db.order.update({ id: "3" }, { remove: ["deletedAt"] }).orThrow();
  expect(await found({ exists: false })).toEqual(["2", "3"]);
  await db.order.upsert({ id: "2", team: "T", at: "x" }, { deletedAt: "2026" }).orThrow();
  expect(await found({ exists: false })).toEqual(["3"]);
  const { requests } = await db
    .find("order")
    .where({ team: "T", deletedAt: { exists: false } })
    .explain();
  expect(requests[0]?.input).toMatchObject({ IndexName: "GSI1", KeyConditionExpression: "GSI1PK = :p" });
  await expect(db.find("order").where({ team: "T" }).rows()).rejects.toThrow(
    '"GSI1" holds "order" only while "deletedAt" is missing. Ask for that too, or name the index: using("GSI1").',
  );
  await expect(found({ exists: true })).rejects.toThrow('only while "deletedAt" is missing');
  expect((await verify(db, { settle: 0 })).clean).toBe(true);
});

test("items are in an index while they have an attribute, whatever its value", async () => {
  const { db, found } = await softly({ exists: true });
  await db.order.create({ id: "1", team: "T", at: "2024", deletedAt: "now" }).orThrow();
  await db.order.create({ id: "2", team: "T", at: "2025" }).orThrow();
  expect(await found({ exists: true })).toEqual(["1"]);
  expect(await db.find("order").where({ team: "T", deletedAt: "now" }).rows()).toHaveLength(1);
  expect(
    await db
      .find("order")
      .where({ team: "T", deletedAt: { beginsWith: "n" } })
      .rows(),
  ).toHaveLength(1);
  await db.order.update({ id: "2" }, { deletedAt: "later" }).orThrow();
  await db.order.update({ id: "1" }, { remove: ["deletedAt"] }).orThrow();
  expect(await found({ exists: true })).toEqual(["2"]);
  await expect(found({ exists: false })).rejects.toThrow('"GSI1" holds "order" only while "deletedAt" is there.');
  expect((await verify(db, { settle: 0 })).clean).toBe(true);
});

test.each([true, false])("null is a value: an attribute that holds it is there (exists: %s)", async (exists) => {
  const { db, found } = await softly({ exists });
  await db.order.create({ id: "1", team: "T", at: "1", deletedAt: null }).orThrow();
  await db.order.create({ id: "2", team: "T", at: "2" }).orThrow();
  await db.order.create({ id: "3", team: "T", at: "3", deletedAt: "x" }).orThrow();
  await db.order.update({ id: "3" }, { deletedAt: null }).orThrow();
  expect(await found({ exists })).toEqual(exists ? ["1", "3"] : ["2"]);
  const held = await db.find("order").where({ team: "T" }).using("GSI1").rows();
  expect(held.map(({ id }) => id)).toEqual(exists ? ["1", "3"] : ["2"]);
  expect((await verify(db, { settle: 0 })).clean).toBe(true);
});

test("neighbours are not read by an index whose keys have a condition, and the refusal says so", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("members"),
    nodes: {
      person: node({ key: "PERSON#{id}", schema: z.object({ id: text }) }),
      team: node({ key: "TEAM#{id}", schema: z.object({ id: text }) }),
    },
    edges: { member: edge({ from: "person", to: "team", schema: z.object({ state: text }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      edges: { member: { keys: { GSI1PK: "{to}", GSI1SK: "{from}" }, when: { GSI1PK: { state: "active" } } } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  expect(() => db.team({ id: "red" }).in("member").edges()).toThrow(
    'in("member") of "team" is not read by "GSI1", because its keys have a condition (when).',
  );
});

const refusals = [
  ["the delimiter", "a#b", "keys.delimiter"],
  ["a text above the limit of a key", "x".repeat(1100), "keys.tooLong"],
] as const;
const entries = [
  ["its condition comes to hold", { when: { GSI1PK: { status: "open" } } }, { status: "done", team: "T" }, { status: "open" }],
  ["a field that it lacked is given", { sparse: ["GSI1PK", "GSI1SK"] }, { status: "open" }, { team: "T" }],
] as const;

test.each(entries.flatMap(([when, ...entry]) => refusals.map(([what, ...refusal]) => [what, when, ...refusal, ...entry] as const)))(
  "a row with %s in a field of an index key is not left out of the index by an update where %s, which is refused",
  async (_what, _when, at, code, setting, before, change) => {
    const table = engine.freshTableName("unfit");
    const schema = z.object({ id: text, team: text.optional(), at: text, status: text });
    const settings = { keys: { SK: "ORDER", GSI1PK: "OPEN", GSI1SK: "{team}#{at}#{id}" }, verbatim: ["team", "at"], ...setting };
    const layout = layoutOf({ order: "when" in setting ? { ...settings, sparse: ["GSI1PK", "GSI1SK"] } : settings });
    const db = defineGraph({ table, nodes: { order: node({ key: "ORDER#{id}", schema }) }, layout }).connect({
      transport: engine.transport,
    });
    await db.table.create();
    await db.order.create({ id: "1", at, ...before }).orThrow();
    await expect(db.order.update({ id: "1" }, change)).rejects.toMatchObject({ code });
    await expect(db.transact([db.order.update({ id: "1" }, change)])).rejects.toMatchObject({ code });
    expect(await db.order.get({ id: "1" })).toEqual({ id: "1", at, ...before });
    // The same change with a value that fits.
    await db.order.update({ id: "1" }, { ...change, at: "2024" }).orThrow();
    expect(await db.find("order").where({ team: "T", status: "open", at: "2024" }).rows()).toHaveLength(1);
    expect((await verify(db)).clean).toBe(true);
  },
);

test("neighbours are read by an index whose condition their filter implies, also in a walk", async () => {
  const sent: [string, unknown][] = [];
  const transport: Transport = {
    ...engine.transport,
    send: (operation, input, options) => {
      sent.push([operation, (input as { readonly IndexName?: string }).IndexName]);
      return engine.transport.send(operation, input, options);
    },
  };
  const db = defineGraph({
    table: engine.freshTableName("whenEdges"),
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id: text }) }),
      team: node({ key: "TEAM#{team}", schema: z.object({ team: text }) }),
    },
    edges: { joins: edge({ from: "user", to: "team", schema: z.object({ at: text, state: text, paid: z.boolean().optional() }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      edges: {
        joins: { keys: { SK: "JOINS#{to}", GSI1PK: "{to}", GSI1SK: "{at}" }, when: { GSI1PK: { state: ["open", "waiting"] } } },
      },
    },
  }).connect({ transport });
  await db.table.create();
  const team = { team: "T" };
  await db.team.create(team).orThrow();
  for (const [at, state] of ["open", "waiting", "done", "open"].entries()) {
    await db.user.create({ id: `u${at}` }).orThrow();
    await db.joins.link({ id: `u${at}` }, team, { at: `202${at}`, state }).orThrow();
  }
  const idsOf = async (filter: Parameters<ReturnType<ReturnType<typeof db.team>["in"]>["where"]>[0]) =>
    (await db.team(team).in("joins").where(filter).ids()).map(({ id }) => id);
  sent.length = 0;
  expect(await idsOf({ state: "open" })).toEqual(["u0", "u3"]);
  expect(sent).toEqual([["Query", "GSI1"]]);
  expect(await idsOf({ state: { in: ["waiting", "open"] }, at: { gte: "2021" } })).toEqual(["u1", "u3"]);
  expect(await db.team(team).in("joins").where({ state: "waiting" }).count()).toBe(1);
  const first = await db.team(team).in("joins").where({ state: "open" }).page({ limit: 1 });
  expect(first.items).toMatchObject([{ from: { id: "u0" } }]);
  const second = await db.team(team).in("joins").where({ state: "open" }).page({ limit: 1, cursor: first.next });
  expect(second.items).toMatchObject([{ from: { id: "u3" } }]);
  const walked = await db.user({ id: "u2" }).walk().out("joins").in("joins").where({ state: "waiting" }).ids();
  expect(walked.items).toEqual([{ id: "u1" }]);
  for (const filter of [{ state: "done" }, { state: { in: ["open", "done"] } }, { at: "2020" }, { state: { beginsWith: "open" } }])
    await expect(idsOf(filter)).rejects.toMatchObject({ code: "plan.noIndex", message: expect.stringContaining("(when)") as string });
  // One plan serves the values of one kind only.
  expect(await idsOf({ state: "open" })).toEqual(["u0", "u3"]);
});

test("parts are read by an index whose condition the call fulfils", async () => {
  const table = engine.freshTableName("whenParts");
  const db = defineGraph({
    table,
    nodes: { team: node({ key: "TEAM#{id}", schema: z.object({ id: text }) }) },
    parts: { task: part({ of: "team", key: "TASK#{no}", schema: z.object({ no: text, state: text, at: text }) }) },
    layout: {
      ...layoutOf({ team: { keys: { SK: "TEAM" } } }),
      parts: {
        task: {
          keys: { PK: "TASK#{id}#{no}", SK: "TASK", GSI1PK: "TASKS#{id}", GSI1SK: "{at}" },
          when: { GSI1PK: { state: ["open", "waiting"] } },
        },
      },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  await db.team.create({ id: "t" }).orThrow();
  const states = ["open", "done", "waiting"];
  for (const [no, state] of states.entries()) await db.task.create({ id: "t" }, { no: `${no}`, state, at: `2026-0${3 - no}` }).orThrow();
  const tasks = db.team({ id: "t" }).parts("task");
  const of = async (where: object): Promise<readonly string[]> => (await tasks.where(where).all()).map(({ no }) => no);
  expect(await of({ state: "open" })).toEqual(["0"]);
  expect(await of({ state: { in: ["waiting", "open"] } })).toEqual(["2", "0"]);
  expect(await tasks.where({ state: "waiting" }).count()).toBe(1);
  for (const where of [{ state: "done" }, { state: { in: ["open", "done"] } }, { at: "2026-03" }])
    await expect(async () => of(where)).rejects.toThrow("its keys have a condition (when)");
  expect(await of({ state: "open" })).toEqual(["0"]);
});

test("parts that an index of all finds are read there, whatever their filter implies", async () => {
  const db = defineGraph({
    table: engine.freshTableName("whenAll"),
    nodes: { team: node({ key: "TEAM#{id}", schema: z.object({ id: text }) }) },
    parts: { task: part({ of: "team", key: "TASK#{no}", schema: z.object({ no: text, state: text, at: text }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: {
        GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK", projection: ["state"] },
        GSI2: { partitionKey: "GSI2PK", sortKey: "GSI2SK" },
      },
      nodes: { team: { keys: { SK: "TEAM" } } },
      parts: {
        task: {
          keys: {
            PK: "TASK#{id}#{no}",
            SK: "TASK",
            GSI1PK: "OPEN#{id}",
            GSI1SK: "{state}#{no}",
            GSI2PK: "TASKS#{id}",
            GSI2SK: "{no}",
          },
          when: { GSI1PK: { state: ["open", "waiting"] } },
        },
      },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  await db.team.create({ id: "t" }).orThrow();
  const rows = ["waiting", "open", "done"].map((state, at) => ({ no: `${at}`, state, at: "2026" }));
  for (const row of rows) await db.task.create({ id: "t" }, row).orThrow();
  const tasks = db.team({ id: "t" }).parts("task");
  const open = await tasks.where({ state: { in: ["open", "waiting"] } }).all();
  expect(open).toEqual(rows.slice(0, 2).map((row) => ({ id: "t", ...row })));
  expect(await tasks.where({ state: "open", at: "2026" }).count()).toBe(1);
});
