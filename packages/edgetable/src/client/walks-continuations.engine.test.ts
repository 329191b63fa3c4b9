import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";
import type { WalkCall, WalkOptions } from "./walk-types.ts";

const text = z.string();
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, age: z.int() }) }) },
    edges: {
      knows: edge({ from: "person", to: "person", schema: z.object({ since: text }), ends: "unchecked" }),
    },
  });

// Layers of four nodes, each with edges to two of the next layer, and one edge back to the start.
const LAYERS = 5;
const WIDE = 4;
const name = (layer: number, at: number): string => (layer === 0 ? "start" : layer > LAYERS ? "end" : `n${layer}${at % WIDE}`);
const pairs = [
  ...Array.from({ length: LAYERS + 1 }, (_, layer) =>
    Array.from({ length: layer === 0 ? 1 : WIDE }, (_one, at) =>
      [...new Set([0, 1, layer === 0 ? 2 : 0].map((step) => name(layer + 1, at + step)))].map((to) => [name(layer, at), to] as const),
    ),
  ).flat(2),
  ["end", "start"] as const,
  ["n10", "n33"] as const,
];

let engine: TestEngine;
let table: string;
let sent: SentRequest[] = [];
// The table's record, which each connection reads once, is beyond the budget.
const note = (one: SentRequest): void => {
  if (one.operation !== "GetItem") sent.push(one);
};
const open = () => graphOf(table).connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-"), onRequest: note });
const person = (personId: string) => ({ personId });

beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("parts");
  const db = open();
  await db.table.create();
  const names = [...new Set(pairs.flat())];
  await db.load(names.map((personId) => ({ node: "person", row: { personId, age: personId === "n21" ? 10 : 30 } }) as const));
  await db.load(
    pairs.map(([from, to]) => ({ edge: "knows", from: person(from), to: person(to), attributes: { since: "2000" } }) as const),
    { strict: true },
  );
});
afterAll(() => engine.close());

interface Part {
  readonly items: readonly unknown[];
  readonly complete: boolean;
  readonly stopped?: { readonly by: string; readonly left: { readonly nodes: number } } | undefined;
  readonly next?: string | undefined;
}
interface Budget {
  readonly requests?: number;
  readonly breadth?: number;
  readonly depth?: number;
}
type Ask = (options: { readonly budget?: Budget; readonly cursor?: string | undefined; readonly limit?: number }) => PromiseLike<Part>;

const hop = { out: "knows" } as const;
const both = { both: "knows" } as const;
const searches: readonly (readonly [string, Ask])[] = [
  ["shortestPath", (options) => open().person(person("start")).shortestPath(person("end"), hop, options)],
  ["shortestPaths", (options) => open().person(person("start")).shortestPaths(person("end"), hop, options)],
  ["shortestPaths in both directions", (options) => open().person(person("n10")).shortestPaths(person("n52"), both, options)],
  ["shortestPaths to nowhere", (options) => open().person(person("start")).shortestPaths(person("nobody"), hop, options)],
  [
    "shortestPaths that ask for nodes",
    (options) =>
      open()
        .person(person("start"))
        .shortestPaths(person("end"), { ...hop, whereNode: { age: { gte: 18 } } }, options),
  ],
  ["allPaths", (options) => open().person(person("start")).allPaths(person("end"), hop, options)],
  [
    "allPaths that ask for nodes",
    (options) =>
      open()
        .person(person("start"))
        .allPaths(person("end"), { ...hop, whereNode: { age: { gte: 18 } } }, options),
  ],
  ["cycle", (options) => open().person(person("n21")).cycle(hop, options)],
  [
    "common",
    (options) =>
      open()
        .person(person("n10"))
        .common(both, [person("n11"), person("n13")], options as WalkOptions),
  ],
  [
    "common that asks for nodes",
    (options) =>
      open()
        .person(person("n10"))
        .common({ ...both, whereNode: { age: { gte: 18 } } }, [person("n11")], options as WalkOptions),
  ],
];

const chain = async (
  ask: Ask,
  budget: Budget,
  limit?: number,
): Promise<{ readonly parts: readonly Part[]; readonly items: readonly unknown[] }> => {
  const parts: Part[] = [];
  let cursor: string | undefined;
  do {
    const before = sent.length;
    const part = await ask({ budget, cursor, ...(limit === undefined ? {} : { limit }) });
    parts.push(part);
    if (budget.requests !== undefined) expect(sent.length - before).toBeLessThanOrEqual(budget.requests);
    expect(part.complete).toBe(part.next === undefined);
    if (!part.complete && limit === undefined) expect(part.stopped?.left.nodes).toBeGreaterThan(0);
    cursor = part.next;
  } while (cursor !== undefined && parts.length < 200);
  return { parts, items: parts.flatMap(({ items }) => items) };
};

const sorted = (items: readonly unknown[]): readonly string[] => items.map((item) => JSON.stringify(item)).toSorted();

test.each(searches)("parts of %s add up to the whole, request for request", async (_, ask) => {
  sent = [];
  const whole = await ask({});
  const requests = sent.length;
  expect(whole).toMatchObject({ complete: true, stopped: undefined, next: undefined });
  for (const most of [1, 2, 3, 7]) {
    sent = [];
    const { parts, items } = await chain(ask, { requests: most });
    expect(sorted(items)).toEqual(sorted(whole.items));
    expect(parts.length).toBeGreaterThan(requests > most ? 1 : 0);
    expect(parts[0]).toMatchObject(requests > most ? { complete: false, stopped: { by: "requests" } } : { complete: true });
    // Nodes are read in batches of what is known by then: parts may take more of those.
    const queries = sent.filter(({ operation }) => operation === "Query").length;
    expect(queries).toBeLessThanOrEqual(requests);
  }
});

test("the searches find what there is", async () => {
  const [[, one], [, all]] = searches as [readonly [string, Ask], readonly [string, Ask]];
  const shortest = (await one({})).items as (readonly { readonly personId: string }[])[];
  expect(shortest.map((path) => path.map(({ personId }) => personId))).toEqual([
    ["start", "n10", "n33", expect.any(String), expect.any(String), "end"],
  ]);
  expect((await all({})).items).toHaveLength(4);
  expect(
    (
      await open()
        .person(person("start"))
        .shortestPath(person("n21"), { ...hop, whereNode: { age: { gte: 18 } } })
    ).items,
  ).toEqual([]);
  const around = await open()
    .person(person("n20"))
    .shortestPath(person("n32"), { ...both, whereNode: { age: { lt: 18 } } });
  expect(around.items).toEqual([]);
  expect(
    (
      await open()
        .person(person("n21"))
        .shortestPath(person("n32"), { ...hop, whereNode: { age: { gte: 18 } } })
    ).items,
  ).toHaveLength(1);
});

test.each(searches.filter(([title]) => title !== "shortestPath" && title !== "shortestPaths to nowhere"))(
  "%s goes on behind a node with more edges than the breadth, or takes a sample of them",
  async (_, ask) => {
    const whole = await ask({});
    const { parts, items } = await chain(ask, { breadth: 1 });
    expect(sorted(items)).toEqual(sorted(whole.items));
    expect(parts[0]).toMatchObject({ complete: false, stopped: { by: "breadth" } });
    const sample = await (ask as (options: object) => PromiseLike<Part>)({ budget: { breadth: 1 }, supernode: "sample" });
    expect(sample).toMatchObject({ complete: false, stopped: { by: "breadth" }, next: undefined });
  },
);

test("a call that somebody else made is continued by from(next)", async () => {
  const plain: readonly (readonly [string, Ask])[] = [
    [
      "ids",
      (options) =>
        open()
          .person(person("start"))
          .out("knows")
          .out("knows")
          .ids(options as WalkOptions),
    ],
    [
      "nodes",
      (options) =>
        open()
          .person(person("start"))
          .out("knows")
          .out("knows")
          .nodes(options as WalkOptions),
    ],
    ...searches.filter(([title]) => ["shortestPaths", "allPaths", "cycle", "common"].includes(title)),
  ];
  for (const [title, ask] of plain) {
    const whole = await ask({});
    const call = ask({ budget: { requests: 1 } }) as unknown as WalkCall<Part>;
    const items: unknown[] = [];
    let part = await call;
    items.push(...part.items);
    let parts = 1;
    for (let { next } = part; next !== undefined && parts < 200; next = part.next, parts++) {
      part = await call.from(next);
      items.push(...part.items);
    }
    expect(parts, title).toBeGreaterThan(1);
    expect(sorted(items), title).toEqual(sorted(whole.items));
    await expect(Promise.resolve(call.from("x")), title).rejects.toMatchObject({ code: "cursor.invalid" });
  }
});

test("a depth stops a search for paths; a limit gives some of them, and the next part the rest", async () => {
  for (const [title, ask] of searches.filter(([one]) => one.includes("Paths") && !one.includes("nowhere"))) {
    const whole = await ask({});
    const short = await ask({ budget: { depth: 2 } });
    expect(short, title).toMatchObject({ items: [], complete: false, stopped: { by: "depth", hop: 3 } });
    const rest = await ask({ cursor: short.next });
    expect(sorted(rest.items), title).toEqual(sorted(whole.items));
    const { parts, items } = await chain(ask, {}, 1);
    expect(sorted(items), title).toEqual(sorted(whole.items));
    expect(parts.length, title).toBe(whole.items.length);
  }
});

test("a cursor of another search, or of no search, is refused", async () => {
  const cursors = await Promise.all(
    searches.slice(1).map(async ([title, ask]) => [title, (await ask({ budget: { requests: 1 } })).next] as const),
  );
  const refused = { code: "cursor.invalid" };
  for (const [title, ask] of searches.slice(1)) {
    for (const [other, cursor] of cursors)
      if (other !== title) await expect(Promise.resolve(ask({ cursor })), `${title} ${other}`).rejects.toMatchObject(refused);
    await expect(Promise.resolve(ask({ cursor: "x" }))).rejects.toMatchObject(refused);
    const walk = await open()
      .person(person("start"))
      .out("knows")
      .out("knows")
      .ids({ budget: { requests: 1 } });
    await expect(Promise.resolve(ask({ cursor: walk.next }))).rejects.toMatchObject(refused);
  }
  expect(
    await open()
      .person(person("start"))
      .common(hop, [{ personId: 1 } as never])
      .run()
      .catch((error: unknown) => error),
  ).toMatchObject({ code: "traverse.start" });
});
