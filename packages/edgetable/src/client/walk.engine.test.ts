import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";
import { ruleNames } from "../planner/rule-names.ts";

const text = z.string();
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, age: z.number() }) }),
      account: node({ key: "ACCOUNT#{bank}#{number:6}", schema: z.object({ bank: text, number: z.int(), name: text }) }),
    },
    edges: {
      knows: edge({ from: "person", to: "person", schema: z.object({ since: text }), orderBy: "since" }),
      owns: edge({ from: "person", to: "account" }),
      pays: edge({ from: "account", to: "account", schema: z.object({ amount: z.number() }) }),
    },
  });

let engine: TestEngine;
let sent: SentRequest[] = [];
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
let table = "";

// a knows b and c; b knows d and e; c knows d; d knows a. Everybody owns an account, a's pays the others.
const knows = [
  ["a", "b"],
  ["a", "c"],
  ["b", "d"],
  ["b", "e"],
  ["c", "d"],
  ["d", "a"],
] as const;

beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("walk");
  db = graphOf(table).connect({
    transport: engine.transport,
    cursorSecret: "test".padEnd(43, "-"),
    onRequest: (request) => sent.push(request),
  });
  await db.table.create();
  for (const [at, personId] of "abcde".split("").entries()) {
    await db.person.create({ personId, age: 10 * at });
    await db.account.create({ bank: "X", number: at, name: `of ${personId}` });
    await db.owns.link({ personId }, { bank: "X", number: at }).orThrow();
  }
  for (const [at, [from, to]] of knows.entries())
    await db.knows.link({ personId: from }, { personId: to }, { since: `200${at}` }).orThrow();
  for (const [from, to, amount] of [
    [0, 1, 5],
    [0, 2, 7],
    [1, 3, 1],
    [2, 3, 2],
  ] as const)
    await db.pays.link({ bank: "X", number: from }, { bank: "X", number: to }, { amount }).orThrow();
});
afterAll(() => engine.close());

const person = (personId: string) => ({ personId });
const a = () => db.person(person("a"));

/** Runs a call and returns its answer with a short form of its requests. */
const asked = async <T>(call: { run(): Promise<T> }): Promise<readonly [T, readonly string[]]> => {
  sent = [];
  const answer = await call.run();
  const shown = sent.map(({ operation, input }) => {
    const {
      IndexName: index,
      ExpressionAttributeValues: values,
      RequestItems: batch,
    } = input as {
      IndexName?: string;
      ExpressionAttributeValues?: Record<string, { S: string }>;
      RequestItems?: Record<string, { Keys: readonly Record<string, { S: string }>[] }>;
    };
    const keys = Object.values(batch ?? {}).flatMap(({ Keys }) =>
      Keys.map((key) =>
        Object.values(key)
          .map(({ S }) => S)
          .join("/"),
      ),
    );
    return `${operation}${index ? ` ${index}` : ""} ${batch ? keys.join(" ") : (values?.[":p"]?.S ?? "")}`;
  });
  // Requests of one frontier are sent concurrently, and reported as they are answered.
  return [answer, shown.toSorted()];
};

describe("hops", () => {
  test("two hops read each node of a frontier once, and only where edges lead", async () => {
    const [found, requests] = await asked(a().out("knows").out("knows").ids());
    expect(found).toMatchObject({ items: [person("d"), person("e")], complete: true });
    expect(requests).toEqual(["Query PERSON#a", "Query PERSON#b", "Query PERSON#c"]);
    expect(sent.map(({ input }) => input)).toContainEqual({
      TableName: table,
      KeyConditionExpression: "pk = :p AND begins_with(sk, :s)",
      ProjectionExpression: "sk",
      ExpressionAttributeValues: { ":p": { S: "PERSON#b" }, ":s": { S: "knows#PERSON#" } },
      Limit: 10_000,
      ReturnConsumedCapacity: "TOTAL",
    });
  });

  test("back along an edge goes through the index, and may end where it began", async () => {
    const [found, requests] = await asked(a().out("knows").in("knows").ids());
    expect([...found]).toEqual([person("a")]);
    expect(requests).toEqual(["Query PERSON#a", "Query reverse PERSON#b", "Query reverse PERSON#c"].toSorted());
    expect(await a().out("knows").in("knows").except("start").ids()).toMatchObject({ items: [], complete: true });
  });

  test("both directions", async () => {
    expect((await db.person(person("d")).both("knows").both("knows").except("start").ids()).items).toEqual([
      person("b"),
      person("c"),
      person("e"),
      person("a"),
    ]);
  });

  test("nodes are read at the end only, each once", async () => {
    const [found, requests] = await asked(a().out("knows").out("knows").out("owns").nodes());
    expect(found.items.map(({ name }) => name)).toEqual(["of d", "of e"]);
    expect(requests).toEqual([
      "BatchGetItem ACCOUNT#X#000003/# ACCOUNT#X#000004/#",
      "Query PERSON#a",
      "Query PERSON#b",
      "Query PERSON#c",
      "Query PERSON#d",
      "Query PERSON#e",
    ]);
  });

  test("conditions on edges are pushed into keys and filters", async () => {
    const [found, requests] = await asked(
      a()
        .out("knows")
        .out("knows")
        .where({ since: { gte: "2003" } })
        .ids(),
    );
    expect(found.items).toEqual([person("e"), person("d")]);
    expect(requests).toEqual(["Query PERSON#a", "Query ordered PERSON#b", "Query ordered PERSON#c"].toSorted());
  });

  test("conditions on nodes read them, and what was read is not read again", async () => {
    const [found, requests] = await asked(
      a()
        .out("knows")
        .out("knows")
        .whereNode({ age: { gt: 30 } })
        .nodes(),
    );
    expect(found.items).toEqual([{ personId: "e", age: 40 }]);
    expect(requests[0]).toBe("BatchGetItem PERSON#d/# PERSON#e/#");
    expect(requests).toHaveLength(4);
  });
});

describe("counts", () => {
  test("paths are counted, and nodes after dedupe", async () => {
    expect(await a().out("knows").out("knows").count()).toMatchObject({ count: 3, complete: true });
    expect(await a().out("knows").out("knows").dedupe().count()).toMatchObject({ count: 2 });
    expect((await a().out("knows").out("knows").groupCount()).items).toEqual([
      { id: person("d"), count: 2 },
      { id: person("e"), count: 1 },
    ]);
    expect((await a().out("knows").out("knows").top(1)).items).toEqual([{ id: person("d"), count: 2 }]);
  });

  test("sum, min and max along the paths", async () => {
    const from = db.account({ bank: "X", number: 0 });
    const end = { bank: "X", number: 3 };
    expect((await from.out("pays").out("pays").sum("amount")).items).toEqual([{ id: end, count: 2, value: 15 }]);
    expect((await from.out("pays").out("pays").min("amount")).items).toEqual([{ id: end, count: 2, value: 1 }]);
    expect((await from.out("pays").out("pays").max("amount")).items).toEqual([{ id: end, count: 2, value: 7 }]);
    expect((await from.out("pays").walk().dedupe().out("pays").sum("amount")).items).toEqual([{ id: end, count: 2, value: 3 }]);
  });

  test.each(["sum", "min", "max"] as const)("%s refuses a value that is not a number, as a sum of a read does", async (by) => {
    const refused = {
      code: "plan.invalidOption",
      message: '"since" is not a number in every row. Use an attribute that holds only numbers.',
    };
    const since = "since" as never;
    for (const rulesOff of [[], ruleNames]) {
      const unruled = graphOf(table).connect({ transport: engine.transport, cursorSecret: "test".padEnd(43, "-"), advanced: { rulesOff } });
      const from = unruled.person(person("a"));
      await expect(from.out("knows").out("knows")[by](since).run()).rejects.toMatchObject(refused);
      await expect(from.out("knows").limit(1).walk()[by](since).run()).rejects.toMatchObject(refused);
      await expect(from.subtree({ out: "knows" }, { sum: since }).run()).rejects.toMatchObject(refused);
    }
  });
});

describe("repeat", () => {
  test("gives the last round, or all of them", async () => {
    expect((await a().walk().repeat({ out: "knows" }, { depth: 3 }).ids()).items).toEqual([person("a")]);
    const [all, requests] = await asked(a().walk().repeat({ out: "knows" }, { depth: 3, emit: "all" }).ids());
    expect(all.items).toEqual("bcdea".split("").map(person));
    expect(requests).toEqual(["a", "b", "c", "d", "e"].map((id) => `Query PERSON#${id}`));
    expect(await a().walk().repeat({ out: "knows" }, { depth: 3, emit: "all" }).count()).toMatchObject({ count: 7 });
  });

  test("filters the nodes of every round", async () => {
    const walk = a()
      .walk()
      .repeat({ out: "knows", whereNode: { age: { lt: 20 } } }, { depth: 5, emit: "all" });
    expect((await walk.ids()).items).toEqual([person("b")]);
  });

  test("paths", async () => {
    const paths = await a().out("knows").out("knows").paths();
    expect(paths.items.map((path) => path.map((one) => ("personId" in one ? one.personId : "")).join(""))).toEqual(["abd", "acd", "abe"]);
    const round = await a().walk().repeat({ out: "knows" }, { depth: 4, emit: "all" }).paths({ simple: true });
    expect(round.items.map((path) => path.map((one) => ("personId" in one ? one.personId : "")).join(""))).toEqual([
      "ab",
      "ac",
      "abd",
      "acd",
      "abe",
    ]);
    expect(await a().out("knows").out("knows").paths({ limit: 2 })).toMatchObject({ complete: false, stopped: { by: "limit" } });
  });
});

describe("budgets", () => {
  test("a walk never sends more requests than its budget, and continues where it stopped", async () => {
    const walk = () => a().out("knows").out("knows").out("knows");
    const found: unknown[] = [];
    let cursor: string | undefined;
    let rounds = 0;
    do {
      const [part, requests] = await asked(walk().ids({ budget: { requests: 1 }, cursor }));
      expect(requests).toHaveLength(1);
      if (++rounds === 2)
        expect(part).toMatchObject({
          complete: false,
          stopped: {
            by: "requests",
            hop: 2,
            left: { nodes: 3, sample: "cde".split("").map((id) => ({ type: "person", id: person(id) })) },
          },
        });
      found.push(...part);
      cursor = part.next;
    } while (cursor !== undefined);
    expect(found).toEqual([person("a")]);
    expect(rounds).toBe(5);
  });

  test("a node left at several hops counts once, and the sample names it once", async () => {
    const complete = defineGraph({
      table: engine.freshTableName("complete"),
      nodes: { n: node({ key: "N#{id}", schema: z.object({ id: text }) }) },
      edges: { e: edge({ from: "n", to: "n" }) },
    }).connect({ transport: engine.transport, cursorSecret: "test".padEnd(43, "-") });
    await complete.table.create();
    const ids = "01234".split("").map((id) => ({ id }));
    for (const id of ids) await complete.n.create(id);
    for (const from of ids) for (const to of ids) if (to !== from) await complete.e.link(from, to).orThrow();
    const walk = () => complete.n({ id: "0" }).out("e").out("e").out("e");
    const part = await walk().ids({ budget: { requests: 2 } });
    const left = "2340".split("").map((id) => ({ type: "n", id: { id } }));
    expect(part).toMatchObject({ complete: false, stopped: { by: "requests", hop: 2, left: { nodes: 4, sample: left } } });
    expect(await walk().ids({ cursor: part.next })).toMatchObject({ complete: true, stopped: undefined });
  });

  test("a continued count includes the earlier parts", async () => {
    const first = await a()
      .out("knows")
      .out("knows")
      .count({ budget: { requests: 2 } });
    expect(first).toMatchObject({ complete: false, count: 2 });
    expect(await a().out("knows").out("knows").count({ cursor: first.next })).toMatchObject({ complete: true, count: 3 });
  });

  test("a supernode is paged, sampled or refused", async () => {
    const walk = a().out("knows").out("knows");
    const paged = await walk.ids({ budget: { breadth: 1 } });
    expect(paged).toMatchObject({ items: [person("d")], complete: false, stopped: { by: "breadth", hop: 1 } });
    const rest: unknown[] = [];
    for (let next = paged.next; next !== undefined;) {
      const more = await walk.ids({ cursor: next });
      rest.push(...more);
      next = more.next;
    }
    expect(rest).toEqual([person("e")]);
    expect(await walk.ids({ budget: { breadth: 1 }, supernode: "sample" })).toMatchObject({
      items: [person("d")],
      complete: false,
      next: undefined,
    });
    await expect(walk.ids({ budget: { breadth: 1 }, supernode: "refuse" }).run()).rejects.toMatchObject({ code: "traverse.supernode" });
    expect(await walk.ids({ budget: { breadth: 2 }, supernode: "refuse" })).toMatchObject({ complete: true });
  });

  test("a budget too small to find the secret of cursors is spent on walking", async () => {
    const sent: string[] = [];
    const own = graphOf(table).connect({ transport: engine.transport, onRequest: ({ operation }) => sent.push(operation) });
    const walk = own.person(person("a")).out("knows").out("knows").dedupe();
    expect(await walk.nodes({ budget: { requests: 2 } })).toMatchObject({ complete: false, stopped: { by: "requests" }, next: undefined });
    expect(sent).toEqual(["Query", "Query"]);
  });

  test.each([3, 4, 7])("a budget of %i requests ends with a cursor, on a connection that has to find the secret too", async (requests) => {
    const sent: string[] = [];
    const own = graphOf(table).connect({ transport: engine.transport, onRequest: ({ operation }) => sent.push(operation) });
    const walk = own.person(person("a")).walk().repeat({ out: "knows" }, { depth: 100, emit: "all" });
    const whole = await db.person(person("a")).walk().repeat({ out: "knows" }, { depth: 100, emit: "all" }).ids();
    const found: { readonly personId: string }[] = [];
    let cursor: string | undefined;
    do {
      const before = sent.length;
      const part = await walk.ids({ budget: { requests }, cursor });
      expect(sent.length - before).toBeLessThanOrEqual(requests);
      expect(part.complete).toBe(part.next === undefined);
      found.push(...part.items);
      cursor = part.next;
    } while (cursor !== undefined);
    expect(found.map(({ personId }) => personId).toSorted()).toEqual(whole.items.map(({ personId }) => personId).toSorted());
  });

  test("a wrong start and a wrong depth are refused", async () => {
    const unfit = db.person({ personId: 7 as unknown as string });
    await expect(unfit.out("knows").out("knows").ids().run()).rejects.toMatchObject({
      code: "traverse.start",
      cause: { code: "keys.wrongType" },
    });
    expect(() => a().walk().repeat({}, { depth: 1 })).toThrow(/Name exactly one direction to follow/);
    expect(() => a().walk().repeat({ out: "knows" }, { depth: 101 })).toThrow(expect.objectContaining({ code: "traverse.depth" }));
    expect(() =>
      a()
        .out("knows")
        .out("knowz" as "knows"),
    ).toThrow(/There is no edge "knowz"\. Did you mean "knows"\?/);
    expect(() =>
      a()
        .out("knows")
        .out("owns")
        .out("knows" as "pays"),
    ).toThrow('The source of the edge "knows" is person, not "account". Edges with "account" as source: pays.');
    expect(() => a().in("owns" as "knows")).toThrow(
      'The target of the edge "owns" is account, not "person". Edges with "person" as target: knows.',
    );
    const bothOwns = '`both` needs "person" at both ends of the edge, but "owns" leads from person to account. Use `out`.';
    expect(() => a().suggest({ both: "owns" as "knows" }, { top: 1 })).toThrow(bothOwns);
    expect(() => a().both("owns" as "knows")).toThrow(bothOwns);
    expect(() =>
      a()
        .out("knows")
        .out("knows")
        .whereNode({ agee: 1 } as never),
    ).toThrow(/"agee" is not an attribute of the node "person"\. Did you mean "age"\?/);
  });

  test.each(["toString", "constructor", "__proto__"])(
    "%s is no edge, node or index, and no name that JavaScript gives every object",
    (name) => {
      const unknown = expect.objectContaining({
        code: "schema.unknownEdge",
        message: expect.stringContaining(`There is no edge "${name}"`) as string,
      });
      expect(() => a().out(name as "knows")).toThrow(unknown);
      expect(() =>
        a()
          .walk()
          .repeat({ both: name as "knows" }, { depth: 2 }),
      ).toThrow(unknown);
      expect(() => a().dependents(name as "knows")).toThrow(unknown);
      expect(() => db.find(name as never)).toThrow(expect.objectContaining({ code: "schema.unknownNode" }));
      expect(() => a().out("knows").using(name)).toThrow(expect.objectContaining({ code: "plan.noIndex" }));
    },
  );

  test("a cursor of another walk is refused", async () => {
    const { next } = await a()
      .out("knows")
      .out("knows")
      .ids({ budget: { requests: 1 } });
    await expect(db.person(person("b")).out("knows").out("knows").ids({ cursor: next }).run()).rejects.toMatchObject({
      code: "cursor.invalid",
    });
  });
});

test("a walk is expected to find no more nodes than there are", async () => {
  const of = async (count: number | undefined) => {
    const page = node({ key: "PAGE#{url}", schema: z.object({ url: text }), expect: count === undefined ? {} : { count } });
    const graph = defineGraph({
      table: "Pages",
      nodes: { page },
      edges: { linksTo: edge({ from: "page", to: "page", expect: { from: 20 } }) },
    });
    const { cost, assumptions } = await graph
      .connect({ endpoint: "http://127.0.0.1:1", region: "local", credentials: { accessKeyId: "a", secretAccessKey: "s" } })
      .page({ url: "a" })
      .dependencies("linksTo")
      .explain();
    return { requests: cost.requests, says: assumptions.some((one) => one.includes("expect.count")) };
  };
  expect(await of(undefined)).toEqual({ requests: 1 + 20 + 400 + 8000, says: false });
  expect(await of(50)).toEqual({ requests: 1 + 20 + 30, says: true });
});

test("a node is expected to have no more edges than the model allows", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("limited"),
    nodes: {
      page: node({ key: "PAGE#{url}", schema: z.object({ url: text }) }),
      site: node({ key: "SITE#{host}", schema: z.object({ host: text }) }),
    },
    edges: {
      on: edge({ from: "page", to: "site", multiplicity: "many-to-one", ends: "unchecked" }),
      pins: edge({ from: "site", to: "page", maxDegree: { from: 3 }, expect: { from: 50 }, ends: "unchecked" }),
    },
  });
  const limited = graph.connect({ transport: engine.transport });
  await limited.table.create();
  await limited.on.link({ url: "a" }, { host: "h" }).orThrow();
  for (const url of ["a", "b", "c"]) await limited.pins.link({ host: "h" }, { url }).orThrow();
  const walk = limited.page({ url: "a" }).out("on").out("pins");
  const { cost, assumptions } = await walk.explain();
  expect(assumptions.slice(0, 2)).toEqual([
    'at most 1 edges "on" leave a node, as multiplicity declares',
    'at most 3 edges "pins" leave a node, as maxDegree.from declares',
  ]);
  const nodes = await walk.nodes().report();
  expect(cost).toEqual({ requests: 2, readUnits: 1 });
  expect((await walk.nodes().explain()).cost.requests).toBe(nodes.cost.requests);
  expect(nodes.requests.map(({ operation }) => operation)).toEqual(["Query", "Query", "BatchGetItem"]);
});
