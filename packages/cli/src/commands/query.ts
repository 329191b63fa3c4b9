import { answerRead, DEFAULT_ROWS, oneOf, readOption, rejectUnused } from "../answer-read.ts";
import { endOf, withGraph, type UntypedDb } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { defineCommand, type CommandSpec, type Invocation } from "../invocation.ts";
import { renderRows } from "../output/table.ts";
import { idUsage, parseConditions, parseId } from "../text/arguments.ts";

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

const directions = ["out", "in", "both"] as const;
const results = ["edges", "nodes", "entries", "ids", "count"] as const;

/** Renders rows of the node and its parts, or of an edge: the id fields of these come first. */
const renderer = ({ io, style, args }: Invocation<Options>, { catalog }: UntypedDb) => {
  const { ends, edges, parts } = catalog;
  return (rows: readonly unknown[], edgeName?: string): string => {
    const edge = edges[edgeName ?? ""];
    const types = edge ? [...edge.from, ...edge.to] : [args[0] ?? ""];
    const ids = new Set(types.flatMap((type) => ends[type]?.idFields ?? []));
    if (!edge)
      for (const { definition, idFields } of Object.values(parts))
        if (definition.of === args[0]) for (const field of idFields) ids.add(field);
    return renderRows(rows, { columns: io.out.columns, style, ids });
  };
};

const queryEdge = async (call: Invocation<Options>, db: UntypedDb, direction: (typeof directions)[number]): Promise<void> => {
  const { options, args, rest } = call;
  const { reverse, unordered, consistent, using, limit = DEFAULT_ROWS, cursor } = options;
  const edge = options[direction] ?? "";
  const of = oneOf(results, options) ?? "edges";
  if (of === "count") rejectUnused(options, ["limit", "cursor"], "applies to a page: omit --count.");
  const node = endOf(db, args[0] ?? "");
  const { id, missing } = await parseId(db.catalog, args[0] ?? "", rest);
  let neighbours = (missing.length > 0 ? node.within(id) : node(id))[direction](edge);
  if (using !== undefined) neighbours = neighbours.using(using);
  if (reverse) neighbours = neighbours.reverse();
  if (unordered) neighbours = neighbours.unordered();
  if (consistent) neighbours = neighbours.consistent();
  const conditions = await parseConditions(call, { catalog: db.catalog, name: edge });
  if (conditions) neighbours = neighbours.where(conditions);
  if (of === "count") return answerRead(call, neighbours.count(), (count) => ({ text: `${count}\n` }));
  const render = renderer(call, db);
  return answerRead(call, neighbours.page({ limit, cursor, of }), ({ items, next }) => ({
    text: render(items, edge),
    rows: items.length,
    next,
  }));
};

const queryCollection = async (call: Invocation<Options>, db: UntypedDb): Promise<void> => {
  const { options, args, rest, style } = call;
  rejectUnused(
    options,
    ["where", "limit", "cursor", ...results, "reverse", "unordered", "using"],
    "applies to edges of one type: name it with --out, --in or --both EDGE.",
  );
  const name = args[0] ?? "";
  const node = endOf(db, name);
  if (Object.hasOwn(db.catalog.parts, name)) {
    const edges = Object.values(db.catalog.edges).filter(({ from, to }) => from.includes(name) || to.includes(name));
    throw usageError(
      `"${name}" is a part: name one of its edges (${edges.map((edge) => edge.name).join(", ")}) with --out, --in or --both, or read its row: edgetable get ${name} ${idUsage(db.catalog, name)}`,
    );
  }
  const { id, missing } = await parseId(db.catalog, name, rest);
  if (missing.length > 0)
    throw usageError(
      `The id of "${name}" lacks ${missing.join(" and ")}: edgetable query ${name} ${idUsage(db.catalog, name)} [--out EDGE | --in EDGE]`,
    );
  const render = renderer(call, db);
  return answerRead(call, node(id).collection(options.consistent ? { consistent: true } : {}), ({ node: row, edges, parts }) => {
    const blocks: string[] = [];
    let count = 0;
    const add = (title: string, rows: readonly unknown[], edge?: string): void => {
      blocks.push(`${style.bold(title)}\n${render(rows, edge)}`);
      count += rows.length;
    };
    if (row) add("node", [row]);
    for (const [edge, rows] of Object.entries(edges)) add(edge, rows, edge);
    for (const [part, rows] of Object.entries(parts)) add(part, rows);
    return { text: blocks.join("\n"), rows: count };
  });
};

export const queryCommand: CommandSpec = defineCommand<Options>({
  name: "query",
  group: "Data:",
  arguments: "<node> [id...]",
  summary: "Read a node's neighbours, or its whole item collection",
  description:
    "With --out, --in or --both, reads the edges of one type. Otherwise, reads the node, its edges and its parts with one Query. With --out or --in, an id that stops at a level of its hierarchy stands for all nodes below that level, if the model's layout has an index whose partition key holds these levels.",
  options: [
    { flags: "--out <edge>", text: "edges that start at the node" },
    { flags: "--in <edge>", text: "edges that lead to the node" },
    { flags: "--both <edge>", text: "edges in either direction" },
    readOption.where('{"at":{"gte":"2024"}}'),
    readOption.limit,
    readOption.cursor,
    { flags: "--edges", text: "show the edges (default)" },
    { flags: "--nodes", text: "show the neighbours" },
    { flags: "--entries", text: "show each edge with its neighbour" },
    { flags: "--ids", text: "show the neighbours' ids" },
    readOption.count,
    readOption.reverse,
    { flags: "--unordered", text: "ignore the edge's order, so that the table itself can serve the read" },
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
      await (direction === undefined ? queryCollection(call, db) : queryEdge(call, db, direction));
      return exitCode.ok;
    }),
});
