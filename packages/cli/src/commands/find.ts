import { withGraph, type UntypedDb, type UntypedSearch } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { defineCommand, type CommandSpec, type Invocation } from "../invocation.ts";
import { renderRows, type RowsStyle } from "../output/rows.ts";
import { DEFAULT_ROWS, oneOf, readOption, refuseIdle } from "../read-options.ts";
import { parseConditions } from "../text/conditions.ts";
import { answerRead, type Shown } from "../answer-read.ts";

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

const answers = ["sources", "targets", "count"] as const;

const kindsOf = ({ args, rest }: Call): readonly string[] => [args[0] ?? "", ...rest];

const searched = async (call: Call, db: UntypedDb): Promise<UntypedSearch> => {
  const { reverse, using } = call.options;
  const kinds = kindsOf(call);
  const { nodes, edges, parts } = db.catalog;
  const name = kinds[0] ?? "";
  const conditions = await parseConditions(call, (nodes[name] ?? edges[name] ?? parts[name])?.definition.schema);
  let search = db.find(kinds.length === 1 ? name : kinds);
  if (conditions) search = search.where(conditions);
  if (using !== undefined) search = search.using(using);
  return reverse ? search.reverse() : search;
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
  first: kindsOf(call).length === 1 ? [] : ["kind"],
  ids: new Set(Object.values(catalog.nodes).flatMap(({ idFields }) => idFields)),
});

const ask = async (call: Call, db: UntypedDb): Promise<void> => {
  const { options } = call;
  const answer = oneOf(answers, options) ?? "page";
  if (answer === "count") refuseIdle(options, ["limit", "cursor"], "shows a page: leave --count out.");
  const search = await searched(call, db);
  const limit = options.limit ?? DEFAULT_ROWS;
  const rows = (items: readonly unknown[]): Shown => ({ text: renderRows(flat(call, items), rowsStyle(call, db)), rows: items.length });
  if (answer === "count") return answerRead(call, { read: search.count(), show: (count) => ({ text: `${count}\n` }) });
  if (answer === "page")
    return answerRead(call, {
      read: search.page({ limit, cursor: options.cursor }),
      show: ({ items, next }) => ({ ...rows(items), next }),
    });
  refuseIdle(options, ["cursor"], `goes on with a page of what is found: leave --${answer} out.`);
  return answerRead(call, { read: search.limit(limit)[answer](), show: rows });
};

export const findCommand: CommandSpec = defineCommand<Options>({
  name: "find",
  group: "Data:",
  arguments: "<kind> [kinds...]",
  summary: "Find nodes, edges or parts by their values, in an index",
  description: "Several kinds come in the one order of the index that holds them. There is no Scan: what no index serves is refused.",
  options: [
    readOption.where('{"name":{"beginsWith":"A"}}'),
    readOption.limit,
    readOption.cursor,
    { flags: "--sources", text: "of edges, show the nodes that they start at" },
    { flags: "--targets", text: "of edges, show the nodes that they lead to" },
    readOption.count,
    readOption.reverse,
    readOption.using,
    readOption.explain,
  ],
  examples: [
    "edgetable find student --where name=Ann",
    `edgetable find enrolledIn --where '{"at":{"gte":"2024"}}' --sources`,
    "edgetable find place bornIn --where country=USA --where region=Texas",
  ],
  run: (call) =>
    withGraph(call, async (db) => {
      await ask(call, db);
      return exitCode.ok;
    }),
});
