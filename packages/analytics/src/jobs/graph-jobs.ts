import { EdgetableError } from "edgetable";
import { edgeRows, type Program, type Step, type StoredTable, tableOf } from "../lake.ts";

/**
 * Algorithms over the edges of one or several edge types. The SQL is what DuckDB and Spark share: decimals are written as
 * doubles (`0.15e0`: Spark would make it a decimal and round), orders say where nulls go, and loops are the program's.
 */

interface Tables {
  readonly tables: readonly StoredTable[];
}

/** The edges that a job walks. */
export interface GraphOptions {
  /** Names of edge types. @default every edge type of the model */
  readonly edges?: readonly string[];
}

export const wholeNumber = (name: string, value: number, [least, most]: readonly [number, number]): number => {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new EdgetableError("plan.invalidOption", `${name} must be a whole number from ${least} to ${most}; it is ${value}.`, {
    details: { option: name, value },
  });
};

/** The tables of the chosen edges. */
const chosenTables = (lake: Tables, { edges }: GraphOptions): readonly StoredTable[] => {
  const all = lake.tables.filter(({ kind }) => kind === "edge").map(({ definition }) => definition);
  const tables = (edges ?? all).map((name) => tableOf(lake, name, "edge"));
  if (tables.length === 0)
    throw new EdgetableError("analytics.lake", "The lake has no edge type, so this job has nothing to walk.", { details: {} });
  return tables;
};

/** A SELECT of the chosen edges, those without direction from both of their ends; parallel ones are repeated. */
const chosenEdges = (lake: Tables, options: GraphOptions): string =>
  chosenTables(lake, options)
    .map((table) => `select source, target from ${edgeRows(table)} as e`)
    .join(" union all ");

/** `arcs(source, target)`: the chosen edges, each pair of nodes once. */
const arcs = (lake: Tables, options: GraphOptions): Step => ({
  kind: "table",
  name: "arcs",
  select: `select distinct source, target from (${chosenEdges(lake, options)}) as chosen`,
});

/**
 * `numbers(node, id)`: every node that has an edge, numbered in the order of its text; `pairs(a, b)`: the chosen edges in these
 * numbers, each pair of nodes once. Loops join numbers in a third of the time that texts take.
 */
const numbered = (lake: Tables, options: GraphOptions): readonly Step[] => [
  { kind: "table", name: "chosen", select: chosenEdges(lake, options) },
  {
    kind: "table",
    name: "numbers",
    select: `select node, cast(row_number() over (order by node) as bigint) as id
      from (select source as node from chosen union select target as node from chosen) as ends`,
  },
  {
    kind: "table",
    name: "pairs",
    select: `select distinct x.id as a, y.id as b from chosen join numbers as x on x.node = chosen.source join numbers as y on y.node = chosen.target`,
  },
];

/** `links(a, b)`: the same edges without direction, in both orders, without loops. */
const links: Step = {
  kind: "table",
  name: "links",
  select:
    "select distinct a, b from (select source as a, target as b from arcs union all select target as a, source as b from arcs) as both_ways where a <> b",
};

/** The ends of the edges of a table: an edge without direction leaves and reaches each of its nodes, and is one edge there. */
const endsOf = (table: StoredTable): string =>
  table.symmetric
    ? `select source as node, 1 as leaving, 1 as reaching, 1 as edges from ${edgeRows(table)} as e`
    : `select source as node, 1 as leaving, 0 as reaching, 1 as edges from ${table.name}
        union all select target as node, 0 as leaving, 1 as reaching, 1 as edges from ${table.name}`;

/** Edges of each node: how many leave it, reach it, and both. Parallel edges count one by one; an edge from a node to itself has two ends there. */
export const degrees = (lake: Tables, options: GraphOptions = {}): Program => ({
  job: "degrees",
  what: "How many edges leave and reach each node.",
  steps: [
    { kind: "table", name: "ends", select: chosenTables(lake, options).map(endsOf).join(" union all ") },
    {
      kind: "table",
      name: "degrees",
      select: "select node, sum(leaving) as out_degree, sum(reaching) as in_degree, sum(edges) as degree from ends group by node",
    },
  ],
  result: { table: "degrees", orderBy: "degree desc nulls last, node" },
});

export interface PageRankOptions extends GraphOptions {
  /** Rounds, 1 to 1,000. @default 20 */
  readonly rounds?: number;
  /** The share of a node's rank that follows its edges, 0 to 1. @default 0.85 */
  readonly damping?: number;
}

/** PageRank. The ranks of all nodes sum to 1: what nodes without out-edges hold is spread over all. */
export const pageRank = (lake: Tables, { rounds = 20, damping = 0.85, ...options }: PageRankOptions = {}): Program => {
  wholeNumber("rounds", rounds, [1, 1000]);
  if (!(damping >= 0 && damping <= 1))
    throw new EdgetableError("plan.invalidOption", `damping must be from 0 to 1; it is ${damping}.`, {
      details: { option: "damping", value: damping },
    });
  const follows = damping.toExponential();
  const jumps = `(1e0 - ${follows})`;
  return {
    job: "pageRank",
    what: `PageRank after ${rounds} rounds with a damping of ${damping}.`,
    steps: [
      ...numbered(lake, options),
      { kind: "table", name: "nodes_in_all", select: "select cast(count(*) as double) as nodes from numbers" },
      { kind: "table", name: "shares", select: "select a, b, 1e0 / count(*) over (partition by a) as share from pairs" },
      {
        kind: "table",
        name: "ending",
        select: "select numbers.id from numbers anti join pairs on pairs.a = numbers.id",
      },
      { kind: "table", name: "ranked", select: "select id, 1e0 / nodes as rank from numbers cross join nodes_in_all" },
      {
        kind: "repeat",
        atMost: rounds,
        steps: [
          {
            kind: "table",
            name: "spread",
            select: "select coalesce(sum(rank), 0e0) as held from ranked join ending on ending.id = ranked.id",
          },
          {
            kind: "table",
            name: "arriving",
            select: "select shares.b as id, sum(rank * share) as gained from shares join ranked on ranked.id = shares.a group by shares.b",
          },
          {
            kind: "table",
            name: "ranked",
            select: `select numbers.id, ${jumps} / nodes + ${follows} * (coalesce(gained, 0e0) + held / nodes) as rank
              from numbers cross join nodes_in_all cross join spread left join arriving on arriving.id = numbers.id`,
          },
        ],
      },
      { kind: "table", name: "ranks", select: "select numbers.node, ranked.rank from ranked join numbers on numbers.id = ranked.id" },
    ],
    result: { table: "ranks", orderBy: "rank desc nulls last, node" },
  };
};

/** Connected components, edges taken without direction; a component is named by its least node. */
export const components = (lake: Tables, options: GraphOptions = {}): Program => ({
  job: "components",
  what: "Which nodes are connected, whatever the direction of the edges.",
  steps: [
    ...numbered(lake, options),
    { kind: "table", name: "roots", select: "select id, id as root from numbers" },
    // Each link once, from the greater root to the lesser: what is merged leaves the links, so every round has fewer.
    {
      kind: "table",
      name: "links",
      select: "select distinct greatest(a, b) as a, least(a, b) as b from pairs where a <> b",
    },
    {
      kind: "repeat",
      atMost: 1000,
      until: "select count(*) as open_links from links",
      steps: [
        // Each root hooks onto the least root beside it, then every hook jumps to the end of its chain: few rounds, also on long paths.
        { kind: "table", name: "hooks", select: "select a as root, min(b) as onto from links group by a" },
        {
          kind: "repeat",
          atMost: 64,
          until: "select count(*) as moving from hooks join hooks as above on above.root = hooks.onto",
          steps: [
            {
              kind: "table",
              name: "hooks",
              select:
                "select hooks.root, coalesce(above.onto, hooks.onto) as onto from hooks left join hooks as above on above.root = hooks.onto",
            },
          ],
        },
        {
          kind: "table",
          name: "roots",
          select: "select roots.id, coalesce(hooks.onto, roots.root) as root from roots left join hooks on hooks.root = roots.root",
        },
        {
          kind: "table",
          name: "links",
          select: `select distinct greatest(a, b) as a, least(a, b) as b from (select coalesce(x.onto, links.a) as a, coalesce(y.onto, links.b) as b
            from links left join hooks as x on x.root = links.a left join hooks as y on y.root = links.b) as moved where a <> b`,
        },
      ],
    },
    {
      kind: "table",
      name: "components",
      select: `select x.node, y.node as component, count(*) over (partition by roots.root) as size
        from roots join numbers as x on x.id = roots.id join numbers as y on y.id = roots.root`,
    },
  ],
  result: { table: "components", orderBy: "size desc nulls last, component, node" },
});

/** Triangles through each node, edges taken without direction. */
export const triangles = (lake: Tables, options: GraphOptions = {}): Program => ({
  job: "triangles",
  what: "How many triangles each node is part of, whatever the direction of the edges.",
  steps: [
    arcs(lake, options),
    links,
    // Each link once, from the node of fewer neighbours: a hub's neighbours are never paired with each other.
    { kind: "table", name: "counts", select: "select a as node, count(*) as degree from links group by a" },
    {
      kind: "table",
      name: "upward",
      select: `select links.a, links.b from links join counts as x on x.node = links.a join counts as y on y.node = links.b
        where x.degree < y.degree or (x.degree = y.degree and links.a < links.b)`,
    },
    {
      kind: "table",
      name: "corners",
      select: `select x.a as one, x.b as two, y.b as three from upward as x join upward as y on y.a = x.a and y.b <> x.b
        join upward as z on z.a = x.b and z.b = y.b`,
    },
    {
      kind: "table",
      name: "triangles",
      select: `select node, count(*) as triangles from (select one as node from corners union all select two as node from corners
        union all select three as node from corners) as ends group by node`,
    },
  ],
  result: { table: "triangles", orderBy: "triangles desc nulls last, node" },
});

/** The nodes of the k-core: the largest part of the graph in which every node has at least k neighbours. */
export const kCore = (
  lake: Tables,
  { k, ...options }: GraphOptions & { /** Neighbours that each must have, 1 to 1,000,000. */ readonly k: number },
): Program => {
  wholeNumber("k", k, [1, 1_000_000]);
  return {
    job: "kCore",
    what: `The nodes that keep at least ${k} neighbours among themselves.`,
    steps: [
      arcs(lake, options),
      links,
      {
        kind: "repeat",
        atMost: 100_000,
        until: "select count(*) as falling from weak",
        steps: [
          { kind: "table", name: "weak", select: `select a as node from links group by a having count(*) < ${k}` },
          {
            kind: "table",
            name: "links",
            select: "select links.a, links.b from links anti join weak as x on x.node = links.a",
          },
          {
            kind: "table",
            name: "links",
            select: "select links.a, links.b from links anti join weak as y on y.node = links.b",
          },
        ],
      },
      { kind: "table", name: "core", select: "select a as node, count(*) as neighbours from links group by a" },
    ],
    result: { table: "core", orderBy: "neighbours desc nulls last, node" },
  };
};

export interface HopsOptions extends GraphOptions {
  /** A SELECT of the nodes to start from, in a column `node`, such as `select node from course where credits > 3`. */
  readonly from: string;
  /** Which way edges are followed. @default "out" */
  readonly direction?: "out" | "in" | "both";
  /** Hops at most, 1 to 1,000. @default 1,000 */
  readonly atMost?: number;
}

/** The least number of hops from a set of nodes to each node that can be reached. */
export const hops = (lake: Tables, { from, direction = "out", atMost = 1000, ...options }: HopsOptions): Program => {
  wholeNumber("atMost", atMost, [1, 1000]);
  const forward = "select source as a, target as b from arcs";
  const backward = "select target as a, source as b from arcs";
  const ways = { out: forward, in: backward, both: `${forward} union ${backward}` }[direction];
  return {
    job: "hops",
    what: `The least number of hops (${direction}) from the chosen nodes.`,
    steps: [
      // First: the tables after it may be called as one that the SELECT reads.
      { kind: "table", name: "reached", select: `select distinct node, 0 as hops from (${from}) as chosen` },
      arcs(lake, options),
      { kind: "table", name: "steps", select: ways },
      { kind: "table", name: "frontier", select: "select node, hops from reached" },
      {
        kind: "repeat",
        atMost,
        until: "select count(*) as nodes from frontier",
        steps: [
          {
            kind: "table",
            name: "frontier",
            select: `select distinct steps.b as node, frontier.hops + 1 as hops from frontier join steps on steps.a = frontier.node
              anti join reached on reached.node = steps.b`,
          },
          { kind: "table", name: "reached", select: "select node, hops from reached union all select node, hops from frontier" },
        ],
      },
    ],
    result: { table: "reached", orderBy: "hops, node" },
  };
};

export interface CommonNeighboursOptions extends GraphOptions {
  /** Neighbours that two nodes must share, 1 to 1,000,000. @default 2 */
  readonly atLeast?: number;
  /** Nodes with more neighbours are left out: a supernode relates everybody. 2 to 1,000,000. @default 1,000 */
  readonly degreeAtMost?: number;
}

/** Pairs of sources with the targets that they share. */
export const commonNeighbours = (lake: Tables, { atLeast = 2, degreeAtMost = 1000, ...options }: CommonNeighboursOptions = {}): Program => {
  wholeNumber("atLeast", atLeast, [1, 1_000_000]);
  wholeNumber("degreeAtMost", degreeAtMost, [2, 1_000_000]);
  return {
    job: "commonNeighbours",
    what: `Pairs of nodes that share at least ${atLeast} targets; targets of more than ${degreeAtMost} sources are left out.`,
    steps: [
      arcs(lake, options),
      {
        kind: "table",
        name: "narrow",
        select: `select arcs.source, arcs.target from arcs join
          (select target from arcs group by target having count(*) <= ${degreeAtMost}) as few on few.target = arcs.target`,
      },
      {
        kind: "table",
        name: "pairs",
        select: `select x.source as a, y.source as b, count(*) as shared from narrow as x join narrow as y on y.target = x.target and x.source < y.source
          group by x.source, y.source having count(*) >= ${atLeast}`,
      },
    ],
    result: { table: "pairs", orderBy: "shared desc nulls last, a, b" },
  };
};

export interface RecommendOptions extends CommonNeighboursOptions {
  /** Recommendations for each target, 1 to 1,000. @default 10 */
  readonly top?: number;
}

/** "Who took this took": for each target, the targets that share most sources with it. */
export const recommend = (lake: Tables, { top = 10, atLeast = 2, degreeAtMost = 1000, ...options }: RecommendOptions = {}): Program => {
  wholeNumber("top", top, [1, 1000]);
  wholeNumber("atLeast", atLeast, [1, 1_000_000]);
  wholeNumber("degreeAtMost", degreeAtMost, [2, 1_000_000]);
  return {
    job: "recommend",
    what: `For each target the ${top} others that share most sources with it; sources of more than ${degreeAtMost} targets are left out.`,
    steps: [
      arcs(lake, options),
      {
        kind: "table",
        name: "narrow",
        select: `select arcs.source, arcs.target from arcs join
          (select source from arcs group by source having count(*) <= ${degreeAtMost}) as few on few.source = arcs.source`,
      },
      { kind: "table", name: "sizes", select: "select target, count(*) as sources from narrow group by target" },
      {
        kind: "table",
        name: "pairs",
        select: `select x.target as node, y.target as recommended, count(*) as shared from narrow as x join narrow as y on y.source = x.source and y.target <> x.target
          group by x.target, y.target having count(*) >= ${atLeast}`,
      },
      {
        kind: "table",
        name: "scored",
        select: `select pairs.node, pairs.recommended, pairs.shared, cast(pairs.shared as double) / (a.sources + b.sources - pairs.shared) as jaccard
          from pairs join sizes as a on a.target = pairs.node join sizes as b on b.target = pairs.recommended`,
      },
      {
        kind: "table",
        name: "recommendations",
        select: `select node, recommended, shared, jaccard, place from (select *, cast(row_number() over (partition by node
          order by shared desc nulls last, jaccard desc nulls last, recommended) as bigint) as place from scored) as ranked where place <= ${top}`,
      },
    ],
    result: { table: "recommendations", orderBy: "node, place" },
  };
};
