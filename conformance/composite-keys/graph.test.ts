import { defineGraph, edge, node, part, type QueryInput, type SentRequest, type Transport } from "edgetable";

import { verify } from "edgetable/verify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { endpoint, forthAndBack, freshTableName, openTransport } from "./engine.ts";

const text = z.string();

/** Teams, their members and notes: index keys that templates make, with a shard, a condition and a mirror. */
const companyIn = (table: string, shards = "2") =>
  defineGraph({
    table,
    nodes: {
      team: node({ key: "T#{teamId}", schema: z.object({ teamId: text, name: text }) }),
      user: node({ key: "U#{userId}", schema: z.object({ userId: text, name: text }), mirror: true }),
      task: node({ key: "K#{taskId}", schema: z.object({ taskId: text, team: text, status: text, priority: z.number(), at: text }) }),
    },
    parts: { note: part({ of: "user", key: "N#{noteId}", schema: z.object({ noteId: text, at: text }) }) },
    edges: {
      member: edge({ from: "team", to: "user", orderBy: "since", schema: z.object({ since: text, role: text }) }),
    },
    layout: {
      partitionKey: "pk",
      sortKey: "sk",
      indexes: {
        byUser: { partitionKey: ["userKey", "shard"], sortKey: ["kind", "since"] },
        mirror: { partitionKey: "mirrorPk", sortKey: ["mirrorKind", "mirrorSk"] },
        open: { partitionKey: ["openTeam", "openStatus"], sortKey: ["priority", "at"] },
      },
      types: { priority: "N" },
      nodes: {
        user: { keys: { mirrorPk: "{key}", mirrorKind: "USER", mirrorSk: "{key}" } },
        task: { keys: { openTeam: "TEAM#{team}", openStatus: "OPEN" }, when: { openTeam: { status: "open" } } },
      },
      edges: {
        member: {
          keys: {
            userKey: "{to}",
            shard: `{from.teamId:shard(${shards})}`,
            kind: "MEMBER",
            mirrorPk: "{to}",
            mirrorKind: "MEMBER",
            mirrorSk: "{since}#{from}",
          },
        },
      },
      parts: { note: { keys: { userKey: "U#{userId}", shard: "{noteId:shard(2)}", kind: "NOTE", since: "{at}" } } },
    },
  });

describe.skipIf(endpoint === undefined)("a graph with index keys of several attributes", () => {
  let transport: Transport;
  beforeAll(() => {
    transport = openTransport();
  });
  afterAll(() => transport.close());

  const open = async () => {
    const table = freshTableName("company");
    const sent: SentRequest[] = [];
    const db = companyIn(table).connect({ transport, onRequest: (one) => sent.push(one) });
    await db.table.create();
    return { table, sent, db };
  };

  const filled = async () => {
    const lab = await open();
    const { db } = lab;
    for (const userId of ["u1", "u2"]) await db.user.create({ userId, name: userId }).orThrow();
    for (let at = 0; at < 7; at++) {
      const teamId = `t${at}`;
      await db.team.create({ teamId, name: teamId }).orThrow();
      await db.member.link({ teamId }, { userId: "u1" }, { since: `202${9 - at}`, role: at % 2 ? "lead" : "dev" }).orThrow();
      if (at < 3) await db.member.link({ teamId }, { userId: "u2" }, { since: `201${at}`, role: "dev" }).orThrow();
      await db.note.create({ userId: "u1" }, { noteId: String(at), at: `200${at}` }).orThrow();
    }
    return lab;
  };

  const teams = (rows: readonly { readonly from: { readonly teamId: string } }[]) => rows.map(({ from }) => from.teamId);

  test("edges come by such an index in their order, whole, in pages and by a range", async () => {
    const { db, sent } = await filled();
    const members = db.user({ userId: "u1" }).in("member").using("byUser");
    sent.length = 0;
    expect(teams(await members.edges())).toEqual(["t6", "t5", "t4", "t3", "t2", "t1", "t0"]);
    expect(sent.map(({ operation }) => operation)).toEqual(["Query", "Query"]);
    expect(teams(await members.where({ since: { gte: "2026" } }).edges())).toEqual(["t3", "t2", "t1", "t0"]);
    for (const limit of [1, 2, 3]) {
      const { forth, back } = await forthAndBack((options) => members.page({ ...options, of: "edges" }), limit);
      expect(teams(forth)).toEqual(["t6", "t5", "t4", "t3", "t2", "t1", "t0"]);
      expect(back).toEqual(forth);
    }
    expect(await members.count()).toBe(7);
    expect(await verify(db)).toMatchObject({ clean: true });
  });

  test.each([
    ["the node's key first", ["userKey", "kind"]],
    ["the node's key last", ["kind", "userKey"]],
    ["a shard beside it", ["userKey", "shard"]],
  ])("walks go over one whose partition key has %s", async (_, partitionKey) => {
    const sent: SentRequest[] = [];
    const graph = defineGraph({
      table: freshTableName("walks"),
      nodes: {
        team: node({ key: "T#{teamId}", schema: z.object({ teamId: text }) }),
        user: node({ key: "U#{userId}", schema: z.object({ userId: text }) }),
      },
      edges: { member: edge({ from: "team", to: "user", ends: "unchecked", schema: z.object({ since: text }) }) },
      layout: {
        partitionKey: "pk",
        sortKey: "sk",
        indexes: { byUser: { partitionKey, sortKey: ["since", "pk"] } },
        edges: { member: { keys: { userKey: "{to}", kind: "MEMBER", shard: "{from.teamId:shard(3)}", since: "{since}" } } },
      },
    });
    const db = graph.connect({ transport, onRequest: (one) => sent.push(one) });
    await db.table.create();
    // Each team has two members: t0 has u0 and u1, t1 has u1 and u2.
    for (let at = 0; at < 6; at++)
      for (const user of [at, at + 1])
        await db.member.link({ teamId: `t${at}` }, { userId: `u${user}` }, { since: `${2020 - at}` }).orThrow();
    sent.length = 0;
    const two = db.team({ teamId: "t2" }).out("member").in("member");
    const ids = [...(await two.ids())].map(({ teamId }) => teamId);
    expect(ids.toSorted()).toEqual(["t1", "t2", "t3"]);
    const queries = sent.map(({ input }) => (input as QueryInput).IndexName);
    expect(queries.filter((name) => name === "byUser")).toHaveLength(partitionKey.includes("shard") ? 6 : 2);
    expect(await db.team({ teamId: "t0" }).out("member").in("member").out("member").in("member").count()).toMatchObject({ count: 10 });
  });

  test("parts and edges of a kind are found by its attributes", async () => {
    const { db } = await filled();
    const found = await db
      .find("note")
      .where({ userId: "u1", at: { between: ["2002", "2004"] } })
      .using("byUser")
      .rows();
    expect(found.map(({ noteId }) => noteId)).toEqual(["2", "3", "4"]);
  });

  test("incoming() reads a node beside its edges, by several sort attributes", async () => {
    const { db, sent } = await filled();
    sent.length = 0;
    const { node: user, edges } = await db.user({ userId: "u2" }).incoming();
    expect(user?.name).toBe("u2");
    expect(teams(edges.member ?? [])).toEqual(["t0", "t1", "t2"]);
    expect(sent.map(({ operation }) => operation)).toEqual(["Query"]);
  });

  test("a condition of one attribute holds for the others, and updates move items in and out", async () => {
    const { db } = await open();
    const task = { taskId: "1", team: "red", status: "open", priority: -5, at: "2024" };
    await db.task.create(task).orThrow();
    await db.task.create({ ...task, taskId: "2", priority: 3 }).orThrow();
    await db.task.create({ ...task, taskId: "3", status: "done" }).orThrow();
    const ids = async (where: object = {}) =>
      (
        await db
          .find("task")
          .where({ team: "red", status: "open", ...where })
          .rows()
      ).map(({ taskId }) => taskId);
    expect(await ids()).toEqual(["1", "2"]);
    expect(await ids({ priority: { lt: 0 } })).toEqual(["1"]);
    await db.task.update({ taskId: "1" }, { status: "done" }).orThrow();
    await db.task.update({ taskId: "3" }, { status: "open", priority: 100 }).orThrow();
    expect(await ids()).toEqual(["2", "3"]);
    expect(await db.task.get({ taskId: "1" })).toEqual({ ...task, status: "done" });
    await expect(db.find("task").where({ team: "red", priority: 3 }).rows()).rejects.toMatchObject({ code: "plan.noIndex" });
    expect(await verify(db)).toMatchObject({ clean: true });
  });

  test("verify finds a wrong attribute, a missing one, and one that is left over", async () => {
    const { db, table } = await open();
    const task = { taskId: "1", team: "red", status: "open", priority: 1, at: "2024" };
    for (const taskId of ["1", "2", "3"]) await db.task.create({ ...task, taskId, status: taskId === "3" ? "done" : "open" }).orThrow();
    const damage = (id: string, UpdateExpression: string, values?: Record<string, { readonly S: string }>) =>
      transport.send("UpdateItem", {
        TableName: table,
        Key: { pk: { S: `K#${id}` }, sk: { S: `K#${id}` } },
        UpdateExpression,
        ...(values ? { ExpressionAttributeValues: values } : {}),
      });
    await damage("1", "SET openTeam = :v", { ":v": { S: "TEAM#blue" } });
    await damage("2", "REMOVE openStatus");
    await damage("3", "SET openStatus = :v", { ":v": { S: "OPEN" } });
    const found: unknown[] = [];
    const report = await verify(db, { onFinding: ({ kind, attribute, expected }) => void found.push([kind, attribute, expected]) });
    expect(report).toMatchObject({ clean: false });
    expect(found).toHaveLength(3);
    expect(found).toEqual(
      expect.arrayContaining([
        ["indexKey", "openTeam", "TEAM#red"],
        ["indexKey", "openStatus", "OPEN"],
        ["indexKey", "openStatus", undefined],
      ]),
    );
    await verify(db, { repair: true });
    expect(await verify(db)).toMatchObject({ clean: true });
    expect((await db.find("task").where({ team: "red", status: "open" }).rows()).map(({ taskId }) => taskId)).toEqual(["1", "2"]);
  });

  test("a resharding moves edges to the shards of a new count", async () => {
    const { db, table } = await filled();
    expect(await db.user({ userId: "u1" }).in("member").count()).toBe(7);
    const grown = companyIn(table, "5|2").connect({ transport });
    expect(teams(await grown.user({ userId: "u1" }).in("member").edges())).toHaveLength(7);
    const { moved } = await grown.reshard({ index: "byUser", indexLag: 0 });
    expect(moved).toBeGreaterThan(0);
    const after = companyIn(table, "5").connect({ transport });
    expect(teams(await after.user({ userId: "u1" }).in("member").edges())).toEqual(["t6", "t5", "t4", "t3", "t2", "t1", "t0"]);
    expect(await verify(after)).toMatchObject({ clean: true });
  });

  test("a migration adds such an index to a table, and fills the keys of its items", async () => {
    const table = freshTableName("migrated");
    const schema = z.object({ id: text, team: text, at: text });
    const modelOf = (indexed: boolean) =>
      defineGraph({
        table,
        nodes: { task: node({ key: "K#{id}", schema }) },
        layout: {
          partitionKey: "pk",
          sortKey: "sk",
          ...(indexed
            ? {
                indexes: { byTeam: { partitionKey: ["teamKey", "kind"], sortKey: ["at", "pk"] } },
                nodes: { task: { keys: { teamKey: "TEAM#{team}", kind: "TASK" }, verbatim: ["team"] } },
              }
            : {}),
        },
      }).connect({ transport });
    const before = modelOf(false);
    await before.table.create();
    for (const id of ["1", "2", "3"]) await before.task.create({ id, team: "red", at: `202${id}` }).orThrow();
    const after = modelOf(true);
    expect(await after.migrations.run({ indexLag: 0, finish: true })).toMatchObject({ complete: true });
    expect(
      (
        await after
          .find("task")
          .where({ team: "red", at: { gte: "2022" } })
          .rows()
      ).map(({ id }) => id),
    ).toEqual(["2", "3"]);
    expect(await verify(after)).toMatchObject({ clean: true });
  });

  test("several kinds with another value of a sort attribute come in one order, in pages forth and back", async () => {
    const entry = z.object({ id: text, team: text, at: text });
    const keys = { teamKey: "{team}", year: "2026" };
    const graph = defineGraph({
      table: freshTableName("diary"),
      nodes: { task: node({ key: "TASK#{id}", schema: entry }), event: node({ key: "EVENT#{id}", schema: entry }) },
      layout: {
        partitionKey: "pk",
        indexes: { byTeam: { partitionKey: ["teamKey", "year"], sortKey: ["kind", "at"] } },
        nodes: { task: { keys: { ...keys, kind: "TASK" } }, event: { keys: { ...keys, kind: "EVENT" } } },
      },
    });
    const db = graph.connect({ transport });
    await db.table.create();
    for (let at = 0; at < 9; at++) {
      const row = { id: String(at), team: "red", at: String(at) };
      await (at % 3 === 0 ? db.event.create(row) : db.task.create(row)).orThrow();
    }
    const search = db.find(["task", "event"]).where({ team: "red" });
    const all = (await search.rows()).map(({ row }) => row.at);
    expect(all).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
    for (const limit of [1, 2, 4]) {
      const { forth, back } = await forthAndBack((options) => search.page(options), limit);
      expect([forth, back].map((rows) => rows.map(({ row }) => row.at))).toEqual([all, all]);
    }
  });

  test("a migration refuses other attributes under an index's name", async () => {
    const { table } = await open();
    const graph = companyIn(table);
    const { definition } = graph.catalog;
    const layout = {
      ...definition.layout!,
      indexes: { ...definition.layout!.indexes, open: { partitionKey: ["openTeam"], sortKey: ["priority", "at"] } },
    };
    const changed = defineGraph({ ...definition, layout } as never).connect({ transport });
    const { refusals } = await changed.migrations.plan();
    expect(refusals).toEqual([expect.stringContaining("DynamoDB cannot change an index: give the new one another name.")]);
  });

  test("a tenant's connection reads by an index whose key names the tenant in one attribute", async () => {
    const table = freshTableName("tenants");
    const schema = z.object({ tenantId: text, id: text, team: text, at: text });
    const graph = defineGraph({
      table,
      nodes: { task: node({ key: "TENANT#{tenantId}#{id}", schema }) },
      layout: {
        partitionKey: "pk",
        indexes: { byTeam: { partitionKey: ["team", "tenantId"], sortKey: ["at", "pk"] } },
      },
    });
    const sent: SentRequest[] = [];
    const db = graph.connect({ transport, onRequest: (one) => sent.push(one) });
    await db.table.create();
    for (const tenantId of ["a", "b"])
      for (const id of ["1", "2"]) await db.as({ tenantId }).task.create({ id, team: "red", at: id }).orThrow();
    const own = db.as({ tenantId: "a" });
    await own.find("task").where({ team: "red" }).rows();
    sent.length = 0;
    expect((await own.find("task").where({ team: "red" }).rows()).map(({ id }) => id)).toEqual(["1", "2"]);
    expect(sent.map(({ operation }) => operation)).toEqual(["Query"]);
    expect(Object.values((sent[0]!.input as QueryInput).ExpressionAttributeValues ?? {})).toContainEqual({ S: "a" });
  });
});
