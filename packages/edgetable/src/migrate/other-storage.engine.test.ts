import { expect, test } from "vitest";
import { z } from "zod";
import type { ConnectOptions } from "../client/connect.ts";
import { defineGraph } from "../client/define-graph.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { count } from "../schema/derived.ts";
import { edge, node } from "../schema/definition.ts";
import { verify } from "../verify/index.ts";
import { fast, lab, openMigrationsLab, watched } from "./migrations-lab.test-support.ts";

// A model that stores edges otherwise than the table's record: reads of what the table lacks say so.

openMigrationsLab();

const schema = z.object({ id: z.string(), n: z.int().optional(), bossId: z.string().optional() });
const attributes = z.object({ w: z.int(), k: z.string() });
const kept = { onDelete: { from: "cascade", to: "cascade" } } as const;

// oxlint-disable-next-line typescript/no-explicit-any -- a model made of variable parts has no types
type Any = any;

const graph = (
  given: object,
  more: { readonly a?: object; readonly e?: object; readonly rest?: object; readonly options?: ConnectOptions } = {},
): Any =>
  defineGraph({
    table: lab.table,
    nodes: { a: node({ key: "A#{id}", schema, ...more.a }) },
    edges: { e: edge({ from: "a", to: "a", schema: attributes, ...kept, ...more.e, ...given } as never) },
    ...more.rest,
  } as never).connect({ transport: lab.engine.transport, ...more.options });

const at = (id: string) => ({ id });

/** Edges from `n1`, `n2` and `n3` to `n0`. */
const fill = async (old: Any): Promise<void> => {
  await old.table.create();
  for (let from = 0; from < 4; from++) await old.a.create({ id: `n${from}`, n: from }).orThrow();
  for (let from = 1; from < 4; from++) await old.e.link(at(`n${from}`), at("n0"), { w: from, k: `${from}` }).orThrow();
};

/** Every way to read the edges of a node from one of its sides, and to delete what hangs on them. */
const readsOf = (db: Any, direction: "in" | "out"): Readonly<Record<string, () => Promise<unknown>>> => {
  const side = (): Any => db.a(at("n0"))[direction]("e");
  const end = direction === "in" ? "from" : "to";
  return {
    edges: () => side().edges(),
    nodes: () => side().nodes(),
    page: () => side().page({ limit: 2 }),
    count: () => side().count(),
    filtered: () => side().where({ k: "1" }).edges(),
    ids: () => side().walk().ids(),
    "second hop": () => db.a(at("n1"))[direction === "in" ? "out" : "in"]("e")[direction]("e").ids(),
    "shortest path": () => db.a(at("n0")).shortestPath(at("n1"), { [direction]: "e" }),
    "all paths": () => db.a(at("n0")).allPaths(at("n1"), { [direction]: "e" }),
    common: () => db.a(at("n0")).common({ [direction]: "e" }, [at("n0")]),
    deletion: () => db.a.delete(at("n0")),
    end: () => side().edges({ only: [end] }),
  };
};

const refused = async (reads: Readonly<Record<string, () => Promise<unknown>>>, code: string): Promise<void> => {
  for (const [name, read] of Object.entries(reads)) {
    if (name === "end") continue;
    await expect(read(), name).rejects.toMatchObject({ code });
  }
};

const twice = { stored: "twice" } as const;
const symmetric = { symmetric: true } as const;

test("edges stored once are not read from the second copies that a model expects", async () => {
  await fill(graph({}));
  const db = graph(twice);
  await refused(readsOf(db, "in"), "plan.otherStorage");
  await expect(db.a(at("n0")).in("e").edges()).rejects.toMatchObject({
    message:
      'Edges of "e" are stored once, and the model stores them twice: reads would miss edges. Declare the type as the table stores it, or under another name and copy the edges with db.scan and db.load.',
    details: { edge: "e", shape: "e:mirror" },
  });
  // Their sources have them by either model.
  expect(await db.a(at("n1")).out("e").edges()).toMatchObject([{ w: 1 }]);
  expect(await db.a(at("n1")).out("e").count()).toBe(1);
  expect(await db.e.get(at("n1"), at("n0"))).toMatchObject({ w: 1 });
  expect((await verify(db, { settle: 1 })).kinds.map(({ kind }: { kind: string }) => kind)).toContain("oneSided");
});

test("edges stored twice are not read from an index that they are not in, until a migration has given them its keys", async () => {
  await fill(graph(twice));
  const { sent, options } = watched();
  const db = graph({}, { options });
  await refused(readsOf(db, "in"), "plan.indexIncomplete");
  sent.length = 0;
  expect(await db.a(at("n1")).out("e").count()).toBe(1);
  expect(sent).toEqual(["Query"]);
  await db.migrations.run(fast);
  await refused(readsOf(db, "in"), "plan.indexIncomplete");
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  sent.length = 0;
  expect((await db.a(at("n0")).in("e").edges()).map(({ w }: { w: number }) => w).toSorted()).toEqual([1, 2, 3]);
  expect(await db.a(at("n0")).in("e").count()).toBe(3);
  expect(sent).toEqual(["GetItem", "Query", "Query"]);
  await db.a.delete(at("n0")).orThrow();
  expect(await db.a(at("n1")).out("e").count()).toBe(0);
});

test("counts of in-edges are derived while edges stored twice come to be stored once", async () => {
  await fill(graph(twice));
  const db = graph(
    {},
    {
      a: { derived: { fans: count({ in: "e" }) } },
      rest: { indexes: { byFans: { entries: { a: "fans:number" } } } },
    },
  );
  expect((await db.migrations.plan()).steps.map(({ kind }: { kind: string }) => kind)).toEqual([
    "backfill",
    "derive",
    "createIndex",
    "record",
  ]);
  await db.migrations.run(fast);
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect((await db.a.get(at("n0"))).fans).toBe(3);
  expect(
    (
      await db
        .find("a")
        .where({ fans: { gte: 1 } })
        .rows()
    ).map(({ id }: { id: string }) => id),
  ).toEqual(["n0"]);
  expect((await verify(db, { settle: 1 })).kinds.map(({ kind }: { kind: string }) => kind)).toEqual(["unclaimed"]);
});

for (const [name, before, after] of [
  ["once", {}, symmetric],
  ["twice", twice, symmetric],
] as const)
  test(`edges stored ${name} are not read as edges without direction`, async () => {
    await fill(graph(before));
    const db = graph(after);
    for (const direction of ["in", "out"] as const) await refused(readsOf(db, direction), "plan.otherStorage");
  });

for (const [name, after, ordered] of [
  ["once", {}, {}],
  ["twice", twice, {}],
  ["twice, in an order", twice, { orderBy: "w:number" }],
] as const)
  test(`edges without direction are not read as edges stored ${name}`, async () => {
    await fill(graph({ ...symmetric, ...ordered }));
    const db = graph({ ...after, ...ordered });
    await refused(readsOf(db, "in"), "plan.otherStorage");
    // This connection has read the record: what it knows holds for reads that do not ask for it.
    await refused({ out: () => db.a(at("n0")).out("e").edges() }, "plan.otherStorage");
  });

test("edges are found by a declared index only where each is in it once", async () => {
  const rest = { indexes: { byK: { entries: { e: "k" } } } };
  await fill(graph(symmetric, { rest }));
  await expect(graph({}, { rest }).find("e").where({ k: "1" }).rows()).rejects.toMatchObject({ code: "plan.otherStorage" });
});

test("a side that has more attributes than the table's copies is not read", async () => {
  await fill(graph({ ...twice, sides: { from: ["w"], to: ["k"] } }));
  const db = graph(twice);
  await expect(db.a(at("n0")).in("e").edges()).rejects.toMatchObject({
    code: "plan.otherStorage",
    message: expect.stringContaining('"e:mirror" holds "k" and nothing else, and the model reads more from it') as string,
  });
});

test("references of nodes that are there are found by their targets once the nodes have the keys", async () => {
  const reference = edge({ from: "a", to: "a", stored: "reference", by: { id: "bossId" }, multiplicity: "many-to-one" });
  const before = graph({});
  await before.table.create();
  await before.a.create({ id: "n0" }).orThrow();
  await before.a.create({ id: "n1", bossId: "n0" }).orThrow();
  const db = graph({}, { rest: { edges: { boss: reference } } });
  const staff = () => db.a(at("n0")).in("boss").ids();
  await expect(staff()).rejects.toMatchObject({ code: "plan.indexIncomplete", details: { index: "reverse", shape: "boss" } });
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await staff()).toEqual([{ id: "n1" }]);
});

test("one more type at an end changes no key, and in-edges are read at once", async () => {
  await fill(graph({}));
  const nodes = { a: node({ key: "A#{id}", schema }), b: node({ key: "B#{id}", schema }) };
  const db = graph({ to: ["a", "b"] }, { rest: { nodes } });
  expect(await db.a(at("n0")).in("e").count()).toBe(3);
});

test("a program that may not read the record reads as before", async () => {
  await fill(graph({}));
  const transport: ConnectOptions["transport"] = {
    send: async (operation, input, options) => {
      if (JSON.stringify(input).includes("~model")) throw new EdgetableError("execute.accessDenied", "not allowed");
      return lab.engine.transport.send(operation, input, options);
    },
    close: () => undefined,
  };
  expect(await graph({}, { options: { transport } }).a(at("n0")).in("e").count()).toBe(3);
});

test("a connection reads the record once, beside its first read that the table may lack something for", async () => {
  for (const storage of [twice, {}, symmetric]) {
    lab.table = lab.engine.freshTableName("storage");
    const { sent, options } = watched();
    await fill(graph(storage));
    const db = graph(storage, { options });
    expect(await db.a(at("n0")).in("e").count()).toBe(3);
    await db.a(at("n0")).in("e").edges();
    expect(sent).toEqual(["GetItem", "Query", "Query"]);
    const owner = graph(storage, { options });
    lab.table = lab.engine.freshTableName("storage");
    const creator = graph(storage, { options });
    await creator.table.create();
    sent.length = 0;
    await creator.a(at("n0")).in("e").edges();
    if (storage !== symmetric) await owner.a(at("n0")).out("e").edges();
    expect(sent).toEqual(storage === symmetric ? ["Query"] : ["Query", "Query"]);
  }
});
