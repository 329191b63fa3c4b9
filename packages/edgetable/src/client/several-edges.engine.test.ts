import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";

const text = z.string();

// Of the edges between "dependsOn" and "provides", "mirrors" may be many; "needs" are few, because the model says so.
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      package: node({ key: "PACKAGE#{packageId}", schema: z.object({ packageId: text, size: z.number() }) }),
      feature: node({ key: "FEATURE#{name}", schema: z.object({ name: text, size: z.number() }) }),
    },
    edges: {
      dependsOn: edge({ from: "package", to: "package", schema: z.object({ weight: z.number(), since: text }) }),
      extends: edge({ from: "package", to: "package", schema: z.object({ weight: z.number() }), expect: { from: 2 } }),
      mirrors: edge({ from: "package", to: "package" }),
      provides: edge({ from: "package", to: "feature", schema: z.object({ weight: z.number().optional() }) }),
      wants: edge({ from: "package", to: "feature", expect: { from: 100_000 } }),
      zips: edge({ from: "package", to: "feature" }),
    },
  });

let engine: TestEngine;
let sent: SentRequest[] = [];
let table = "";
const open = (rulesOff: readonly string[] = []) =>
  graphOf(table).connect({
    transport: engine.transport,
    cursorSecret: "test".padEnd(43, "-"),
    advanced: { rulesOff },
    onRequest: (request) => sent.push(request),
  });
let db: ReturnType<typeof open>;

const id = (packageId: string) => ({ packageId });

beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("several");
  db = open();
  await db.table.create();
  for (const [at, packageId] of "abcd".split("").entries()) await db.package.create({ packageId, size: 10 * (at + 1) }).orThrow();
  for (const [at, name] of ["x", "y"].entries()) await db.feature.create({ name, size: at + 1 }).orThrow();
  await db.dependsOn.link(id("a"), id("b"), { weight: 1, since: "2001" }).orThrow();
  await db.dependsOn.link(id("b"), id("c"), { weight: 2, since: "2002" }).orThrow();
  await db.extends.link(id("a"), id("c"), { weight: 4 }).orThrow();
  await db.extends.link(id("c"), id("d"), { weight: 8 }).orThrow();
  await db.mirrors.link(id("a"), id("d")).orThrow();
  await db.provides.link(id("a"), { name: "x" }, { weight: 16 }).orThrow();
  await db.provides.link(id("b"), { name: "y" }).orThrow();
  await db.zips.link(id("a"), { name: "y" }).orThrow();
});
afterAll(() => engine.close());

const a = () => db.package(id("a")).walk();
const queries = (): readonly unknown[] =>
  sent.flatMap(({ operation, input }) => {
    const { KeyConditionExpression, ExpressionAttributeValues: values } = input as {
      readonly KeyConditionExpression: string;
      readonly ExpressionAttributeValues: Readonly<Record<string, { readonly S?: string }>>;
    };
    return operation === "Query" ? [[KeyConditionExpression, values[":p"]?.S, values[":s"]?.S, values[":t"]?.S]] : [];
  });

describe("several edge types in one hop", () => {
  test("types side by side are read by one Query, in the order of their keys", async () => {
    sent = [];
    const found = await a().out(["extends", "dependsOn"]).ids();
    expect(found.items).toEqual([id("b"), id("c")]);
    expect(queries()).toEqual([["pk = :p AND sk BETWEEN :s AND :t", "PACKAGE#a", "dependsOn#PACKAGE#", "extends#PACKAGE$"]]);
    const { requests, cost, plan } = await a().out(["extends", "dependsOn"]).explain();
    expect(requests).toHaveLength(1);
    expect(cost.requests).toBe(1);
    expect(plan.steps[0]).toMatchObject({
      edges: ["extends", "dependsOn"],
      reading: { package: { sources: [{ sort: { kind: "span" } }] } },
    });
  });

  test("without the rule there is one Query for each type, as listed, and the nodes are the same", async () => {
    const plain = open(["join-types"]);
    sent = [];
    const found = await plain.package(id("a")).walk().out(["extends", "dependsOn"]).ids();
    expect(found.items).toEqual([id("c"), id("b")]);
    // They are sent side by side.
    expect(queries().toSorted()).toEqual([
      ["pk = :p AND begins_with(sk, :s)", "PACKAGE#a", "dependsOn#PACKAGE#", undefined],
      ["pk = :p AND begins_with(sk, :s)", "PACKAGE#a", "extends#PACKAGE#", undefined],
    ]);
  });

  test("types with others between them, of which a node may have any number, are read apart", async () => {
    sent = [];
    const found = await a().out(["dependsOn", "provides"]).ids();
    expect(found.items).toEqual([
      { type: "package", ...id("b") },
      { type: "feature", name: "x" },
    ]);
    expect(
      queries()
        .map((one) => (one as readonly string[])[2])
        .toSorted(),
    ).toEqual(["dependsOn#PACKAGE#", "provides#FEATURE#"]);
    sent = [];
    // "extends" lies between, and the model says that there are few.
    expect([...(await a().out(["dependsOn", "mirrors"]).ids())]).toEqual([id("b"), id("d")]);
    expect(queries()).toHaveLength(1);
    // Of "wants" there are many: one Query would read more than two.
    sent = [];
    await a().out(["provides", "zips"]).ids();
    expect(queries()).toHaveLength(2);
  });

  test("both Queries of a node are in flight at once", async () => {
    let [inFlight, most] = [0, 0];
    const counting = graphOf(table).connect({
      cursorSecret: "test".padEnd(43, "-"),
      transport: {
        ...engine.transport,
        send: async (operation, input, options) => {
          most = Math.max(most, ++inFlight);
          try {
            return await engine.transport.send(operation, input, options);
          } finally {
            inFlight--;
          }
        },
      },
    });
    expect((await counting.package(id("a")).walk().out(["dependsOn", "provides", "zips"]).count()).count).toBe(3);
    expect(most).toBe(3);
  });

  test("a condition leaves the types that have its attributes, and reads no others", async () => {
    sent = [];
    const found = await a()
      .out(["dependsOn", "provides"])
      .where({ since: { gte: "2000" } })
      .ids();
    expect(found.items).toEqual([{ type: "package", ...id("b") }]);
    expect(queries()).toHaveLength(1);
    const heavy = await a()
      .out(["dependsOn", "extends", "provides", "zips"])
      .where({ weight: { gte: 4 } })
      .ids();
    expect(heavy.items).toEqual([
      { type: "package", ...id("c") },
      { type: "feature", name: "x" },
    ]);
    const back = await db
      .feature({ name: "y" })
      .walk()
      .in(["provides", "zips"])
      .where({ from: { packageId: "a" } })
      .ids();
    expect(back.items).toEqual([id("a")]);
  });

  test("sums take the edges that have the attribute; counts, paths and ranks take all", async () => {
    const walk = a().out(["dependsOn", "extends", "mirrors"]).out(["dependsOn", "extends", "provides"]);
    expect((await walk.sum("weight")).items).toEqual([
      { id: { type: "package", packageId: "c" }, count: 1, value: 3 },
      { id: { type: "feature", name: "y" }, count: 1, value: 1 },
      { id: { type: "package", packageId: "d" }, count: 1, value: 12 },
    ]);
    expect((await walk.count()).count).toBe(3);
    expect((await walk.paths()).items).toHaveLength(3);
    const ranked = await a()
      .out("dependsOn")
      .rank({ out: ["dependsOn", "provides"] }, { by: "degree" });
    expect(ranked.items).toEqual([{ id: id("b"), count: 2, value: 2 }]);
  });

  test("named walks take several types", async () => {
    expect([...(await db.package(id("a")).dependencies(["dependsOn", "extends"]).ids())]).toEqual([id("b"), id("c"), id("d")]);
    expect([...(await db.package(id("d")).dependents(["dependsOn", "extends"]).ids())]).toEqual([id("c"), id("b"), id("a")]);
    expect([
      ...(await db
        .package(id("a"))
        .neighbourhood({ both: ["dependsOn", "extends"] }, 1)
        .ids()),
    ]).toEqual([id("b"), id("c")]);
    const path = await db.package(id("a")).shortestPath(id("d"), { out: ["dependsOn", "extends"] });
    expect(path.items).toEqual([
      [
        { type: "package", ...id("a") },
        { type: "package", ...id("c") },
        { type: "package", ...id("d") },
      ],
    ]);
    const repeated = await a()
      .repeat({ out: ["dependsOn", "extends"] }, { depth: 2, emit: "all" })
      .ids();
    expect([...repeated]).toEqual([id("b"), id("c"), id("d")]);
  });

  test("all types together are within the breadth, and parts add up", async () => {
    const walk = a().out(["dependsOn", "provides", "zips"]);
    const all: unknown[] = [];
    let cursor: string | undefined;
    do {
      const { items, next } = await walk.ids({ budget: { breadth: 1 }, cursor });
      all.push(...items);
      cursor = next;
    } while (cursor);
    expect(all).toHaveLength(3);
    await expect(walk.ids({ budget: { breadth: 2 }, supernode: "refuse" })).rejects.toMatchObject({
      code: "traverse.supernode",
      message: expect.stringContaining('more than 2 edges "dependsOn" and "provides" and "zips"'),
    });
    const sample = await walk.ids({ budget: { breadth: 2 }, supernode: "sample" });
    expect(sample).toMatchObject({ items: { length: 2 }, complete: false, stopped: { by: "breadth", left: { nodes: 1 } } });
    await expect(
      a()
        .out(["dependsOn", "provides"])
        .ids({ cursor: (await walk.ids({ budget: { requests: 1 } })).next }),
    ).rejects.toMatchObject({
      code: "cursor.invalid",
    });
  });

  test("wrong lists are refused at once", () => {
    // @ts-expect-error there is no such edge
    expect(() => a().out(["dependsOn", "provide"])).toThrow(/There is no edge "provide"\. Did you mean "provides"\?/);
    expect(() => a().out([])).toThrow(/out: \[\] names no edge/);
    expect(() => a().repeat({ out: ["dependsOn"], in: ["extends"] }, { depth: 1 })).toThrow(/exactly one direction .* names out and in/);
    // @ts-expect-error no edge of the list has the attribute
    expect(() => a().out(["dependsOn", "provides"]).where({ until: "2000" })).toThrow(
      /"until" is not an attribute of the edge "dependsOn"/,
    );
    expect(() =>
      a()
        .out(["dependsOn", "provides"])
        .where({ since: "2000", from: { name: "x" } } as never),
    ).toThrow(/"from.name"/);
    // @ts-expect-error no edge "provides" leads to a package
    expect(() => a().in(["dependsOn", "provides"])).toThrow(/The target of the edge "provides" is feature/);
    expect(() => a().out(5 as never)).toThrow(/edges, such as/);
    expect(() => a().out([["dependsOn"]] as never)).toThrow(/out takes names of edges/);
    expect(() =>
      a()
        .out(["dependsOn", "extends"])
        .sum("sinse" as never),
    ).toThrow(/"sinse" is not an attribute/);
  });
});
