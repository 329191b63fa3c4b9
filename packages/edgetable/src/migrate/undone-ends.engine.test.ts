import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node } from "../schema/definition.ts";
import { fast, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

openMigrationsLab();

const id = { id: z.string() };
const schema = z.object({ w: z.int(), k: z.string() });
const renamed = { schema: z.object({ w: z.int(), label: z.string() }), renamed: { label: { from: "k", stored: "new" } } };

// oxlint-disable-next-line typescript/no-explicit-any -- a model made of variable parts has no types
const connectTo = (given: object): any =>
  defineGraph({
    table: lab.table,
    nodes: { a: node({ key: "A#{id}", schema: z.object(id) }), b: node({ key: "B#{id}", schema: z.object(id) }) },
    edges: { e: edge({ from: "a", to: "a", schema, ends: "unchecked", stored: "twice", ...given } as never) },
  } as never).connect({ transport: lab.engine.transport });

const ordered = { orderBy: "w:number" };
const otherOrder = { orderBy: "k" };
const one = { to: "a" };
const several = { to: ["a", "b"] };

test.each<readonly [string, object, object]>([
  ["one more", one, several],
  ["one less", several, one],
])("an undone migration with %s type at an end and other keys leaves an index that no model reads", async (_, before, after) => {
  const old = connectTo({ ...before, ...ordered });
  await old.table.create();
  const to = { type: "a", id: "2" };
  await old.e.link({ id: "1" }, to, { w: 1, k: "x" }).orThrow();
  const next = connectTo({ ...after, ...otherOrder });
  await next.migrations.run({ ...fast, inPlace: true });
  await next.e.link({ id: "1" }, { ...to, id: "3" }, { w: 0, k: "y" }).orThrow();
  expect((await next.migrations.status()).undo).toContain(`Items may have either model's keys in "ordered"`);
  expect((await old.migrations.undo()).notes.join(" ")).toContain("Items may have either model's keys in");
  const edges = async (db: typeof old) => db.a({ id: "1" }).out("e").edges();
  for (const given of [before, after]) {
    for (const order of [ordered, otherOrder])
      await expect(edges(connectTo({ ...given, ...order }))).rejects.toMatchObject({ code: "plan.indexIncomplete" });
  }
  const again = connectTo({ ...before, ...ordered });
  expect(await again.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect((await edges(again)).map(({ w }: { w: number }) => w)).toEqual([0, 1]);
});

test.each<readonly [string, object, object]>([
  ["one more", one, several],
  ["one less", several, one],
])("an undone migration with %s type at an end and another name leaves items in either form", async (_, before, after) => {
  const old = connectTo(before);
  await old.table.create();
  const next = connectTo({ ...after, ...renamed });
  await next.migrations.run({ ...fast, inPlace: true });
  await next.e.link({ id: "1" }, { type: "a", id: "2" }, { w: 1, label: "x" }).orThrow();
  expect((await next.migrations.undo()).notes.join(" ")).toContain('Items may hold "e.label" in either form');
  for (const given of [before, after])
    await expect(connectTo(given).a({ id: "2" }).in("e").edges()).rejects.toMatchObject({ code: "plan.unreadForm" });
  expect((await connectTo(before).migrations.plan()).refusals.join(" ")).toContain("undone");
  const mending = connectTo({ ...before, ...renamed });
  expect(await mending.migrations.run({ ...fast, finish: true, inPlace: true })).toMatchObject({ complete: true });
  expect(await mending.a({ id: "2" }).in("e").edges()).toMatchObject([{ label: "x" }]);
});
