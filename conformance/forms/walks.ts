import { expect } from "vitest";
import { inParts, onePart, type Ask, type Part } from "../walks/ask.ts";
import { conditionOn, type Condition } from "./conditions.ts";
import { nameOf, type End, type NaiveEdge } from "./naive-graph.ts";
import { edgeTypes, idFields, nodeTypes, numbers, type EdgeName, type NodeType, type Row } from "./vocabulary.ts";
import { checkRefusal, endAt, pick, textOf, type World } from "./world.ts";

interface Hop {
  readonly edge: EdgeName;
  readonly direction: "out" | "in" | "both";
  readonly condition: Condition | undefined;
}

/** One way through the graph; the edges are those since it was last told to forget. */
interface Way {
  readonly nodes: readonly End[];
  readonly edges: readonly NaiveEdge[];
}

interface Walking {
  readonly world: World;
  readonly start: End;
  readonly at: readonly NodeType[];
  readonly hops: readonly Hop[];
  readonly ways: readonly Way[];
  /** Nodes from which it went on. */
  readonly passed: ReadonlySet<string>;
  readonly forgot: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- a walk of a model that the compiler does not follow
  readonly walk: any;
  readonly said: string;
}

type Choose = (most: number) => number;

const endOf = (way: Way): End => way.nodes.at(-1)!;

const onward = (at: readonly NodeType[]): readonly Pick<Hop, "edge" | "direction">[] =>
  (Object.keys(edgeTypes) as readonly EdgeName[]).flatMap((edge) => {
    const { from, to } = edgeTypes[edge];
    const out = at.some((type) => from.includes(type));
    const back = at.some((type) => to.includes(type));
    const both = out && back && from.some((type) => to.includes(type) && at.includes(type));
    return [
      ...(out ? [{ edge, direction: "out" as const }] : []),
      ...(back ? [{ edge, direction: "in" as const }] : []),
      ...(both ? [{ edge, direction: "both" as const }] : []),
    ];
  });

const farTypes = (at: readonly NodeType[], { edge, direction }: Hop): readonly NodeType[] => {
  const { from, to } = edgeTypes[edge];
  const meets = (ends: readonly NodeType[]): boolean => ends.some((type) => at.includes(type));
  return [...new Set([...(direction !== "in" && meets(from) ? to : []), ...(direction !== "out" && meets(to) ? from : [])])];
};

const directionsOf = ({ edge, direction }: Hop): readonly ("out" | "in")[] =>
  edgeTypes[edge].symmetric ? ["out"] : direction === "both" ? ["out", "in"] : [direction];

const edgesAt = ({ graph }: World, at: End, hop: Hop): readonly (readonly [NaiveEdge, End])[] =>
  directionsOf(hop).flatMap((direction) =>
    graph
      .neighbours(at, { edge: hop.edge, direction, ordered: false })
      .filter((one) => !hop.condition || hop.condition.holds(one.attributes))
      .map((one) => [one, direction === "out" ? one.to : one.from] as const),
  );

const go = (world: World, ways: readonly Way[], hop: Hop): readonly Way[] =>
  ways.flatMap((way) =>
    edgesAt(world, endOf(way), hop).map(([edge, far]) => ({ nodes: [...way.nodes, far], edges: [...way.edges, edge] })),
  );

const distinct = (ways: readonly Way[]): readonly Way[] => [...new Map(ways.map((way) => [nameOf(endOf(way)), way])).values()];

const forgetting = (ways: readonly Way[]): readonly Way[] => distinct(ways).map(({ nodes }) => ({ nodes, edges: [] }));

const chooseHop = (world: World, at: readonly NodeType[], choose: Choose): Hop => {
  const way = pick(onward(at), choose(99));
  const fields = [...edgeTypes[way.edge].attributes, ...(edgeTypes[way.edge].key ?? [])];
  const operator = pick(["gte", "lt", "between", "in", "ne"] as const, choose(99));
  const condition =
    choose(4) === 0 ? conditionOn(world, pick(fields, choose(9)), { operator, field: 0, low: choose(9), more: choose(9) }) : undefined;
  return { ...way, condition };
};

const passing = ({ passed, ways }: Walking): ReadonlySet<string> => new Set([...passed, ...ways.map((way) => nameOf(endOf(way)))]);

const hopOn = (walking: Walking, choose: Choose): Walking => {
  const { world, at, walk, hops } = walking;
  const hop = chooseHop(world, at, choose);
  const { edge, direction, condition } = hop;
  const far = farTypes(at, hop);
  const rounds = choose(5) === 0 && far.every((type) => at.includes(type)) ? 2 : 1;
  let { ways } = walking;
  let passed = passing(walking);
  for (let round = 0; round < rounds; round++) {
    passed = passing({ ...walking, passed, ways });
    ways = go(world, ways, hop);
  }
  const plain =
    rounds === 1 && !hops.includes(hop)
      ? walk[direction](edge)
      : walk.repeat({ [direction]: edge, ...(condition ? { where: condition.where } : {}) }, { depth: rounds });
  const asked = rounds === 1 && condition ? plain.where(condition.where) : plain;
  const said = `${walking.said}.${direction}(${edge})×${rounds}${condition ? textOf(condition.where) : ""}`;
  return { ...walking, ways, passed, walk: asked, at: far, hops: [...hops, hop], said };
};

const typedIds = (ends: readonly End[]): readonly Row[] => ends.map(({ type, id }) => ({ type, ...id }));

const filterOn = (walking: Walking, choose: Choose): Walking => {
  const { world, walk, ways, at, start, passed } = walking;
  const some = [0, 1, 2].map((one) => endAt(world, pick(at, one + choose(3)), one + choose(3)));
  const names = new Set(some.map(nameOf));
  const keep = (test: (way: Way) => boolean): readonly Way[] => ways.filter(test);
  switch (choose(6)) {
    case 0:
      return { ...walking, walk: walk.dedupe(), ways: forgetting(ways), forgot: true, hops: [], said: `${walking.said}.dedupe` };
    case 1: {
      const condition = conditionOn(world, "size", { operator: "gte", field: 0, low: choose(9), more: 0 });
      return {
        ...walking,
        walk: walk.whereNode(condition.where),
        ways: keep((way) => condition.holds(world.graph.node(endOf(way))?.row ?? {})),
        said: `${walking.said}.whereNode${textOf(condition.where)}`,
      };
    }
    case 2:
      return {
        ...walking,
        walk: walk.among(typedIds(some)),
        ways: keep((way) => names.has(nameOf(endOf(way)))),
        said: `${walking.said}.among${textOf(typedIds(some))}`,
      };
    case 3:
      return {
        ...walking,
        walk: walk.except(typedIds(some)),
        ways: keep((way) => !names.has(nameOf(endOf(way)))),
        said: `${walking.said}.except${textOf(typedIds(some))}`,
      };
    case 4:
      return at.includes(start.type)
        ? {
            ...walking,
            walk: walk.except("start"),
            ways: keep((way) => nameOf(endOf(way)) !== nameOf(start)),
            said: `${walking.said}.exceptStart`,
          }
        : walking;
    default:
      return {
        ...walking,
        walk: walk.except("passed"),
        ways: keep((way) => !passed.has(nameOf(endOf(way)))),
        said: `${walking.said}.exceptPassed`,
      };
  }
};

const begin = (world: World, choose: Choose): Walking => {
  const start = endAt(world, pick(nodeTypes, choose(9)), choose(9));
  return {
    world,
    start,
    at: [start.type],
    hops: [],
    ways: [{ nodes: [start], edges: [] }],
    passed: new Set(),
    forgot: false,
    walk: world.db[start.type](start.id).walk(),
    said: nameOf(start),
  };
};

const nameOfId = (at: readonly NodeType[], id: Row): string => {
  const type = (id["type"] ?? at.find((one) => idFields[one].every((field) => field in id))) as NodeType;
  return nameOf({ type, id });
};

interface Figure {
  readonly id: Row;
  readonly count: number | bigint;
  readonly value?: unknown;
}

interface Asking {
  readonly name: string;
  readonly ask: Ask;
  readonly adds: boolean;
  readonly show: (items: readonly never[], part: Part) => unknown;
  readonly expected: unknown;
  readonly field?: string;
}

const grouped = (ways: readonly Way[]): ReadonlyMap<string, readonly Way[]> => {
  const groups = new Map<string, Way[]>();
  for (const way of ways) groups.set(nameOf(endOf(way)), [...(groups.get(nameOf(endOf(way))) ?? []), way]);
  return groups;
};

const folds = {
  sum: (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0),
  min: (all: readonly number[]) => Math.min(...all),
  max: (all: readonly number[]) => Math.max(...all),
};

const foldOf = ({ hops, walk, ways, at }: Walking, choose: Choose): readonly Asking[] => {
  const fields = [...new Set(hops.flatMap(({ edge }) => [...edgeTypes[edge].attributes, ...(edgeTypes[edge].key ?? [])]))].filter((field) =>
    numbers.has(field),
  );
  if (fields.length === 0) return [];
  const field = pick(fields, choose(9));
  const by = pick(["sum", "min", "max"] as const, choose(9));
  const expected = [...grouped(ways)].map(([name, all]) => {
    const values = all
      .flatMap(({ edges }) => edges)
      .flatMap(({ attributes }) => (attributes[field] === undefined ? [] : [attributes[field] as number]));
    return [name, all.length, values.length === 0 ? undefined : folds[by](values)];
  });
  const show = (items: readonly Figure[]): unknown =>
    sorted(items.map(({ id, count, value }) => [nameOfId(at, id), Number(count), value === undefined ? undefined : Number(value)]));
  return [{ name: `${by}(${field})`, ask: (options) => walk[by](field, options), adds: false, show, expected: sorted(expected), field }];
};

const sorted = (list: readonly unknown[]): readonly string[] => list.map(textOf).toSorted();

const askedOf = (walking: Walking, choose: Choose): readonly Asking[] => {
  const { world, walk, ways, at, forgot } = walking;
  const groups = grouped(ways);
  const names = sorted([...groups.keys()]);
  const rows = sorted([...groups.values()].flatMap(([way]) => world.graph.node(endOf(way!))?.row ?? []));
  const showIds = (items: readonly Row[]): unknown => sorted(items.map((id) => nameOfId(at, id)));
  const paths = sorted([...new Set(ways.map(({ nodes }) => nodes.map(nameOf).join()))]);
  const hop = pick(onward(at), choose(99));
  const degrees = [...groups.values()].flatMap(([way]) => {
    const degree = edgesAt(world, endOf(way!), { ...hop, condition: undefined }).length;
    return degree === 0 ? [] : [[nameOf(endOf(way!)), degree]];
  });
  const showDegrees = (items: readonly Figure[]): unknown => sorted(items.map(({ id, value }) => [nameOfId(at, id), Number(value)]));
  return [
    { name: "ids", ask: (options) => walk.ids(options), adds: true, show: showIds, expected: names },
    { name: "nodes", ask: (options) => walk.nodes(options), adds: true, show: sorted, expected: rows },
    { name: "count", ask: (options) => walk.count(options), adds: false, show: (_, part) => Number(part.count), expected: ways.length },
    {
      name: "groupCount",
      ask: (options) => walk.groupCount(options),
      adds: false,
      show: (items: readonly Figure[]) => sorted(items.map(({ id, count }) => [nameOfId(at, id), Number(count)])),
      expected: sorted([...groups].map(([name, all]) => [name, all.length])),
    },
    {
      name: "rank",
      ask: (options) => walk.rank({ [hop.direction]: hop.edge }, { by: "degree", ...options }),
      adds: false,
      show: showDegrees,
      expected: sorted(degrees),
    },
    ...foldOf(walking, choose),
    ...(forgot
      ? []
      : [
          {
            name: "paths",
            ask: ((options) => walk.paths({ limit: 100_000, ...options })) as Ask,
            adds: true,
            show: (items: readonly (readonly Row[])[]) => sorted(items.map((path) => path.map((id) => nameOfId(nodeTypes, id)).join())),
            expected: paths,
          },
        ]),
  ];
};

const budgets = [{ requests: 1 }, { requests: 3 }, { breadth: 1 }, { breadth: 2, requests: 2 }, { units: 1 }];

/** Makes a walk of chosen steps, asks one thing of it whole and in parts, and compares. */
export const walkOn = async (world: World, given: readonly number[]): Promise<void> => {
  let next = 0;
  const choose: Choose = (most) => (given[next++] ?? 0) % most;
  let walking = begin(world, choose);
  const hops = 1 + choose(3);
  for (let at = 0; at < hops; at++) {
    walking = hopOn(walking, choose);
    if (choose(3) === 0) walking = filterOn(walking, choose);
  }
  const all = askedOf(walking, choose);
  // Figures over edges as often as all else: they ask for what an index may lack.
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
    expect(show(adds ? parts.flatMap(({ items }) => items) : last.items, last), `${label} within ${JSON.stringify(budget)}`).toEqual(
      expected,
    );
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    const kinds = walking.said.match(/(?<=\()\w+(?=\))/g) as readonly EdgeName[];
    refused(world, error, { label, kinds, asked: [...(field === undefined ? [] : [field]), ...(walking.said.match(/(?<=\{)\w+/g) ?? [])] });
  }
};

// Of which of its edges a walk's refusal speaks, the message says.
const refused = (
  world: World,
  error: Error,
  at: { readonly label: string; readonly kinds: readonly EdgeName[]; readonly asked: readonly string[] },
): void => {
  const [, kind = ""] = /finds "(\w+)"/.exec(error.message) ?? [];
  expect([at.label, ...at.kinds], `${at.label}: ${error.message}`).toContain(kind);
  checkRefusal(world, error, { kind: kind as EdgeName, asked: at.asked, label: at.label });
};
