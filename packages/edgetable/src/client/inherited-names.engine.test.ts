import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { count, defineGraph, edge, isEdgetableError, node } from "../index.ts";

/** Attributes may have the names that every JavaScript object inherits. Calls treat them as they treat any other name. */
const inherited = ["toString", "constructor", "valueOf", "hasOwnProperty", "__proto__"];
const text = z.string();
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const named = (name: string, value: unknown): object => Object.defineProperty({}, name, { value, enumerable: true });

type Things = Awaited<ReturnType<typeof open>>;
const open = async () => {
  const thing = node({ key: "T#{id}", schema: z.looseObject({ id: text, name: text.optional() }) });
  const db = defineGraph({ table: engine.freshTableName("names"), nodes: { thing } }).connect({ transport: engine.transport });
  await db.table.create();
  await db.thing.create({ id: "1", name: "a" }).orThrow();
  return db;
};

const calls: Readonly<Record<string, (db: Things, name: string) => Promise<unknown>>> = {
  "set a path within it": (db, name) => db.thing.update({ id: "1" }, { set: named(`${name}.x`, 1) }),
  "set a path within it in an upsert": (db, name) => db.thing.upsert({ id: "1" }, { set: named(`${name}.x`, 1) }),
  "append to it": (db, name) => db.thing.update({ id: "1" }, { append: named(name, [1]) }),
  "add to it": (db, name) => db.thing.update({ id: "1" }, { add: named(name, 1) }),
  "append to it where a condition fails": (db, name) => db.thing.update({ id: "1" }, { append: named(name, [1]) }, { if: { name: "b" } }),
  "append to it in an upsert of a new row whose condition fails": (db, name) =>
    db.thing.upsert({ id: "1" }, { append: named(name, [1]) }, { expect: "new", if: { name: "b" } }),
};

const outcomeOf = async (call: () => Promise<unknown>, name: string): Promise<unknown> => {
  try {
    const { ok, reason, row } = (await call()) as { readonly ok: boolean; readonly reason?: string; readonly row?: object };
    return { ok, reason, value: row && Object.getOwnPropertyDescriptor(row, name)?.value };
  } catch (error) {
    return isEdgetableError(error) ? { code: error.code, message: error.message.replaceAll(name, "NAME") } : error;
  }
};

describe.each(Object.entries(calls))("%s", (_, call) => {
  test.each(inherited)("of the name %s is as with any other name", async (name) => {
    const usual = await open();
    const wanted = await outcomeOf(() => call(usual, "size"), "size");
    const db = await open();
    const outcome = await outcomeOf(() => call(db, name), name);
    // Objects cannot be given a member of this name by `=`, so that it may be refused, but never by chance.
    if (name === "__proto__") expect(outcome).not.toBeInstanceOf(Error);
    else expect(outcome).toEqual(wanted);
  });
});

test("append to a stored null is refused, also where the attribute is copied", async () => {
  const thing = node({ key: "T#{id}", schema: z.object({ id: text, tags: z.array(text).nullable() }) });
  const graph = defineGraph({
    table: engine.freshTableName("nulls"),
    nodes: { thing },
    edges: { near: edge({ from: "thing", to: "thing", copies: { to: { theirs: "tags" } }, onDelete: { from: "cascade", to: "cascade" } }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.thing.create({ id: "1", tags: null }).orThrow();
  await expect(db.thing.update({ id: "1" }, { append: { tags: ["a"] } })).rejects.toMatchObject({ code: "execute.rejected" });
  expect(await db.thing.get({ id: "1" })).toEqual({ id: "1", tags: null });
});

test.each(inherited)("a copy may repeat an attribute of the name %s", (of) => {
  const graph = () =>
    defineGraph({
      table: "Names",
      nodes: {
        p: node({ key: "P#{id}", schema: z.object({ id: text }) }),
        t: node({ key: "T#{tid}", schema: z.object({ tid: text, ...named(of, text.optional()) }), derived: { n: count({ in: "e" }) } }),
      },
      edges: { e: edge({ from: "p", to: "t", copies: { to: { copied: of as "tid" } }, onDelete: { from: "cascade", to: "cascade" } }) },
    });
  if (of === "__proto__") expect(graph).toThrow(); // zod drops it
  else expect(graph).not.toThrow();
});

test.each(inherited)("a derived attribute and a copy may not be called %s", (name) => {
  const graph = () =>
    defineGraph({
      table: "Names",
      nodes: {
        p: node({ key: "P#{id}", schema: z.object({ id: text, name: text }) }),
        t: node({ key: "T#{tid}", schema: z.object({ tid: text }), ...({ derived: named(name, count({ in: "e" })) } as object) }),
      },
      edges: {
        e: edge({ from: "p", to: "t", copies: { from: named(name, "name") as never }, onDelete: { from: "cascade", to: "cascade" } }),
      },
    });
  expect(graph).toThrow(new RegExp(`nodes.t.derived.*${name}[^]*edges.e.copies.*${name}`));
});
