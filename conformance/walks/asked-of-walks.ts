import type { WalkExplanation } from "edgetable";
import { nameOf, type NaiveEnd, type NaiveGraph } from "../naive/graph.ts";
import { byEnd, endOf, fold, levels, numbersOn, rank, walkNaively, type NaivePath, type NaiveWalk } from "../naive/walk.ts";
import { countedNames } from "../oracle/model.ts";
import { names, pathNames, type AnyWalk, type Ask, type Part } from "./ask.ts";
import { nameOfId, type Id } from "./node-ids.ts";
import type { Asking } from "./check-parts.ts";
import { naiveHop, naivePlan, numberFields, type PlainHop, type PlainStep, type PlainWalk } from "./plain-walk.ts";
import { onward, typesAfter } from "./walks.ts";

/** A walk as the library makes it, and as it is made naively. */
export interface Walked {
  readonly plain: PlainWalk;
  readonly graph: NaiveGraph;
  readonly naive: NaiveWalk;
  readonly walk: AnyWalk;
  /** A number that chooses among what may be asked. */
  readonly pick: number;
  /** True if the model has reference edges. @default false */
  readonly references?: boolean;
}

type Row = Readonly<Record<string, unknown>>;
type Entry = readonly [string, unknown];

const byName = (entries: Iterable<Entry>): readonly Entry[] => [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));

const numberOrUndefined = (value: unknown): number | undefined => (value === undefined ? undefined : Number(value));

interface Figure {
  readonly id: Id;
  readonly count: number | bigint;
  readonly value?: number | bigint | undefined;
}

const counts = (items: readonly Figure[]): readonly Entry[] => byName(items.map(({ id, count }) => [nameOfId(id), Number(count)]));
const figures = (items: readonly Figure[]): readonly Entry[] =>
  byName(items.map(({ id, count, value }) => [nameOfId(id), [Number(count), numberOrUndefined(value)]]));

const figure = (name: string, ask: Ask, rest: Omit<Asking, "name" | "ask" | "adds">): Asking => ({ name, ask, adds: false, ...rest });
const listed = (name: string, ask: Ask, rest: Omit<Asking, "name" | "ask" | "adds">): Asking => ({ name, ask, adds: true, ...rest });

const isForgetful = (step: PlainStep): boolean =>
  step.kind === "dedupe" || (step.kind === "hop" && step.rounds === Number.POSITIVE_INFINITY);

const foldedEdges = ({ first, steps }: PlainWalk): readonly string[] => {
  const last = steps.findLastIndex((step) => isForgetful(step));
  const since = steps
    .slice(last + 1)
    .flatMap((step) => (step.kind === "hop" ? [step.edge, ...(step.atLeast === undefined ? (step.others ?? []) : [])] : []));
  const all = last === -1 && first ? [first.edge, ...since] : since;
  return [...new Set(all)].filter((edge) => numberFields[edge] !== undefined);
};

const foldsOf = ({ plain, naive, walk, pick }: Walked): readonly Asking[] => {
  const edges = foldedEdges(plain);
  const edge = edges[pick % Math.max(1, edges.length)];
  if (edge === undefined) return [];
  const field = numberFields[edge]!;
  return (["sum", "min", "max"] as const).map((by) => {
    const expected = byName(
      [...byEnd(naive.paths)].map(([name, paths]): Entry => {
        const numbers = paths.flatMap((path) => numbersOn(path.edges, field));
        return [name, [paths.length, fold(by, numbers)]];
      }),
    );
    return figure(`${by}(${field})`, (options) => walk[by](field, options), { show: figures, expected });
  });
};

// Where a walk may end on several kinds of nodes, each says of which it is.
const rowsOf = ({ graph, plain }: Walked, paths: readonly NaivePath[]): readonly Row[] => {
  const several = typesAfter(plain).length > 1;
  return paths.flatMap((path) => {
    const row = graph.node(endOf(path))?.row;
    return row ? [several ? { kind: endOf(path).type, row } : row] : [];
  });
};

const ownRow = (row: Row): Row => ("kind" in row ? (row["row"] as Row) : row);

// What the model counts of a node is not in the naive graph.
const withoutCounts = (row: Row): Row =>
  "kind" in row
    ? { ...row, row: withoutCounts(ownRow(row)) }
    : Object.fromEntries(Object.entries(row).filter(([name]) => !countedNames.includes(name)));

const sortedRows = (rows: readonly Row[]): readonly Row[] =>
  rows.map(withoutCounts).toSorted((a, b) => (nameOfId(ownRow(a)) < nameOfId(ownRow(b)) ? -1 : 1));

const pathsOf = ({ plain, naive, walk }: Walked): readonly Asking[] => {
  if (plain.steps.some((step) => isForgetful(step))) return [];
  const paths = [...new Set(naive.paths.map((way) => way.nodes.map(nameOf).join(" ")))].toSorted();
  const simple = paths.filter((path) => new Set(path.split(" ")).size === path.split(" ").length);
  const show = (items: readonly never[]): readonly string[] => pathNames(items);
  return [
    listed("paths", (options) => walk.paths({ limit: 100_000, ...options }), { show, expected: paths }),
    listed("simple paths", (options) => walk.paths({ limit: 100_000, simple: true, ...options }), { show, expected: simple }),
  ];
};

const hopFrom = ({ plain, pick, references = false }: Walked): PlainHop => {
  const ways = onward(typesAfter(plain), references);
  return { ...ways[pick % ways.length]!, atLeast: undefined, age: undefined };
};

const ranksOf = (walked: Walked): readonly Asking[] => {
  const hop = hopFrom(walked);
  const ends: readonly NaiveEnd[] = walked.naive.paths.map(endOf);
  const field = numberFields[hop.edge];
  return [undefined, ...(field === undefined ? [] : [field])].map((sums) => {
    const by = sums === undefined ? "degree" : { sum: sums };
    const expected = byName(
      rank(walked.graph, ends, { hop: naiveHop(hop), sums }).map(({ name, count, value }): Entry => [name, [count, value]]),
    );
    const ask: Ask = (options) => walked.walk.rank({ [hop.direction]: hop.edge }, { by, ...options });
    return figure(`rank along ${hop.direction} ${hop.edge} by ${JSON.stringify(by)}`, ask, { show: figures, expected, further: 1 });
  });
};

const levelsOf = ({ plain, graph, walk, pick }: Walked): readonly Asking[] => {
  const last = plain.steps.at(-1);
  if (last?.kind !== "hop" || last.emit !== "all" || last.rounds === Number.POSITIVE_INFINITY) return [];
  const field = pick % 2 === 0 ? numberFields[last.edge] : undefined;
  const starts = walkNaively(graph, naivePlan({ ...plain, steps: plain.steps.slice(0, -1) })).paths.map(endOf);
  // A hop that is followed once, and is no repeat, may lead back to its start.
  const isRepeat = last.rounds > 1 || last.age !== undefined;
  const isFirst = isRepeat && plain.steps.filter(({ kind }) => kind === "hop").length === 1;
  const expected = levels(graph, starts, { hop: naiveHop(last), depth: last.rounds, sums: field, isFirst });
  const ask: Ask = (options) => walk.levels({ ...(field === undefined ? {} : { sum: field }), ...options });
  return [figure("levels", ask, { show: (items) => items, expected })];
};

type PlannedHop = Extract<WalkExplanation["plan"]["steps"][number], { readonly kind: "hop" }>;

/** Directions in which a hop reads an index: in the others it reads the table itself. */
const orderedBy = (hop: PlannedHop | undefined): NonNullable<PlainHop["ordered"]> => {
  const [reading] = Object.values(hop?.reading ?? {});
  return (reading?.sources ?? []).flatMap((source, at) =>
    source.kind === "query" && source.index !== undefined ? [reading?.near[at] === "to" ? ("in" as const) : ("out" as const)] : [],
  );
};

/** The edge types of a hop in the order in which they are read: as listed, or by their keys where one Query reads several. */
const edgesIn = ({ edge, others }: Pick<PlainHop, "edge" | "others">, hop: PlannedHop | undefined): Pick<PlainHop, "edge" | "others"> => {
  const listed = [edge, ...(others ?? [])];
  const shapes = Object.values(hop?.reading ?? {}).flatMap(({ sources }) => sources.flatMap((source) => source.shapes));
  const read = [...new Set(shapes.map((shape) => listed.find((name) => shape.split(/[^A-Za-z]/).includes(name)) ?? edge))];
  const [first = edge, ...rest] = [...read, ...listed.filter((name) => !read.includes(name))];
  return { edge: first, others: rest };
};

/** The same walk, each hop's edges in the order of the index from which it reads them. */
const asRead = ({ first, ...plain }: PlainWalk, { steps }: WalkExplanation["plan"]): PlainWalk => {
  const hops = steps.filter((step) => step.kind === "hop");
  const readAs = (step: Extract<PlainStep, { kind: "hop" }>): PlainStep => {
    const hop = hops.shift();
    // Of several edge types, a condition leaves those that have its attribute.
    const edges = step.atLeast === undefined ? edgesIn(step, hop) : { edge: step.edge, others: [] };
    return { ...step, ...edges, ordered: orderedBy(hop) };
  };
  return {
    ...plain,
    first: first && { ...first, ordered: orderedBy(hops.shift()) },
    steps: plain.steps.map((step) => (step.kind === "hop" ? readAs(step) : step)),
  };
};

const inOrder = async ({ plain, graph }: Walked, ask: Ask): Promise<readonly NaivePath[]> => {
  const { plan } = await ask({}).explain();
  return [...byEnd(walkNaively(graph, naivePlan(asRead(plain, plan))).paths).values()].map(([path]) => path!);
};

/** Attributes of the nodes at the end: of persons alone, and of all types that have one of that name. */
const aggregatesOf = ({ plain, graph, naive, walk }: Walked): readonly Asking[] => {
  const types = typesAfter(plain);
  const rows = (having: readonly string[]): readonly Row[] =>
    naive.paths.flatMap((path) => {
      const row = having.includes(endOf(path).type) ? graph.node(endOf(path))?.row : undefined;
      return row ? [row] : [];
    });
  const [persons, named] = [rows(["person"]), rows(["person", "tag"])];
  const ages = persons.map((row) => row["age"] as number);
  const sum = fold("sum", ages) ?? 0;
  const folded = { sum: "age", min: "age", max: "age", average: "age" };
  const figures = { min: { age: fold("min", ages) }, max: { age: fold("max", ages) } };
  const whole = { count: persons.length, sum: { age: sum }, ...figures, average: { age: ages.length > 0 ? sum / ages.length : undefined } };
  const inGroups = [...new Set(ages)].map((age) => {
    const count = ages.filter((one) => one === age).length;
    return [count, age, age * count];
  });
  const sorted = (groups: readonly (readonly unknown[])[]): readonly string[] => groups.map((group) => JSON.stringify(group)).toSorted();
  interface Group {
    readonly group: Row;
    readonly count: number;
    readonly sum: Row;
  }
  const numbered = (items: readonly Group[]): readonly string[] =>
    sorted(items.map(({ group, count, sum: { age } }) => [count, group["age"], age]));
  const askings: Asking[] = [];
  if (types.includes("person")) {
    const shown = (_: unknown, { count, sum: sums, min, max, average }: Part & Record<string, unknown>): unknown => ({
      count,
      sum: sums,
      min,
      max,
      average,
    });
    askings.push(
      figure("aggregate", (options) => walk.aggregate(folded, options), { show: shown as Asking["show"], expected: whole }),
      figure("groupBy", (options) => walk.groupBy("age", { sum: "age" }, options), { show: numbered, expected: sorted(inGroups) }),
    );
  }
  if (types.includes("person") || types.includes("tag")) {
    const expected = named.length > 0 ? [["n", named.length]] : [];
    const show = (items: readonly Group[]): unknown => items.map(({ group, count }) => [group["name"], count]);
    askings.push(figure("groupBy name", (options) => walk.groupBy("name", {}, options), { show, expected }));
  }
  return askings;
};

const topOf = ({ naive, walk, pick }: Walked): Asking => {
  const most = 1 + (pick % 3);
  const all = new Map([...byEnd(naive.paths)].map(([name, ways]) => [name, ways.length]));
  const expected = [...all.values()].toSorted((a, b) => b - a).slice(0, most);
  const show = (items: readonly Figure[]): readonly (number | string)[] =>
    items.map(({ id, count }) => (all.get(nameOfId(id)) === Number(count) ? Number(count) : `${nameOfId(id)}: ${count}`));
  return figure(`top(${most})`, (options) => walk.top(most, options), { show, expected });
};

/** Everything that a walk can be asked for, with the right answer. */
export const askedOf = async (walked: Walked): Promise<readonly Asking[]> => {
  const { naive, walk } = walked;
  const groups = byEnd(naive.paths);
  const groupCounts = byName([...groups].map(([name, ways]): Entry => [name, ways.length]));
  const ids: Ask = (options) => walk.ids(options);
  const nodes: Ask = (options) => walk.nodes(options);
  const idOrder = {
    show: (items: readonly Id[]) => items.map(nameOfId),
    expected: (await inOrder(walked, ids)).map((way) => nameOf(endOf(way))),
  };
  const rowOrder = { show: (items: readonly Row[]) => items.map(withoutCounts), expected: rowsOf(walked, await inOrder(walked, nodes)) };
  return [
    listed("ids", ids, { show: names, expected: [...groups.keys()].toSorted(), order: idOrder }),
    listed("nodes", nodes, { show: sortedRows, expected: sortedRows(rowOrder.expected), order: rowOrder }),
    figure("count", (options) => walk.count(options), { show: (_, part) => Number(part.count), expected: naive.paths.length }),
    figure("groupCount", (options) => walk.groupCount(options), { show: counts, expected: groupCounts }),
    topOf(walked),
    ...foldsOf(walked),
    ...aggregatesOf(walked),
    ...pathsOf(walked),
    ...ranksOf(walked),
    ...levelsOf(walked),
  ];
};
