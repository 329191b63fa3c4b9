import { nodeOf, withGraph, type UntypedCollection, type UntypedDb, type UntypedNeighbours } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { defineCommand, type Invocation, type CommandSpec } from "../invocation.ts";
import { renderRows, type RowsStyle } from "../output/rows.ts";
import { DEFAULT_ROWS, oneOf, readOption, refuseIdle } from "../read-options.ts";
import { parseConditions } from "../text/conditions.ts";
import { idUsage, parseNodeId } from "../text/node-id.ts";
import { answerRead } from "../answer-read.ts";

interface Options {
  readonly out?: string;
  readonly in?: string;
  readonly both?: string;
  readonly where?: readonly string[];
  readonly limit?: number;
  readonly cursor?: string;
  readonly edges?: boolean;
  readonly nodes?: boolean;
  readonly entries?: boolean;
  readonly ids?: boolean;
  readonly count?: boolean;
  readonly reverse?: boolean;
  readonly unordered?: boolean;
  readonly consistent?: boolean;
  readonly using?: string;
  readonly explain?: boolean;
}

type Call = Invocation<Options>;

const directions = ["out", "in", "both"] as const;
const kinds = ["edges", "nodes", "entries", "ids", "count"] as const;
const ofEdges = ["where", "limit", "cursor", ...kinds, "reverse", "unordered", "using"];

const shaped = (neighbours: UntypedNeighbours, { reverse, unordered, consistent, using }: Options): UntypedNeighbours => {
  let shapedSoFar = neighbours;
  if (using !== undefined) shapedSoFar = shapedSoFar.using(using);
  if (reverse) shapedSoFar = shapedSoFar.reverse();
  if (unordered) shapedSoFar = shapedSoFar.unordered();
  return consistent ? shapedSoFar.consistent() : shapedSoFar;
};

/** The id fields of what is shown: of the nodes at an edge's ends, else of the node and its parts. */
const idFieldsOf = ({ args }: Call, { catalog }: UntypedDb, shown: string | undefined): ReadonlySet<string> => {
  const { nodes, edges, parts } = catalog;
  const name = args[0] ?? "";
  const edge = edges[shown ?? ""];
  const types = edge ? [...edge.from, ...edge.to] : [name];
  const own = edge ? [] : Object.values(parts).filter(({ definition }) => definition.of === name);
  return new Set([...types.flatMap((type) => nodes[type] ?? []), ...own].flatMap(({ idFields }) => idFields));
};

const rowsStyle = (call: Call, db: UntypedDb, edge?: string): RowsStyle => ({
  columns: call.io.out.columns,
  style: call.style,
  ids: idFieldsOf(call, db, edge),
});

const askEdge = async (call: Call, db: UntypedDb, direction: (typeof directions)[number]): Promise<void> => {
  const { options, args, rest } = call;
  const edge = options[direction] ?? "";
  const of = oneOf(kinds, options) ?? "edges";
  if (of === "count") refuseIdle(options, ["limit", "cursor"], "shows a page: leave --count out.");
  const node = nodeOf(db, args[0] ?? "");
  const { id, missing } = await parseNodeId(db.catalog, args[0] ?? "", rest);
  const neighbours = shaped((missing.length > 0 ? node.within(id) : node(id))[direction](edge), options);
  const conditions = await parseConditions(call, db.catalog.edges[edge]?.definition.schema);
  const asked = conditions ? neighbours.where(conditions) : neighbours;
  if (of === "count") return answerRead(call, { read: asked.count(), show: (count) => ({ text: `${count}\n` }) });
  const { limit = DEFAULT_ROWS, cursor } = options;
  return answerRead(call, {
    read: asked.page({ limit, cursor, of }),
    show: ({ items, next }) => ({ text: renderRows(items, rowsStyle(call, db, edge)), rows: items.length, next }),
  });
};

const groupsOf = ({
  node,
  edges,
  parts,
}: UntypedCollection): readonly (readonly [title: string, rows: readonly unknown[], edge?: string])[] => [
  ...(node ? [["node", [node]] as const] : []),
  ...Object.entries(edges).map(([edge, rows]) => [edge, rows, edge] as const),
  ...Object.entries(parts),
];

const askCollection = async (call: Call, db: UntypedDb): Promise<void> => {
  const { options, args, rest, style } = call;
  refuseIdle(options, ofEdges, "speaks of the edges of one type: name it with --out, --in or --both EDGE.");
  const name = args[0] ?? "";
  const node = nodeOf(db, name);
  const { id, missing } = await parseNodeId(db.catalog, name, rest);
  if (missing.length > 0)
    throw usageError(
      `The id of "${name}" lacks ${missing.join(" and ")}: edgetable query ${name} ${idUsage(db.catalog, name)} [--out EDGE | --in EDGE]`,
    );
  return answerRead(call, {
    read: node(id).collection(options.consistent ? { consistent: true } : {}),
    show: (collection) => ({
      text: groupsOf(collection)
        .map(([title, rows, edge]) => `${style.bold(title)}\n${renderRows(rows, rowsStyle(call, db, edge))}`)
        .join("\n"),
      rows: groupsOf(collection).reduce((sum, [, rows]) => sum + rows.length, 0),
    }),
  });
};

export const queryCommand: CommandSpec = defineCommand<Options>({
  name: "query",
  group: "Data:",
  arguments: "<node> [id...]",
  summary: "Read a node's neighbours, or all that lies with it",
  description:
    "With --out, --in or --both: the edges of one type. With none of them: the node, its edges and its parts in one Query. An id that stops at a level of its hierarchy asks for all nodes below it.",
  options: [
    { flags: "--out <edge>", text: "edges that leave the node" },
    { flags: "--in <edge>", text: "edges that reach the node" },
    { flags: "--both <edge>", text: "edges in either direction" },
    readOption.where('{"at":{"gte":"2024"}}'),
    readOption.limit,
    readOption.cursor,
    { flags: "--edges", text: "show the edges (the default)" },
    { flags: "--nodes", text: "show the neighbours themselves" },
    { flags: "--entries", text: "show each edge with its neighbour" },
    { flags: "--ids", text: "show the neighbours' ids" },
    readOption.count,
    readOption.reverse,
    { flags: "--unordered", text: "give up the edge's order, so that the table itself can answer" },
    readOption.consistent,
    readOption.using,
    readOption.explain,
  ],
  examples: [
    "edgetable query student S1",
    "edgetable query course C1 --in enrolledIn --entries",
    `edgetable query student studentId=S1 --out enrolledIn --where '{"at":{"gte":"2024"}}' --limit 5`,
    "edgetable query course C1 --in enrolledIn --explain",
  ],
  run: (call) =>
    withGraph(call, async (db) => {
      const direction = oneOf(directions, call.options);
      await (direction === undefined ? askCollection(call, db) : askEdge(call, db, direction));
      return exitCode.ok;
    }),
});
