import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { verify } from "../verify/index.ts";
import { defineGraph, edge, node, part, type Layout } from "../index.ts";
import type { Transport } from "../transport/transport.ts";

const text = z.string();
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

// Keys as ElectroDB writes them: values in lower case, and as they are in attributes beside.
const layout: Layout = {
  partitionKey: "pk",
  sortKey: "sk",
  typeAttribute: "type",
  indexes: {
    gsi1: { partitionKey: "gsi1pk", sortKey: "gsi1sk" },
    gsi2: { partitionKey: "gsi2pk", sortKey: "gsi2sk" },
    keys: { partitionKey: "gsi3pk", sortKey: "gsi3sk", projection: "KEYS_ONLY" },
  },
  nodes: {
    student: {
      keys: {
        sk: "$student",
        gsi1pk: "$school#team_{team:lower}",
        gsi1sk: "$student#name_{name:lower}",
        gsi2pk: "$school#city_{city:upper}",
        gsi2sk: "{studentId:written}#{name:written}",
        gsi3pk: "$school#team_{team:lower}",
        gsi3sk: "$student",
      },
      sparse: ["gsi2pk", "gsi2sk"],
    },
    course: { keys: { sk: "$course" } },
  },
  parts: { note: { keys: { sk: "$note#at_{at:lower}" }, verbatim: ["studentId"] } },
  edges: {
    takes: {
      keys: {
        sk: "$takes#course_{to.courseId:lower}",
        gsi1pk: "$school#course_{to.courseId:lower}",
        gsi1sk: "$takes#student_{from.studentId:lower}",
      },
      verbatim: { studentId: "from.studentId", courseId: "to.courseId" },
    },
  },
};

const open = async () => {
  const table = engine.freshTableName("folded");
  const graph = defineGraph({
    table,
    nodes: {
      student: node({
        key: "$school#student_{studentId:lower}",
        schema: z.object({ studentId: text, name: text, team: text, city: text.optional(), email: text.optional() }),
        unique: ["email"],
      }),
      course: node({ key: "$school#course_{courseId:lower}", schema: z.object({ courseId: text }) }),
    },
    parts: { note: part({ of: "student", key: "$note#at_{at:lower}", schema: z.object({ at: text, words: text }) }) },
    edges: { takes: edge({ from: "student", to: "course", schema: z.object({ grade: text.optional() }) }) },
    layout,
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
  return { db, table, sent };
};

const ann = { studentId: "S-Ann", name: "Ann #1", team: "Core" };

describe("a node whose key holds its id in lower case", () => {
  test("is one item, whichever case the id is given in, and its row has the id as it was put", async () => {
    const { db, sent } = await open();
    await db.student.create({ ...ann, email: "ann@x" }).orThrow();
    sent.length = 0;
    expect(await db.student.get({ studentId: "s-ANN" })).toEqual({ ...ann, email: "ann@x" });
    expect(sent[0]?.[1]).toMatchObject({ Key: { pk: { S: "$school#student_s-ann" }, sk: { S: "$student" } } });
    expect(await db.student.create({ ...ann, studentId: "S-ANN" })).toMatchObject({ ok: false, reason: "exists" });
    expect(await db.student.by({ email: "ann@x" })).toMatchObject(ann);
    // The marker of a unique value is the same node's.
    await db.student.put({ ...ann, studentId: "s-ann", email: "ann@x" }).orThrow();
    expect(await db.student.getMany([{ studentId: "S-ANN" }])).toMatchObject([{ studentId: "s-ann" }]);
    await db.student.delete({ studentId: "S-Ann" }).orThrow();
    expect(await db.student.get({ studentId: "s-ann" })).toBeUndefined();
  });

  test("may be stated in another case in the row of its part", async () => {
    const { db } = await open();
    const row = { studentId: "s-ANN", at: "1", words: "w" };
    const other = { ...row, studentId: "S-Bob" };
    await db.note.put({ studentId: "S-Ann" }, row).orThrow();
    expect(() => db.note.put({ studentId: "S-Ann" }, other)).toThrow(
      /^"studentId" in the row of "note" is "S-Bob", and the call names the "student" with "S-Ann"\./,
    );
  });

  test("keeps the id as it is in keys that are not in lower case, whoever changes it", async () => {
    const { db, table, sent } = await open();
    await db.student.create({ ...ann, city: "Oslo" }).orThrow();
    const item = async () =>
      (await engine.transport.send("Scan", { TableName: table })).Items?.find(({ sk }) => sk && "S" in sk && sk.S === "$student");
    expect(await item()).toMatchObject({ gsi2pk: { S: "$school#city_OSLO" }, gsi2sk: { S: "S-Ann#Ann #1" } });
    sent.length = 0;
    await db.student.update({ studentId: "s-ann" }, { team: "Web" }).orThrow();
    expect(sent.map(([operation]) => operation)).toEqual(["UpdateItem"]);
    await db.student.update({ studentId: "s-ann" }, { city: "Rome" }).orThrow();
    await db.student.update({ studentId: "s-ann" }, { name: "Bea" }).orThrow();
    expect(await item()).toEqual({
      pk: { S: "$school#student_s-ann" },
      sk: { S: "$student" },
      type: { S: "student" },
      gsi1pk: { S: "$school#team_web" },
      gsi1sk: { S: "$student#name_bea" },
      gsi2pk: { S: "$school#city_ROME" },
      gsi2sk: { S: "S-Ann#Bea" },
      gsi3pk: { S: "$school#team_web" },
      gsi3sk: { S: "$student" },
      studentId: { S: "S-Ann" },
      name: { S: "Bea" },
      team: { S: "Web" },
      city: { S: "Rome" },
    });
    expect(await verify(db)).toMatchObject({ clean: true });
  });

  test("has its edges and parts under any case of its id", async () => {
    const { db } = await open();
    await db.student.create(ann).orThrow();
    await db.course.create({ courseId: "Math" }).orThrow();
    await db.takes.link({ studentId: "S-ANN" }, { courseId: "MATH" }, { grade: "A" }).orThrow();
    await db.note.create({ studentId: "S-Ann" }, { at: "Mon", words: "late" }).orThrow();
    const edges = [{ from: { studentId: "S-ANN" }, to: { courseId: "MATH" }, grade: "A" }];
    expect(await db.student({ studentId: "s-ann" }).out("takes").edges()).toEqual(edges);
    expect(await db.course({ courseId: "math" }).in("takes").edges()).toEqual(edges);
    expect(await db.course({ courseId: "math" }).in("takes").nodes()).toEqual([ann]);
    expect(await db.takes.get({ studentId: "s-ann" }, { courseId: "math" })).toEqual(edges[0]);
    expect(await db.takes.link({ studentId: "S-Ann" }, { courseId: "math" })).toMatchObject({ ok: false, reason: "exists" });
    expect(await db.student({ studentId: "s-ann" }).parts("note").all()).toEqual([{ studentId: "S-Ann", at: "Mon", words: "late" }]);
    expect(await db.student({ studentId: "s-ann" }).walk().out("takes").nodes()).toMatchObject({ items: [{ courseId: "Math" }] });
    expect(await verify(db)).toMatchObject({ clean: true });
  });
});

test("a level is the same in any case, and a node is in its collection under any case of its id", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("levels"),
    nodes: { member: node({ key: "M#{team:lower}#{id:lower}", schema: z.object({ team: text, id: text }) }) },
    edges: { knows: edge({ from: "member", to: "member", ends: "unchecked" }) },
    layout: {
      partitionKey: "pk",
      sortKey: "sk",
      indexes: { byTeam: { partitionKey: "tpk", sortKey: "tsk" } },
      nodes: { member: { keys: { sk: "$member" } } },
      edges: {
        knows: {
          keys: { sk: "$knows#{to}", tpk: "T#{from.team:lower}", tsk: "{from.id:lower}#{to}" },
          verbatim: { team: "from.team", id: "from.id", toTeam: "to.team", toId: "to.id" },
        },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const [bea, cid, dan] = [
    { team: "Core", id: "Bea" },
    { team: "Core", id: "Cid" },
    { team: "Web", id: "Dan" },
  ];
  for (const one of [bea, cid, dan]) await db.member.put(one).orThrow();
  for (const one of [cid, dan]) await db.knows.put(bea, one).orThrow();
  expect((await db.member({ team: "core", id: "BEA" }).collection()).node).toEqual(bea);
  const known = (team: string) => db.member.within({ team }).out("knows").walk();
  for (const team of ["Core", "core"])
    for (const others of ["start", "passed"] as const)
      expect((await known(team).except(others).ids()).items, `${team}, ${others}`).toEqual([{ team: "web", id: "dan" }]);
});

describe("searches by an index key in one case", () => {
  test("find by the key, and tell values apart that share it", async () => {
    const { db, sent } = await open();
    for (const [at, team] of ["Core", "CORE", "core", "Web"].entries())
      await db.student.create({ studentId: `S${at}`, name: `Name ${at}`, team }).orThrow();
    const read = async (call: PromiseLike<readonly { studentId: string }[]>) => {
      sent.length = 0;
      const rows = await call;
      const queries = sent.filter(([operation]) => operation === "Query").map(([, input]) => input);
      return { ids: rows.map(({ studentId }) => studentId).toSorted(), queries };
    };
    const byTeam = await read(db.find("student").where({ team: "Core" }).rows());
    expect(byTeam.ids).toEqual(["S0"]);
    expect(byTeam.queries).toMatchObject([
      {
        IndexName: "gsi1",
        KeyConditionExpression: "gsi1pk = :p AND begins_with(gsi1sk, :s)",
        FilterExpression: "#0 = :0",
        ExpressionAttributeNames: { "#0": "team" },
        ExpressionAttributeValues: { ":p": { S: "$school#team_core" }, ":0": { S: "Core" } },
      },
    ]);
    const prefix = await read(
      db
        .find("student")
        .where({ team: "CORE", name: { beginsWith: "N" } })
        .rows(),
    );
    expect(prefix.ids).toEqual(["S1"]);
    expect(prefix.queries[0]).toMatchObject({ ExpressionAttributeValues: { ":s": { S: "$student#name_n" } } });
    // The order of the key is not that of the values: a range is no range of the key.
    const range = await read(
      db
        .find("student")
        .where({ team: "core", name: { gte: "N" } })
        .rows(),
    );
    expect(range.ids).toEqual(["S2"]);
    expect(range.queries[0]).toMatchObject({ KeyConditionExpression: expect.not.stringContaining("BETWEEN") as unknown });
    expect(await db.find("student").where({ team: "Core" }).count()).toBe(1);
  });

  test("refuse an index that leaves the id out", async () => {
    const { db } = await open();
    await expect(db.find("student").where({ studentId: "S1" }).using("keys").rows()).rejects.toMatchObject({
      code: "plan.noIndex",
      message: expect.stringContaining('"keys" does not find "student"') as unknown,
    });
    await expect(db.find("student").where({ team: "Core" }).using("keys").rows()).rejects.toMatchObject({ code: "plan.noIndex" });
  });
});

test.each([
  [
    "an edge whose ends are stored nowhere else",
    { ...layout, edges: { takes: { ...layout.edges!["takes"]!, verbatim: { studentId: "from.studentId" } } } },
    '{to.courseId} is in the table\'s keys as {to.courseId:lower} alone, which cannot be read back. Store it beside them: verbatim: { courseId: "to.courseId" }.',
  ],
  [
    "a part whose node is stored nowhere else",
    { ...layout, parts: { note: { keys: layout.parts!["note"]!.keys! } } },
    '{studentId} is in the table\'s keys as {studentId:lower} alone, which cannot be read back. Store it beside them: verbatim: { studentId: "studentId" }.',
  ],
])("%s is refused", (_, refused, message) => {
  const define = () =>
    defineGraph({
      table: "Refused",
      nodes: {
        student: node({
          key: "$school#student_{studentId:lower}",
          schema: z.object({ studentId: text, name: text, team: text, city: text.optional() }),
        }),
        course: node({ key: "$school#course_{courseId:lower}", schema: z.object({ courseId: text }) }),
      },
      parts: { note: part({ of: "student", key: "$note#at_{at:lower}", schema: z.object({ at: text }) }) },
      edges: { takes: edge({ from: "student", to: "course" }) },
      layout: refused,
    });
  expect(define).toThrow(message);
});

test("a key of two texts that are both empty is refused by name", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("emptyKey"),
    nodes: { person: node({ key: "PERSON#{id}", schema: z.object({ id: text, first: text, last: text }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { person: { keys: { SK: "PERSON", GSI1PK: "{first:lower}{last:lower}", GSI1SK: "{id}" } } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.person.create({ id: "1", first: "", last: "Roe" }).orThrow();
  await expect(db.person.create({ id: "2", first: "", last: "" }).run()).rejects.toMatchObject({ code: "keys.empty" });
});

test("an id in another case finds an item whose key holds more than the id", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("foldedMore"),
    nodes: {
      log: node({ key: "LOG#{id:lower}", schema: z.object({ id: text, at: text, title: text }) }),
      topic: node({ key: "TOPIC#{id}", schema: z.object({ id: text }) }),
    },
    edges: { about: edge({ from: "log", to: "topic", schema: z.object({ at: text }), ends: "unchecked" }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      nodes: { log: { keys: { SK: "AT#{at}" } }, topic: { keys: { SK: "TOPIC" } } },
      edges: { about: { keys: { SK: "ABOUT#{to}#{at}" }, verbatim: { logId: "from.id" } } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.log.create({ id: "A", at: "1", title: "x" }).orThrow();
  const id = { id: "a" };
  expect(await db.log.get(id)).toEqual({ id: "A", at: "1", title: "x" });
  expect(await db.log.update(id, { title: "y" })).toMatchObject({ ok: true, row: { id: "A", title: "y" } });
  expect(await db.log.update(id, { at: "2" })).toMatchObject({ ok: true, row: { id: "A", at: "2" } });
  await db.about.link({ id: "A" }, { id: "T" }, { at: "1" }).orThrow();
  expect(await db.about.relink(id, { id: "T" }, { at: "2" })).toMatchObject({ ok: true });
  expect(await db.about.unlink(id, { id: "T" })).toMatchObject({ ok: true });
  expect(await db.log.delete(id)).toMatchObject({ ok: true });
  expect(await db.log.get(id)).toBeUndefined();
});
