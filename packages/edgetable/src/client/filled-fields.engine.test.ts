import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node, part, type ItemLayout, type Layout, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const layoutOf = (more: Partial<Layout>): Layout => ({
  partitionKey: "PK",
  sortKey: "SK",
  indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
  ...more,
});

/** A ticket is found by who works on it, else by the team that it waits for; done ones, by a fixed word. */
const graphIn = (table: string, item: ItemLayout = {}) =>
  defineGraph({
    table,
    nodes: {
      ticket: node({
        key: "TICKET#{id}",
        schema: z.object({
          id: text,
          team: text,
          worker: z.object({ name: text }).optional(),
          done: z.boolean().optional(),
          queue: text.optional(),
          rank: text.optional(),
        }),
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: {
        ticket: {
          keys: { SK: "TICKET", GSI1PK: "QUEUE#{queue}", GSI1SK: "{rank}#{id}" },
          fill: { queue: ["{worker.name}", "{team}"], rank: [{ with: "done", value: "DONE" }, "OPEN"] },
          ...item,
        },
      },
    },
  });

test("a field is filled from the first source that a row has, by every write", async () => {
  const table = engine.freshTableName("filled");
  const sent: SentRequest[] = [];
  const db = graphIn(table).connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  const keys = async (id: string) => {
    const { Item = {} } = await engine.transport.send("GetItem", {
      TableName: table,
      Key: { PK: { S: `TICKET#${id}` }, SK: { S: "TICKET" } },
    });
    const { GSI1PK, GSI1SK, queue, rank } = Item as Record<string, { readonly S: string }>;
    expect([queue, rank]).toEqual([undefined, undefined]);
    return [GSI1PK?.S, GSI1SK?.S];
  };
  expect(await db.ticket.create({ id: "1", team: "core" })).toMatchObject({ ok: true, row: { queue: "core", rank: "OPEN" } });
  await db.ticket.put({ id: "2", team: "core", worker: { name: "ann" } }).orThrow();
  expect(await keys("1")).toEqual(["QUEUE#core", "OPEN#1"]);
  expect(await keys("2")).toEqual(["QUEUE#ann", "OPEN#2"]);
  expect(await db.ticket.get({ id: "2" })).toEqual({ id: "2", team: "core", worker: { name: "ann" }, queue: "ann", rank: "OPEN" });

  // A change of a source reads the item and changes the keys, also of one that a read gave.
  sent.length = 0;
  expect(await db.ticket.update({ id: "1" }, { worker: { name: "ben" } })).toMatchObject({ ok: true });
  expect(sent.map(({ operation }) => operation)).toEqual(["GetItem", "UpdateItem"]);
  expect(await keys("1")).toEqual(["QUEUE#ben", "OPEN#1"]);
  await db.ticket.update({ id: "1" }, { remove: ["worker"] }).orThrow();
  expect(await keys("1")).toEqual(["QUEUE#core", "OPEN#1"]);
  await db.ticket.update({ id: "2" }, { set: { "worker.name": "cy", done: true } }).orThrow();
  expect(await keys("2")).toEqual(["QUEUE#cy", "DONE#2"]);
  const row = await db.ticket.get({ id: "2" });
  await db.ticket.put({ ...row!, worker: { name: "dan" } }).orThrow();
  expect(await keys("2")).toEqual(["QUEUE#dan", "DONE#2"]);
  await expect(db.ticket.update({ id: "1" }, { queue: "x" }).run()).rejects.toMatchObject({ code: "schema.immutableAttribute" });

  // Searches name the field.
  await db.ticket.put({ id: "3", team: "core", done: true }).orThrow();
  sent.length = 0;
  expect(await db.find("ticket").where({ queue: "core", rank: "OPEN" }).rows()).toMatchObject([{ id: "1" }]);
  expect(sent.at(-1)?.input).toMatchObject({
    KeyConditionExpression: "GSI1PK = :p AND begins_with(GSI1SK, :s)",
    ExpressionAttributeValues: { ":p": { S: "QUEUE#core" }, ":s": { S: "OPEN#" } },
  });
  expect(await db.find("ticket").where({ queue: "core" }).rows()).toMatchObject([{ id: "3" }, { id: "1" }]);
  expect(await verify(db)).toMatchObject({ clean: true });
  await engine.transport.send("UpdateItem", {
    TableName: table,
    Key: { PK: { S: "TICKET#1" }, SK: { S: "TICKET" } },
    UpdateExpression: "SET GSI1PK = :v",
    ExpressionAttributeValues: { ":v": { S: "QUEUE#other" } },
  });
  expect(await verify(db, { repair: true })).toMatchObject({ kinds: [{ kind: "indexKey", count: 1, repaired: 1 }] });
  expect(await keys("1")).toEqual(["QUEUE#core", "OPEN#1"]);
});

test.each([
  [{ fill: { queu: ["{team}"], rank: ["OPEN"] } }, '"queu" is not an attribute of "ticket"'],
  [{ fill: { queue: ["{tem}"], rank: ["OPEN"] } }, '"tem" is not an attribute of "ticket"'],
  [{ fill: { queue: [], rank: ["OPEN"] } }, "nothing fills it"],
  [{ fill: { queue: ["{team"], rank: ["OPEN"] } }, 'layout.nodes.ticket.fill.queue: key template "{team"'],
  [{ fill: { queue: ["{team}"], rank: [{ with: "done", value: "{id:nowhere}" }] } }, "layout.nodes.ticket.fill.rank: key template"],
  [{ fill: { queue: ["{queue}"], rank: ["OPEN"] } }, "it would be filled from itself"],
  [{ fill: { team: ["{id}"] } }, '"team" has to be in a key of an index from which it is read'],
] as const)("%j is refused", (item, message) => {
  expect(() => graphIn("Filled", item as never)).toThrow(message);
});

test("a filled field that nothing fills any more is not in the row of a transaction", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("unfilled"),
    nodes: { ticket: node({ key: "TICKET#{id}", schema: z.object({ id: text, worker: text.optional(), queue: text.optional() }) }) },
    layout: layoutOf({
      nodes: {
        ticket: {
          keys: { SK: "TICKET", GSI1PK: "QUEUE#{queue}", GSI1SK: "{id}" },
          fill: { queue: ["{worker}"] },
          verbatim: ["worker"],
          sparse: ["GSI1PK", "GSI1SK"],
        },
      },
    }),
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.ticket.create({ id: "1", worker: "ann" }).orThrow();
  const row = async (changes: object) => (await db.transact([db.ticket.update({ id: "1" }, changes)])).outcomes[0];
  expect(await row({ worker: "ben" })).toMatchObject({ ok: true, row: { id: "1", worker: "ben", queue: "ben" } });
  expect(await row({ remove: ["worker"] })).toHaveProperty("row", { id: "1" });
  expect(await db.ticket.get({ id: "1" })).toEqual({ id: "1" });
});

test("a link answers with what its layout fills, and counts go by it", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("filledEdge"),
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id: text }) }),
      team: node({ key: "TEAM#{id}", schema: z.object({ id: text }) }),
    },
    edges: {
      joins: edge({ from: "user", to: "team", schema: z.object({ role: text.optional(), rank: text.optional(), note: text.optional() }) }),
    },
    layout: layoutOf({
      nodes: { user: { keys: { SK: "USER" } }, team: { keys: { SK: "TEAM" } } },
      edges: {
        joins: {
          keys: { SK: "JOINS#{to}", GSI1PK: "RANK#{rank}", GSI1SK: "{from}" },
          fill: { rank: ["{role}", "NONE"] },
          verbatim: { Role: "role" },
        },
      },
    }),
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const [user, team] = [{ id: "u" }, { id: "t" }];
  await db.user.create(user).orThrow();
  await db.team.create(team).orThrow();
  expect((await db.joins.link(user, team, {})).row).toEqual({ from: user, to: team, rank: "NONE" });
  expect((await db.joins.put(user, team, { role: "lead", rank: "else" })).row).toEqual({
    from: user,
    to: team,
    role: "lead",
    rank: "lead",
  });
  expect(await db.joins.get(user, team)).toEqual({ from: user, to: team, role: "lead", rank: "lead" });
  expect(await db.find("joins").where({ rank: "lead" }).rows()).toHaveLength(1);
});

test("a key whose condition names a filled field follows what fills it", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("filledWhen"),
    nodes: {
      ticket: node({ key: "TICKET#{id}", schema: z.object({ id: text, team: text, worker: text.optional(), queue: text.optional() }) }),
    },
    layout: layoutOf({
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" }, GSI2: { partitionKey: "GSI2PK" } },
      nodes: {
        ticket: {
          keys: { SK: "TICKET", GSI1PK: "QUEUE#{queue}", GSI1SK: "{id}", GSI2PK: "WAITS#{team}" },
          fill: { queue: ["{worker}", "NONE"] },
          verbatim: ["team", "worker"],
          when: { GSI2PK: { queue: "NONE" } },
        },
      },
    }),
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.ticket.create({ id: "1", team: "T" }).orThrow();
  const waiting = async () => (await db.find("ticket").where({ team: "T", queue: "NONE" }).using("GSI2").rows()).length;
  expect(await waiting()).toBe(1);
  await db.ticket.update({ id: "1" }, { worker: "ann" }).orThrow();
  expect(await verify(db)).toMatchObject({ clean: true });
  expect(await waiting()).toBe(0);
  await db.ticket.update({ id: "1" }, { remove: ["worker"] }).orThrow();
  expect(await verify(db)).toMatchObject({ clean: true });
  expect(await waiting()).toBe(1);
});

test("no marker, copy or count of a transaction goes by a filled field, whose changes it does not see", () => {
  const model =
    (more: object, counted: object = {}) =>
    () =>
      defineGraph({
        table: "Filled",
        nodes: {
          user: node({ key: "USER#{id}", schema: z.object({ id: text }), ...counted } as never),
          ticket: node({
            key: "TICKET#{id}",
            schema: z.object({ id: text, worker: text.optional(), queue: text.optional() }),
            ...more,
          } as never),
        },
        parts: {
          note: part({ of: "ticket", key: "NOTE#{k}", schema: z.object({ k: text }) }),
          task: part({ of: "user", key: "TASK#{k}", schema: z.object({ k: text, by: text.optional(), lane: text.optional() }) }),
        },
        layout: layoutOf({
          nodes: {
            user: { keys: { SK: "USER" } },
            ticket: { keys: { SK: "T", GSI1PK: "Q#{queue}", GSI1SK: "{id}" }, fill: { queue: ["{worker}", "NONE"] } },
          },
          parts: { task: { keys: { GSI1PK: "L#{lane}", GSI1SK: "{k}" }, fill: { lane: ["{by}", "NONE"] } } },
        }),
      } as never);
  expect(model({})).not.toThrow();
  expect(model({ unique: ["queue"] })).toThrow(/layout\.nodes\.ticket\.fill\.queue: .*unique/);
  expect(model({}, { derived: { waiting: count({ parts: "task", where: { lane: "NONE" } }) } })).toThrow(
    /layout\.parts\.task\.fill\.lane: .*"waiting"/,
  );
  expect(model({}, { derived: { waiting: count({ parts: "task", where: { lane: "NONE" }, freshness: "stream" }) } })).not.toThrow();
});

test.each(["{queue}#{worker}", "{worker}#{worker?:lower}"])(
  "no search takes an index for whole whose key (%s) needs what may be missing",
  async (GSI1SK) => {
    const graph = defineGraph({
      table: engine.freshTableName("filledBeside"),
      nodes: {
        ticket: node({ key: "TICKET#{id}", schema: z.object({ id: text, team: text, worker: text.optional(), queue: text.optional() }) }),
      },
      layout: layoutOf({
        indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" }, GSI2: { partitionKey: "GSI2PK" } },
        nodes: {
          ticket: {
            keys: { SK: "TICKET", GSI1PK: "TEAM#{team}", GSI1SK, GSI2PK: "Q#{queue}" },
            fill: { queue: ["{worker}", "NONE"] },
            verbatim: ["team", "worker"],
            sparse: ["GSI1PK", "GSI1SK"],
          },
        },
      }),
    });
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    await db.ticket.create({ id: "1", team: "T", worker: "ann" }).orThrow();
    await db.ticket.create({ id: "2", team: "T" }).orThrow();
    await expect(async () => db.find("ticket").where({ team: "T" }).rows()).rejects.toMatchObject({ code: "plan.noIndex" });
    expect(await db.find("ticket").where({ team: "T", worker: "ann", queue: "ann" }).rows()).toMatchObject([{ id: "1" }]);
    expect(await db.find("ticket").where({ queue: "NONE" }).rows()).toMatchObject([{ id: "2" }]);
    await db.ticket.update({ id: "2" }, { worker: "ben" }).orThrow();
    await db.ticket.update({ id: "1" }, { remove: ["worker"] }).orThrow();
    expect(await db.find("ticket").where({ team: "T" }).using("GSI1").rows()).toMatchObject([{ id: "2" }]);
    expect(await verify(db)).toMatchObject({ clean: true });
  },
);
