import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { defineGraph } from "../index.ts";
import { edge, node } from "../schema/definition.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";

let lab: WriteLab;
const codeOf = async (act: () => unknown): Promise<string> => {
  try {
    await act();
    return "none";
  } catch (error) {
    return isEdgetableError(error) ? error.code : String(error);
  }
};

describe("a field that only a sparse key carries", () => {
  beforeAll(async () => {
    const task = node({
      key: "TASK#{id}",
      schema: z.object({ id: z.string(), state: z.string().optional(), due: z.string().optional(), note: z.string().optional() }),
    });
    const layout = {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { byState: { partitionKey: "G1", sortKey: "SK" } },
      nodes: { task: { keys: { SK: "task", G1: "{state}#{due}" }, sparse: ["G1"] } },
    };
    lab = await openWriteLab({ table: "Sparse", layout, nodes: { task } });
  });
  afterAll(() => lab.stop());

  test("is never lost: a row with half of the key is refused, with all or none of it written", async () => {
    const create = (row: object) => () =>
      lab
        .node("task")
        .create({ id: "T0", ...row })
        .orThrow();
    expect(await codeOf(create({ state: "open" }))).toBe("keys.incomplete");
    expect(await codeOf(create({ due: "2024" }))).toBe("keys.incomplete");
    expect(await lab.items()).toEqual({});
    await lab.node("task").create({ id: "T1", note: "none" }).orThrow();
    await lab.node("task").create({ id: "T2", state: "open", due: "2024" }).orThrow();
    expect(await lab.items()).toEqual({
      "TASK#T1 / task": { PK: { S: "TASK#T1" }, SK: { S: "task" }, note: { S: "none" } },
      "TASK#T2 / task": { PK: { S: "TASK#T2" }, SK: { S: "task" }, G1: { S: "open#2024" } },
    });
  });

  test("is kept by an update: removing or setting half of the key is refused, both together are fine", async () => {
    const update = (id: string, changes: object) => () => lab.node("task").update({ id }, changes).orThrow();
    expect(await codeOf(update("T2", { remove: ["state"] }))).toBe("keys.incomplete");
    expect(await codeOf(update("T1", { state: "open" }))).toBe("keys.incomplete");
    expect((await lab.items())["TASK#T2 / task"]).toMatchObject({ G1: { S: "open#2024" } });
    await update("T2", { state: "done" })();
    expect((await lab.items())["TASK#T2 / task"]).toMatchObject({ G1: { S: "done#2024" } });
    await update("T2", { remove: ["state", "due"] })();
    await update("T1", { state: "new", due: "2025" })();
    const items = await lab.items();
    expect(items["TASK#T2 / task"]).not.toHaveProperty("G1");
    expect(items["TASK#T1 / task"]).toMatchObject({ G1: { S: "new#2025" } });
  });
});

describe("the keys of one index in an adopted layout", () => {
  const open = (sparse: readonly string[]): Promise<WriteLab> => {
    const note = node({ key: "{id}", schema: z.object({ id: z.string(), at: z.string(), by: z.string().optional() }) });
    const layout = {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { byAuthor: { partitionKey: "author", sortKey: "date" } },
      nodes: { note: { keys: { SK: "at#{at}", author: "{by}", date: "{at}" }, sparse } },
    };
    return openWriteLab({ table: "Notes", layout, nodes: { note } });
  };
  const item = { PK: { S: "N1" }, SK: { S: "at#2024" } };
  afterEach(() => lab.stop());

  test.each([
    { sparse: ["author"], alone: { ...item, date: { S: "2024" } } },
    { sparse: ["author", "date"], alone: item },
  ])("are left out together where both are sparse: $sparse", async ({ sparse, alone }) => {
    lab = await open(sparse);
    await lab.node("note").create({ id: "N1", at: "2024" }).orThrow();
    expect(await lab.items()).toEqual({ "N1 / at#2024": alone });
    await lab.node("note").update({ id: "N1" }, { by: "ann" }).orThrow();
    expect(await lab.items()).toEqual({ "N1 / at#2024": { ...item, author: { S: "ann" }, date: { S: "2024" } } });
    await lab
      .node("note")
      .update({ id: "N1" }, { remove: ["by"] })
      .orThrow();
    expect(await lab.items()).toEqual({ "N1 / at#2024": alone });
  });
});

describe("a reference edge in Edgetable's own layout", () => {
  beforeAll(async () => {
    const city = node({ key: "CITY#{cityId}", schema: z.object({ cityId: z.string() }) });
    const person = node({ key: "PERSON#{id}", schema: z.object({ id: z.string(), cityId: z.string().optional() }) });
    const livesIn = edge({ from: "person", to: "city", stored: "reference", multiplicity: "many-to-one" });
    lab = await openWriteLab({ table: "References", nodes: { city, person }, edges: { livesIn } });
  });
  afterAll(() => lab.stop());

  test("may be missing: the node then has no place in the index, and gets one with the reference", async () => {
    await lab.node("person").create({ id: "P1" }).orThrow();
    // An index entry is whole or not there.
    expect((await lab.items())["PERSON#P1 / #"]).toEqual({
      pk: { S: "PERSON#P1" },
      sk: { S: "#" },
      type: { S: "person" },
    });
    await lab.node("person").update({ id: "P1" }, { cityId: "Rome" }).orThrow();
    expect((await lab.items())["PERSON#P1 / #"]).toMatchObject({
      cityId: { S: "Rome" },
      gsi1pk: { S: "CITY#Rome" },
      gsi1sk: { S: "livesIn#PERSON#P1" },
    });
    await lab
      .node("person")
      .update({ id: "P1" }, { remove: ["cityId"] })
      .orThrow();
    expect(Object.keys((await lab.items())["PERSON#P1 / #"] ?? {}).toSorted()).toEqual(["pk", "sk", "type"]);
  });
});

describe("a sparse index whose sort key holds an attribute that the schema requires", () => {
  const text = z.string();
  const schema = z.object({ id: text, at: text, place: text.nullable(), tag: text.optional(), note: text.default("-") });
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(() => engine.stop());

  /** Two orders, one of them with a tag, in a table whose index sorts those of a tag by an attribute. */
  const searched = async (attribute: "at" | "place" | "note") => {
    const graph = defineGraph({
      table: engine.freshTableName("sparse"),
      nodes: { order: node({ key: "ORDER#{id}", schema }) },
      layout: {
        partitionKey: "PK",
        sortKey: "SK",
        indexes: { byTag: { partitionKey: "G1PK", sortKey: "G1SK" } },
        nodes: { order: { keys: { SK: "order", G1PK: "TAG#{tag}", G1SK: `{${attribute}}` }, sparse: ["G1PK", "G1SK"] } },
      },
    });
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    await db.order.create({ id: "1", at: "2024", tag: "new", place: "x" }).orThrow();
    await db.order.create({ id: "2", at: "2023", place: "x" }).orThrow();
    return db.find("order").where({ tag: "new" }).rows();
  };

  test("finds items by the rest of its keys: every item has that attribute", async () => {
    expect(await searched("at")).toMatchObject([{ id: "1", at: "2024" }]);
  });

  test("is not used where items may lack it, as null or for the schema's default", async () => {
    for (const attribute of ["place", "note"] as const) expect(await codeOf(() => searched(attribute))).toBe("plan.noIndex");
  });
});

test("a field that one key alone gives back is refused by the name of that key, and stored where the layout repeats it", async () => {
  const engine = await startEngine();
  const open = async (verbatim: readonly string[]) => {
    const graph = defineGraph({
      table: engine.freshTableName("alone"),
      nodes: {
        order: node({ key: "ORDER#{id}", schema: z.object({ id: z.string(), team: z.string().optional(), day: z.string().optional() }) }),
      },
      layout: {
        partitionKey: "PK",
        sortKey: "SK",
        indexes: { GSI1: { partitionKey: "GSI1PK" }, GSI2: { partitionKey: "GSI2PK" } },
        nodes: {
          order: {
            keys: { SK: "ORDER", GSI1PK: "DONE#{team}", GSI2PK: "TEAM#{team}#{day}" },
            sparse: ["GSI1PK", "GSI2PK"],
            when: { GSI1PK: { day: "never" } },
            verbatim,
          },
        },
      },
    });
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    return db;
  };
  const alone = await open([]);
  await expect(alone.order.create({ id: "1", team: "T" }).run()).rejects.toThrow(
    /"team" of "order" is read from "GSI2PK" \(TEAM#\{team\}#\{day\}\) alone, which cannot be filled without "day"\. .*verbatim/,
  );
  const repeated = await open(["team"]);
  await repeated.order.create({ id: "1", team: "T" }).orThrow();
  expect(await repeated.order.get({ id: "1" })).toEqual({ id: "1", team: "T" });
  await engine.stop();
});

test("a key that begins with a field which may be missing is missing with it: no search takes the index for whole", async () => {
  const engine = await startEngine();
  const text = z.string();
  const graph = defineGraph({
    table: engine.freshTableName("leading"),
    nodes: { task: node({ key: "TASK#{id}", schema: z.object({ id: text, team: text, owner: text.optional() }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { task: { keys: { SK: "TASK", GSI1PK: "TEAM#{team}", GSI1SK: "{owner?:lower}#{id}" }, sparse: ["GSI1PK", "GSI1SK"] } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.task.create({ id: "1", team: "T", owner: "Ann" }).orThrow();
  await db.task.create({ id: "2", team: "T" }).orThrow();
  expect(await codeOf(() => db.find("task").where({ team: "T" }).rows())).toBe("plan.noIndex");
  expect(await db.find("task").where({ team: "T", owner: "Ann" }).rows()).toMatchObject([{ id: "1" }]);
  expect(await db.find("task").where({ team: "T" }).using("GSI1").rows()).toMatchObject([{ id: "1" }]);
  await db.task.update({ id: "1" }, { remove: ["owner"] }).orThrow();
  expect(await db.find("task").where({ team: "T" }).using("GSI1").rows()).toEqual([]);
  await engine.stop();
});
