import { expect } from "vitest";
import { nameOf } from "../naive/graph.ts";
import { byEnd, endOf, fold, numbersOn, rank, walkNaively, type NaiveStep } from "../naive/walk.ts";
import { inParts, onePart, type Ask, type Part } from "../walks/ask.ts";
import { conditionOn } from "./conditions.ts";
import {
  edgeTypes,
  endOf as endOfRow,
  idFields,
  nodeTypes,
  numbers,
  type EdgeName,
  type End,
  type NodeType,
  type Row,
} from "./vocabulary.ts";
import { checkRefusal, endAt, pick, textOf, type World } from "./world.ts";

interface Way {
  readonly edge: EdgeName;
  readonly direction: "out" | "in" | "both";
}

/** A walk as it is chosen: for the library, for the reference, and in words. */
interface Walking {
  readonly world: World;
  readonly start: End;
  /** The node types on which it stands. */
  readonly at: readonly NodeType[];
  readonly steps: readonly NaiveStep[];
  // oxlint-disable-next-line typescript/no-explicit-any -- a walk of a model that the compiler does not follow
  readonly walk: any;
  readonly said: string;
}

type Choose = (count: number) => number;

/** The edges that can be followed from nodes of these types. */
const onward = (at: readonly NodeType[]): readonly Way[] => {
  const ways: Way[] = [];
  for (const edge of Object.keys(edgeTypes) as readonly EdgeName[]) {
    const { from, to } = edgeTypes[edge];
    const out = at.some((type) => from.includes(type));
    const back = at.some((type) => to.includes(type));
    if (out) ways.push({ edge, direction: "out" });
    if (back) ways.push({ edge, direction: "in" });
    if (out && back && from.some((type) => to.includes(type) && at.includes(type))) ways.push({ edge, direction: "both" });
  }
  return ways;
};

const farTypes = (at: readonly NodeType[], { edge, direction }: Way): readonly NodeType[] => {
  const { from, to } = edgeTypes[edge];
  const meets = (ends: readonly NodeType[]): boolean => ends.some((type) => at.includes(type));
  return [...new Set([...(direction !== "in" && meets(from) ? to : []), ...(direction !== "out" && meets(to) ? from : [])])];
};

const hopOn = (walking: Walking, choose: Choose): Walking => {
  const { world, at, walk, steps } = walking;
  const way = pick(onward(at), choose(99));
  const { edge, direction } = way;
  const fields = [...edgeTypes[edge].attributes, ...(edgeTypes[edge].key ?? [])];
  const operator = pick(["gte", "lt", "between", "in", "ne"] as const, choose(99));
  const condition =
    choose(4) === 0 ? conditionOn(world, pick(fields, choose(9)), { operator, field: 0, low: choose(9), more: choose(9) }) : undefined;
  const far = farTypes(at, way);
  const rounds = choose(5) === 0 && far.every((type) => at.includes(type)) ? 2 : 1;
  const followed = rounds === 1 ? walk[direction](edge) : undefined;
  const asked = followed
    ? condition
      ? followed.where(condition.where)
      : followed
    : walk.repeat({ [direction]: edge, ...(condition ? { where: condition.where } : {}) }, { depth: rounds });
  const keepsEdge = condition && (({ attributes }: { readonly attributes: Row }) => condition.holds(attributes));
  const said = `${walking.said}.${direction}(${edge})×${rounds}${condition ? textOf(condition.where) : ""}`;
  return {
    ...walking,
    at: far,
    steps: [...steps, { kind: "hop", edges: [edge], direction, rounds, emit: "last", keepsEdge }],
    walk: asked,
    said,
  };
};

const filterOn = (walking: Walking, choose: Choose): Walking => {
  const { world, walk, at, start, steps, said } = walking;
  const some = [0, 1, 2].map((one) => endAt(world, pick(at, one + choose(3)), one + choose(3)));
  const typedIds = some.map(({ type, id }): Row => ({ type, ...(id as Row) }));
  const step = (one: NaiveStep, asked: unknown, words: string): Walking => ({
    ...walking,
    steps: [...steps, one],
    walk: asked,
    said: `${said}.${words}`,
  });
  switch (choose(6)) {
    case 0:
      return step({ kind: "dedupe" }, walk.dedupe(), "dedupe");
    case 1: {
      const { where, holds } = conditionOn(world, "size", { operator: "gte", field: 0, low: choose(9), more: 0 });
      return step({ kind: "filter", keepsNode: (row) => holds(row ?? {}) }, walk.whereNode(where), `whereNode${textOf(where)}`);
    }
    case 2:
      return step({ kind: "among", nodes: some }, walk.among(typedIds), `among${textOf(typedIds)}`);
    case 3:
      return step({ kind: "except", which: some }, walk.except(typedIds), `except${textOf(typedIds)}`);
    case 4:
      return at.includes(start.type as NodeType) ? step({ kind: "except", which: "start" }, walk.except("start"), "exceptStart") : walking;
    default:
      return step({ kind: "except", which: "passed" }, walk.except("passed"), "exceptPassed");
  }
};

const nameOfId = (at: readonly NodeType[], id: Row): string => {
  const type = (id["type"] ?? at.find((one) => idFields[one].every((field) => field in id))) as NodeType;
  return nameOf(endOfRow(type, id));
};

interface Figure {
  readonly id: Row;
  readonly count: number | bigint;
  readonly value?: unknown;
}

interface Asking {
  readonly name: string;
  readonly ask: Ask;
  /** True if the items of all parts are the answer, false if those of the last part are. */
  readonly adds: boolean;
  readonly show: (items: readonly never[], part: Part) => unknown;
  readonly expected: unknown;
  /** The attribute that it folds. */
  readonly field?: string;
}

const sorted = (list: readonly unknown[]): readonly string[] => list.map(textOf).toSorted();

/** Everything that a walk can be asked for, with the right answer. */
const askedOf = (walking: Walking, choose: Choose): readonly Asking[] => {
  const { world, walk, at, start, steps } = walking;
  const { graph } = world;
  const { paths } = walkNaively(graph, { starts: [start], steps });
  const groups = byEnd(paths);
  const hop = pick(onward(at), choose(99));
  const ends = paths.map(endOf);
  const figures = (items: readonly Figure[]): unknown =>
    sorted(items.map(({ id, count, value }) => [nameOfId(at, id), Number(count), value === undefined ? undefined : Number(value)]));
  const askings: Asking[] = [
    {
      name: "ids",
      ask: (options) => walk.ids(options),
      adds: true,
      show: (items: readonly Row[]) => sorted(items.map((id) => nameOfId(at, id))),
      expected: sorted([...groups.keys()]),
    },
    {
      name: "nodes",
      ask: (options) => walk.nodes(options),
      adds: true,
      // A walk that may end at nodes of several types tells the type of each.
      show: (items: readonly Row[]) => sorted(items.map((item) => ("row" in item ? item["row"] : item))),
      expected: sorted([...groups.values()].flatMap(([path]) => graph.node(endOf(path!))?.row ?? [])),
    },
    { name: "count", ask: (options) => walk.count(options), adds: false, show: (_, part) => Number(part.count), expected: paths.length },
    {
      name: "groupCount",
      ask: (options) => walk.groupCount(options),
      adds: false,
      show: figures,
      expected: sorted([...groups].map(([name, all]) => [name, all.length, undefined])),
    },
    {
      name: "rank",
      ask: (options) => walk.rank({ [hop.direction]: hop.edge }, { by: "degree", ...options }),
      adds: false,
      show: figures,
      expected: sorted(
        rank(graph, ends, { hop: { edges: [hop.edge], direction: hop.direction }, sums: undefined }).map(({ name, count, value }) => [
          name,
          count,
          value,
        ]),
      ),
    },
  ];
  const forgets = steps.findLastIndex(({ kind }) => kind === "dedupe");
  const followed = steps
    .slice(forgets + 1)
    .flatMap((step) => (step.kind === "hop" ? step.edges.map((edge) => edgeTypes[edge as EdgeName]) : []));
  const fields = [...new Set(followed.flatMap(({ attributes, key = [] }) => [...attributes, ...key]))].filter((name) => numbers.has(name));
  if (fields.length > 0) {
    const field = pick(fields, choose(9));
    const by = pick(["sum", "min", "max"] as const, choose(9));
    const expected = [...groups].map(([name, all]) => [
      name,
      all.length,
      fold(
        by,
        all.flatMap(({ edges }) => numbersOn(edges, field)),
      ),
    ]);
    askings.push({
      name: `${by}(${field})`,
      ask: (options) => walk[by](field, options),
      adds: false,
      show: figures,
      expected: sorted(expected),
      field,
    });
  }
  if (forgets === -1) {
    askings.push({
      name: "paths",
      ask: (options) => walk.paths({ limit: 100_000, ...options }),
      adds: true,
      show: (items: readonly (readonly Row[])[]) => sorted(items.map((path) => path.map((id) => nameOfId(nodeTypes, id)).join())),
      expected: sorted([...new Set(paths.map(({ nodes }) => nodes.map(nameOf).join()))]),
    });
  }
  return askings;
};

const budgets = [{ requests: 1 }, { requests: 3 }, { breadth: 1 }, { breadth: 2, requests: 2 }, { units: 1 }];

/** Makes a walk of chosen steps, asks one thing of it whole and in parts, and compares. */
export const walkOn = async (world: World, given: readonly number[]): Promise<void> => {
  let next = 0;
  const choose: Choose = (count) => (given[next++] ?? 0) % count;
  const start = endAt(world, pick(nodeTypes, choose(9)), choose(9));
  const begun = world.db[start.type](start.id).walk();
  let walking: Walking = { world, start, at: [start.type as NodeType], steps: [], walk: begun, said: nameOf(start) };
  const hops = 1 + choose(3);
  for (let at = 0; at < hops; at++) {
    walking = hopOn(walking, choose);
    if (choose(3) === 0) walking = filterOn(walking, choose);
  }
  const all = askedOf(walking, choose);
  // Folds as often as all else: they need attributes that an index may lack.
  const folded = all.filter(({ field }) => field !== undefined);
  const { name, ask, adds, show, expected, field } = pick(folded.length > 0 && choose(2) === 0 ? folded : all, choose(99));
  const label = `${walking.said}.${name}`;
  try {
    const { part: value } = await onePart(ask, {});
    expect(show(value.items, value), label).toEqual(expected);
    expect(value, label).toMatchObject({ complete: true, next: undefined });
    const budget = pick(budgets, choose(9));
    const parts = (await inParts(ask, { budget })).map(({ part }) => part);
    const last = parts.at(-1)!;
    const items = adds ? parts.flatMap((part) => part.items) : last.items;
    expect(show(items, last), `${label} within ${JSON.stringify(budget)}`).toEqual(expected);
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    // The message names the edge that the walk was refused for.
    const edges = walking.said.match(/(?<=\()\w+(?=\))/g) as readonly EdgeName[];
    const [, refused = ""] = /finds "(\w+)"/.exec(error.message) ?? [];
    expect([label, ...edges], `${label}: ${error.message}`).toContain(refused);
    const asked = [...(field === undefined ? [] : [field]), ...(walking.said.match(/(?<=\{)\w+/g) ?? [])];
    checkRefusal(world, error, { kind: refused as EdgeName, asked, label });
  }
};
