import { createFaultTransport } from "@edgetable/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { attemptError, count, defineGraph, edge, node, type Transport } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine(undefined, { alone: true });
});
afterAll(() => engine.close());

const text = z.string();

/** The first answer to every write is lost. */
const losingAll = () => createFaultTransport(engine.transport, { rates: { resetAfter: 1 }, maxConsecutive: 1 });

/** The answer to one request is lost, by its ordinal from 1 among those of these operations. */
const losingOne = (lost: number, operations = /^(Put|Update|Delete|TransactWrite)(Items?|Table)$/) => {
  const sent: string[] = [];
  const transport: Transport = {
    send: async (operation, input, options) => {
      const isLost = operations.test(operation) && sent.push(operation) === lost;
      const output = await engine.transport.send(operation, input, options);
      if (isLost) throw attemptError({ operation, input }, { code: "execute.connection", message: "reset", ambiguous: true });
      return output;
    },
    close: () => undefined,
  };
  return { sent, transport };
};

interface Connected {
  readonly transport: Transport;
  readonly table: string;
}

/** Does work on a fresh table, with the first answers to all writes lost. */
const losing = async (work: (connected: Connected) => Promise<void>): Promise<void> => {
  const lying = losingAll();
  await work({ transport: lying, table: engine.freshTableName("lost") });
  expect(lying.log.length).toBeGreaterThan(5);
};

/** Does work on fresh tables, with the answer to each write lost in turn. */
const losingInTurn = async (work: (connected: Connected) => Promise<void>): Promise<void> => {
  for (let lost = 1; ; lost++) {
    const { sent, transport } = losingOne(lost);
    await work({ transport, table: engine.freshTableName("lost") });
    if (sent.length < lost) return;
  }
};

const people = (table: string) => {
  const ends = { from: "person", to: "person", onDelete: { from: "cascade", to: "cascade" } } as const;
  const schema = z.object({ id: text, name: text, until: z.int().optional() });
  const key = "PERSON#{id}" as const;
  const before = defineGraph({
    table,
    nodes: { person: node({ key, schema }) },
    edges: { knows: edge(ends) },
    indexes: { byOldName: { entries: { person: "name" } } },
  });
  const after = defineGraph({
    table,
    nodes: {
      person: node({
        key,
        schema: z.object({ id: text, name: text }),
        derived: { known: count({ in: "knows" }), knows: count({ out: "knows", freshness: "stream" }) },
      }),
    },
    edges: { knows: edge({ ...ends, copies: { to: ["name"], from: { by: { of: "name", freshness: "stream" } } } }) },
    indexes: { byName: { entries: { person: "name" } } },
  });
  return { before, after };
};

const fill = async ({ before }: ReturnType<typeof people>): Promise<void> => {
  const db = before.connect({ transport: engine.transport });
  await db.table.create();
  for (const id of ["a", "b", "c"]) await db.person.create({ id, name: `N${id}` }).orThrow();
  await db.knows.link({ id: "a" }, { id: "b" }).orThrow();
  await db.knows.link({ id: "c" }, { id: "b" }).orThrow();
};

const migrate = async ({ after }: ReturnType<typeof people>, transport: Transport): Promise<void> => {
  const db = after.connect({ transport });
  expect(await db.migrations.run({ share: 100, indexLag: 0, finish: true })).toMatchObject({ complete: true });
  const plain = after.connect({ transport: engine.transport });
  expect(await plain.find("person").where({ name: "Nb" }).rows()).toEqual([{ id: "b", name: "Nb", known: 2, knows: 0 }]);
  expect(await plain.person({ id: "a" }).out("knows").edges()).toMatchObject([{ name: "Nb", by: "Na" }]);
  expect(await plain.migrations.status()).toMatchObject({ state: "current" });
  expect(await plain.jobs.list()).toEqual([]);
};

// One migration for each of its writes, each of which creates an index and deletes one.
test("a migration ends although the answers to its writes are lost, each in turn or all of them", async () => {
  const work = async ({ table, transport }: Connected): Promise<void> => {
    const graph = people(table);
    await fill(graph);
    await migrate(graph, transport);
  };
  await losing(work);
  await losingInTurn(work);
});

test("a migration ends although the answers to its changes of the table are lost", async () => {
  const table = engine.freshTableName("lost");
  const of = (given: object) =>
    defineGraph({
      table,
      nodes: { person: node({ key: "PERSON#{id}", schema: z.object({ id: text, until: z.int().optional() }), ...given }) },
      edges: { knows: edge({ from: "person", to: "person" }) },
    });
  await of({}).connect({ transport: engine.transport }).table.create();
  const { sent, transport } = losingOne(1, /^UpdateTimeToLive$/);
  const db = of({ ttl: "until" }).connect({ transport });
  expect(await db.migrations.run({ share: 100, indexLag: 0, finish: true })).toMatchObject({ complete: true });
  expect(sent.length).toBeGreaterThan(0);
  expect(await db.migrations.status()).toMatchObject({ state: "current" });
});

const issues = (storage: "items" | "document", table: string) =>
  defineGraph({
    table,
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, num: z.int() }),
        fields: { of: "project", orderBy: "num:6", storage },
      }),
    },
  });

const project = { projectId: "P" };

const fillIssues = async (table: string, storage: "items" | "document"): Promise<void> => {
  const db = issues(storage, table).connect({ transport: engine.transport });
  await db.table.create({ stream: true });
  await db.project.create(project).orThrow();
  await db.issue.fields(project).define({ fieldId: "size", name: "Size", type: "text" });
  for (let num = 1; num <= 3; num++) {
    await db.issue.create({ issueId: `i${num}`, ...project, num }).orThrow();
    await db.issue.values({ issueId: `i${num}` }).set({ size: num === 3 ? "big" : String(num) });
  }
};

test.each(["items", "document"] as const)("values are moved from %s although answers are lost", async (storage) => {
  const to = storage === "items" ? "document" : "items";
  await losing(async ({ table, transport }) => {
    await fillIssues(table, storage);
    const db = issues(to, table).connect({ transport });
    expect(await db.migrations.run({ share: 100, indexLag: 0, finish: true })).toMatchObject({ complete: true });
    const plain = issues(to, table).connect({ transport: engine.transport });
    for (const num of [1, 2])
      expect(await plain.issue.values({ issueId: `i${num}` }).get()).toMatchObject({ size: { value: String(num) } });
    expect(await plain.jobs.list()).toEqual([]);
  });
});

test.each(["items", "document"] as const)("a field with values in %s is retyped and deleted although answers are lost", async (storage) => {
  await losing(async ({ table, transport }) => {
    await fillIssues(table, storage);
    const fields = issues(storage, table).connect({ transport }).issue.fields(project);
    expect(await fields.retype("size", { type: "number" }, { losing: "remove", indexLag: 0 })).toMatchObject({
      field: { type: "number" },
    });
    const plain = issues(storage, table).connect({ transport: engine.transport });
    const values = async () =>
      Promise.all([1, 2, 3].map(async (num) => (await plain.issue.values({ issueId: `i${num}` }).get())?.["size"]?.value));
    expect(await values()).toEqual([1, 2, undefined]);
    await fields.delete("size", { indexLag: 0 });
    expect(await plain.issue.fields(project).list()).toEqual([]);
    expect(await plain.jobs.list()).toEqual([]);
  });
});
