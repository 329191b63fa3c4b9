import { nodeOf, withGraph, type AnyRead, type UntypedDb, type UntypedNeighbours, type UntypedPage } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { collect, defineCommand, note, printJson, type Invocation, type CommandSpec } from "../invocation.ts";
import { counted, renderExplanation } from "../output/explanation.ts";
import { renderRows, type RowsStyle } from "../output/rows.ts";
import { continued, limitOf, oneOf } from "../read-options.ts";
import { parseAssignments } from "../text/assignments.ts";
import { fitTexts } from "../text/fit-texts.ts";
import { idUsage, parseNodeId } from "../text/node-id.ts";
import { showCost } from "./get.ts";

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

const filtered = async (
  neighbours: UntypedNeighbours,
  db: UntypedDb,
  { edge, where = [] }: { readonly edge: string; readonly where: readonly string[] | undefined },
): Promise<UntypedNeighbours> => {
  const { values, texts } = parseAssignments(where, "--where");
  const schema = db.catalog.edges[edge]?.definition.schema;
  return where.length === 0 ? neighbours : neighbours.where(await fitTexts(schema, values, texts));
};

const shaped = (neighbours: UntypedNeighbours, { reverse, unordered, consistent, using }: Options): UntypedNeighbours => {
  let shapedSoFar = neighbours;
  if (using !== undefined) shapedSoFar = shapedSoFar.using(using);
  if (reverse) shapedSoFar = shapedSoFar.reverse();
  if (unordered) shapedSoFar = shapedSoFar.unordered();
  return consistent ? shapedSoFar.consistent() : shapedSoFar;
};

interface Question {
  readonly read: AnyRead;
  readonly kind: (typeof kinds)[number] | "collection";
}

const edgeQuestion = async (call: Call, db: UntypedDb, direction: (typeof directions)[number]): Promise<Question> => {
  const { options, args, rest } = call;
  const edge = options[direction] ?? "";
  const { id, missing } = await parseNodeId(db.catalog, args[0] ?? "", rest);
  const node = nodeOf(db, args[0] ?? "");
  const neighbours = shaped(
    await filtered((missing.length > 0 ? node.within(id) : node(id))[direction](edge), db, { edge, where: options.where }),
    options,
  );
  const kind = oneOf(kinds, options) ?? "edges";
  if (kind === "count") return { kind, read: neighbours.count() };
  return { kind, read: neighbours.page({ limit: options.limit ?? 20, cursor: options.cursor, of: kind }) };
};

const question = async (call: Call, db: UntypedDb): Promise<Question> => {
  const { options, args, rest } = call;
  const name = args[0] ?? "";
  const node = nodeOf(db, name);
  const direction = oneOf(directions, options);
  if (direction !== undefined) return edgeQuestion(call, db, direction);
  const { id, missing } = await parseNodeId(db.catalog, name, rest);
  if (missing.length > 0)
    throw usageError(
      `The id of "${name}" lacks ${missing.join(" and ")}: edgetable query ${name} ${idUsage(db.catalog, name)} [--out EDGE | --in EDGE]`,
    );
  return { kind: "collection", read: node(id).collection(options.consistent ? { consistent: true } : {}) };
};

/** The id fields of what a question may give: the node and its parts, or the nodes at an edge's ends. */
const idFieldsOf = ({ options, args }: Call, { catalog }: UntypedDb): ReadonlySet<string> => {
  const { nodes, edges, parts } = catalog;
  const name = args[0] ?? "";
  const edge = edges[options.out ?? options.in ?? options.both ?? ""];
  const types = edge ? [...edge.from, ...edge.to] : [name];
  const own = edge ? [] : Object.values(parts).filter(({ definition }) => definition.of === name);
  return new Set([...types.flatMap((type) => nodes[type] ?? []), ...own].flatMap(({ idFields }) => idFields));
};

const rowsStyle = (call: Call, db: UntypedDb): RowsStyle => ({
  columns: call.io.out.columns,
  style: call.style,
  ids: idFieldsOf(call, db),
});

const printCollection = (
  call: Call,
  db: UntypedDb,
  value: Awaited<ReturnType<ReturnType<ReturnType<typeof nodeOf>>["collection"]>>,
): void => {
  const groups = [...(value.node ? [["node", [value.node]] as const] : []), ...Object.entries(value.edges), ...Object.entries(value.parts)];
  call.io.out.write(groups.map(([title, rows]) => `${call.style.bold(title)}\n${renderRows(rows, rowsStyle(call, db))}`).join("\n"));
};

const printPage = (call: Call, db: UntypedDb, page: UntypedPage): void => {
  call.io.out.write(renderRows(page.items, rowsStyle(call, db)));
  if (page.next !== undefined) note(call, continued(call.options.limit, page.next));
};

const rowsOf = (page: UntypedPage): string => (page.items.length === 0 ? "Nothing found; " : `${counted(page.items.length, "row")}; `);

const ask = async (call: Call, db: UntypedDb, { kind, read }: Question): Promise<void> => {
  const { io, options } = call;
  const { value, cost } = await read.report({ signal: io.signal });
  if (options.json) {
    printJson(call, value);
    return;
  }
  if (kind === "count") io.out.write(`${String(value)}\n`);
  else if (kind === "collection") printCollection(call, db, value as never);
  else printPage(call, db, value as UntypedPage);
  const page = kind === "count" || kind === "collection" ? undefined : (value as UntypedPage);
  note(call, `${page ? rowsOf(page) : ""}${showCost(cost)}`);
  if (page?.next !== undefined) note(call, continued(call.options.limit, page.next));
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
    { flags: "--where <name=value|json>", text: `conditions, such as '{"at":{"gte":"2024"}}'; can be repeated`, parse: collect },
    { flags: "--limit <n>", text: "rows of the page, 1 to 10,000 (default: 20)", parse: limitOf },
    { flags: "--cursor <cursor>", text: "go on where an earlier page ended" },
    { flags: "--edges", text: "show the edges (the default)" },
    { flags: "--nodes", text: "show the neighbours themselves" },
    { flags: "--entries", text: "show each edge with its neighbour" },
    { flags: "--ids", text: "show the neighbours' ids" },
    { flags: "--count", text: "only count" },
    { flags: "--reverse", text: "the opposite order" },
    { flags: "--unordered", text: "give up the edge's order, so that the table itself can answer" },
    { flags: "--consistent", text: "read strongly consistently: twice the units" },
    { flags: "--using <index>", text: "read from this index" },
    { flags: "--explain", text: "show the requests without sending them" },
  ],
  examples: [
    "edgetable query student S1",
    "edgetable query course C1 --in enrolledIn --entries",
    `edgetable query student studentId=S1 --out enrolledIn --where '{"at":{"gte":"2024"}}' --limit 5`,
    "edgetable query course C1 --in enrolledIn --explain",
  ],
  run: (call) =>
    withGraph(call, async (db) => {
      const asked = await question(call, db);
      const { io, options, style } = call;
      if (!options.explain) await ask(call, db, asked);
      else if (options.json) printJson(call, asked.read.explain());
      else io.out.write(renderExplanation(asked.read.explain(), style, io.out.columns));
      return exitCode.ok;
    }),
});
