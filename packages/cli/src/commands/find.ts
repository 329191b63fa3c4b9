import { findIn, withGraph, type AnyRead, type UntypedDb, type UntypedPage, type UntypedSearch } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { collect, defineCommand, note, printJson, type CommandSpec, type Invocation } from "../invocation.ts";
import { counted, renderExplanation } from "../output/explanation.ts";
import { renderRows, type RowsStyle } from "../output/rows.ts";
import { continued, limitOf, oneOf } from "../read-options.ts";
import { parseAssignments } from "../text/assignments.ts";
import { fitTexts } from "../text/fit-texts.ts";
import { showCost } from "./get.ts";

interface Options {
  readonly where?: readonly string[];
  readonly limit?: number;
  readonly cursor?: string;
  readonly sources?: boolean;
  readonly targets?: boolean;
  readonly count?: boolean;
  readonly reverse?: boolean;
  readonly using?: string;
  readonly explain?: boolean;
}

type Call = Invocation<Options>;

const DEFAULT_ROWS = 20;
const answers = ["sources", "targets", "count"] as const;

const kindsOf = ({ args, rest }: Call): readonly string[] => [args[0] ?? "", ...rest];

const searched = async (call: Call, db: UntypedDb): Promise<UntypedSearch> => {
  const { where = [], reverse, using } = call.options;
  const kinds = kindsOf(call);
  const { nodes, edges, parts } = db.catalog;
  const { values, texts } = parseAssignments(where, "--where");
  const name = kinds[0] ?? "";
  const schema = (nodes[name] ?? edges[name] ?? parts[name])?.definition.schema;
  let search = findIn(db, kinds.length === 1 ? name : kinds);
  if (where.length > 0) search = search.where(await fitTexts(schema, values, texts));
  if (using !== undefined) search = search.using(using);
  return reverse ? search.reverse() : search;
};

interface Question {
  readonly read: AnyRead;
  readonly kind: (typeof answers)[number] | "page";
}

const question = async (call: Call, db: UntypedDb): Promise<Question> => {
  const { options } = call;
  const search = await searched(call, db);
  const kind = oneOf(answers, options) ?? "page";
  const limit = options.limit ?? DEFAULT_ROWS;
  if (kind === "count") return { kind, read: search.count() };
  if (kind === "page") return { kind, read: search.page({ limit, cursor: options.cursor }) };
  if (options.cursor !== undefined) throw usageError(`--cursor goes on with a page of what is found; leave --${kind} out.`);
  return { kind, read: search.limit(limit)[kind]() };
};

interface Kinded {
  readonly kind: string;
  readonly row: Readonly<Record<string, unknown>>;
}

const flat = (call: Call, items: readonly unknown[]): readonly unknown[] =>
  kindsOf(call).length === 1 ? items : (items as readonly Kinded[]).map(({ kind, row }) => ({ kind, ...row }));

const rowsStyle = (call: Call, { catalog }: UntypedDb): RowsStyle => ({
  columns: call.io.out.columns,
  style: call.style,
  ids: new Set(["kind", ...Object.values(catalog.nodes).flatMap(({ idFields }) => idFields)]),
});

const ask = async (call: Call, db: UntypedDb, { kind, read }: Question): Promise<void> => {
  const { io, options } = call;
  const { value, cost } = await read.report({ signal: io.signal });
  if (options.json) return printJson(call, value);
  if (kind === "count") {
    io.out.write(`${String(value)}\n`);
    return note(call, showCost(cost));
  }
  const page = kind === "page" ? (value as UntypedPage) : undefined;
  const items = page?.items ?? (value as readonly unknown[]);
  io.out.write(renderRows(flat(call, items), rowsStyle(call, db)));
  note(call, `${items.length === 0 ? "Nothing found; " : `${counted(items.length, "row")}; `}${showCost(cost)}`);
  if (page?.next !== undefined) note(call, continued(options.limit, page.next));
};

export const findCommand: CommandSpec = defineCommand<Options>({
  name: "find",
  group: "Data:",
  arguments: "<kind> [kinds...]",
  summary: "Find nodes, edges or parts by their values, in an index",
  description: "Several kinds come in the one order of the index that holds them. There is no Scan: what no index serves is refused.",
  options: [
    { flags: "--where <name=value|json>", text: `conditions, such as '{"name":{"beginsWith":"A"}}'; can be repeated`, parse: collect },
    { flags: "--limit <n>", text: "rows of the page, 1 to 10,000 (default: 20)", parse: limitOf },
    { flags: "--cursor <cursor>", text: "go on where an earlier page ended" },
    { flags: "--sources", text: "of edges, show the nodes that they start at" },
    { flags: "--targets", text: "of edges, show the nodes that they lead to" },
    { flags: "--count", text: "only count" },
    { flags: "--reverse", text: "the opposite order" },
    { flags: "--using <index>", text: "read from this index" },
    { flags: "--explain", text: "show the requests without sending them" },
  ],
  examples: [
    "edgetable find student --where name=Ann",
    `edgetable find enrolledIn --where '{"at":{"gte":"2024"}}' --sources`,
    "edgetable find place bornIn --where country=USA --where region=Texas",
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
