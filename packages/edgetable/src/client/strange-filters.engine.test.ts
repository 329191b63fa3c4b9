import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const numbered = z.object({ n: z.number() });
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: text, name: text }) }) },
    parts: { note: part({ of: "user", key: "NOTE#{n:3}", schema: numbered }) },
    edges: { knows: edge({ from: "user", to: "user", schema: numbered }) },
    indexes: { byName: { entries: { user: "name" } } },
  });

test.each([
  ["a list", []],
  ["a list of filters", [{ n: 1 }]],
  ["a Map", new Map([["n", 9]])],
  ["a Set", new Set(["n"])],
  ["a Date", new Date(0)],
])("%s as a filter is refused: its conditions would be ignored", async (_, given) => {
  const db = modelIn(engine.freshTableName("strange")).connect({ transport: engine.transport });
  await db.table.create();
  const id = { id: "a" };
  await db.user.create({ ...id, name: "Ann" }).orThrow();
  await db.knows.link(id, id, { n: 1 }).orThrow();
  const filter = given as never;
  const calls: readonly (() => PromiseLike<unknown>)[] = [
    () => db.user.delete(id, { if: filter }),
    () => db.user.update(id, { name: "Bob" }, { if: filter }),
    () => db.user.upsert({ ...id, name: "Bob" }, { name: "Bob" }, { if: filter }),
    () => db.transact([db.user.check(id, { if: filter })]),
    () => db.knows.unlink(id, id, { if: filter }),
    () => db.knows.relink(id, id, { n: 2 }, { if: filter }),
    () => db.find("user").where(filter).rows(),
    () => db.user(id).out("knows").where(filter).edges(),
    () => db.user(id).out("knows").where({ from: filter }).edges(),
    () => db.user(id).walk().out("knows").where(filter).ids(),
    () => db.user(id).walk().out("knows").whereNode(filter).ids(),
    () => db.user(id).walk().repeat({ out: "knows", where: filter }, { depth: 1 }).ids(),
    () => db.user(id).parts("note").where(filter).all(),
    () => db.user(id).shortestPath({ id: "b" }, { out: "knows", where: filter }),
  ];
  for (const call of calls) {
    const calling = async () => call();
    await expect(calling(), call.toString()).rejects.toMatchObject({ code: expect.stringMatching(/^(plan|schema)\./) as string });
  }
  expect(await db.user.get(id)).toEqual({ ...id, name: "Ann" });
  expect(await db.user(id).out("knows").edges()).toMatchObject([{ n: 1 }]);
});

test("a selection of nothing is refused", async () => {
  const db = modelIn("strange").connect({ transport: engine.transport });
  const says = (name: string) => `Name at least one attribute of "${name}" in select`;
  expect(() => db.find("user").select()).toThrow(says("user"));
  expect(() => db.user({ id: "a" }).out("knows").select()).toThrow(says("knows"));
  expect(() => db.user({ id: "a" }).parts("note").select()).toThrow(says("note"));
});
