import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { attemptError, defineGraph, node, type Transport } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine(undefined, { alone: true });
});
afterAll(() => engine.close());

const text = z.string();
const parent = { projectId: "p" };

/** The answer to one write is lost, by its ordinal from 1. */
const losingOne = (lost: number) => {
  const sent: string[] = [];
  const transport: Transport = {
    send: async (operation, input, options) => {
      const isLost = /^(Put|Update|Delete|TransactWrite)Items?$/.test(operation) && sent.push(operation) === lost;
      const output = await engine.transport.send(operation, input, options);
      if (isLost) throw attemptError({ operation, input }, { code: "execute.connection", message: "reset", ambiguous: true });
      return output;
    },
    close: () => undefined,
  };
  return { sent, transport };
};

const useGrid = async (transport: Transport, storage: "items" | "document"): Promise<void> => {
  const graph = defineGraph({
    table: engine.freshTableName("lost-grid"),
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, name: text }),
        fields: { of: "project", storage },
      }),
    },
  });
  const direct = graph.connect({ transport: engine.transport });
  await direct.table.create();
  await direct.project.create(parent).orThrow();
  for (const issueId of ["1", "2"]) await direct.issue.create({ issueId, ...parent, name: issueId }).orThrow();

  const db = graph.connect({ transport });
  const fields = db.issue.fields(parent);
  const { fieldId: size } = await fields.define({ name: "Size", type: "text" });
  const { fieldId: cost } = await fields.define({ name: "Cost", type: "number" });
  const [one, two] = [db.issue.values({ issueId: "1" }), db.issue.values({ issueId: "2" })];
  const valuesOf = async (values: typeof one) =>
    Object.fromEntries(Object.entries((await values.get()) ?? {}).map(([id, { value }]) => [id, value]));

  expect(await one.set({ [size]: "5" })).toMatchObject({ ok: true });
  expect(await two.set({ [size]: "large", [cost]: 7 })).toMatchObject({ ok: true });
  expect(await valuesOf(two)).toEqual({ [size]: "large", [cost]: 7 });
  expect(await two.set({ [cost]: null })).toMatchObject({ ok: true });
  expect(await two.set({ [cost]: null })).toMatchObject({ ok: true });
  expect(await valuesOf(two)).toEqual({ [size]: "large" });
  expect(await two.set({ [size]: null, [cost]: 8 })).toMatchObject({ ok: true });
  expect(await two.set({ [size]: null, [cost]: null })).toMatchObject({ ok: true });
  expect(await valuesOf(two)).toEqual({});
  expect(await fields.rename(cost, "Price")).toMatchObject({ name: "Price" });
  const views = db.issue.views(parent);
  const { viewId } = await views.save({ name: "All" });
  expect(await views.change(viewId, { name: "Every" })).toMatchObject({ name: "Every" });
  expect(await views.delete(viewId)).toBe(true);
  expect(await views.list()).toEqual([]);
  if (storage === "items") {
    await fields.retype(size, { type: "number" }, { indexLag: 0 });
    expect(await valuesOf(one)).toEqual({ [size]: 5 });
    await fields.delete(size, { indexLag: 0 });
    expect(await valuesOf(one)).toEqual({});
  }
  const records = [
    ["issueId", "name", "Price"],
    ["2", "two", "3"],
    ["3", "three", "4"],
  ];
  expect(await db.issue.grid(parent).importCsv(records)).toMatchObject({ created: 1, changed: 1, unfit: 0 });
  expect(await valuesOf(two)).toEqual({ [cost]: 3 });
};

test.each(["items", "document"] as const)(
  "whichever answer to a write of a grid is lost, the call does as it says, with %s",
  async (storage) => {
    for (let lost = 1; ; lost++) {
      const { sent, transport } = losingOne(lost);
      await useGrid(transport, storage);
      if (sent.length < lost) break;
      expect(sent.length).toBeGreaterThan(15);
    }
  },
);
