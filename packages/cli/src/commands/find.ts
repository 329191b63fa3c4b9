import { answerRead, DEFAULT_ROWS, oneOf, readOption, rejectUnused, type Rendered } from "../answer-read.ts";
import { withGraph, type UntypedDb } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { defineCommand, type CommandSpec, type Invocation } from "../invocation.ts";
import type { Row } from "../output/json.ts";
import { renderRows } from "../output/table.ts";
import { parseConditions } from "../text/arguments.ts";

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

interface Found {
  readonly kind: string;
  readonly row: Row;
}

const find = async (call: Invocation<Options>, db: UntypedDb): Promise<void> => {
  const { options, io, style } = call;
  const { nodes } = db.catalog;
  const kinds = [call.args[0] ?? "", ...call.rest];
  const [name = ""] = kinds;
  const single = kinds.length === 1;
  const answer = oneOf(["sources", "targets", "count"], options);
  if (answer === "count") rejectUnused(options, ["limit", "cursor"], "applies to a page: omit --count.");
  const conditions = await parseConditions(call, { catalog: db.catalog, name });
  let search = db.find(single ? name : kinds);
  if (conditions) search = search.where(conditions);
  if (options.using !== undefined) search = search.using(options.using);
  if (options.reverse) search = search.reverse();
  if (answer === "count") return answerRead(call, search.count(), (count) => ({ text: `${count}\n` }));

  const limit = options.limit ?? DEFAULT_ROWS;
  const ids = new Set(Object.values(nodes).flatMap(({ idFields }) => idFields));
  const rows = (items: readonly unknown[]): Rendered => {
    const flat = single ? items : (items as readonly Found[]).map(({ kind, row }) => ({ kind, ...row }));
    const text = renderRows(flat, { columns: io.out.columns, style, first: single ? [] : ["kind"], ids });
    return { text, rows: items.length };
  };
  if (answer === undefined) {
    const page = search.page({ limit, cursor: options.cursor });
    return answerRead(call, page, ({ items, next }) => ({ ...rows(items), next }));
  }
  rejectUnused(options, ["cursor"], `continues a page of what was found: omit --${answer}.`);
  return answerRead(call, search.limit(limit)[answer](), rows);
};

export const findCommand: CommandSpec = defineCommand<Options>({
  name: "find",
  group: "Data:",
  arguments: "<kind> [kinds...]",
  summary: "Find nodes, edges or parts by value, through an index",
  description:
    "Several kinds are returned in the order of the index that holds them. A search that no index serves is rejected, never scanned.",
  options: [
    readOption.where('{"name":{"beginsWith":"A"}}'),
    readOption.limit,
    readOption.cursor,
    { flags: "--sources", text: "for edges, show the nodes that they start at" },
    { flags: "--targets", text: "for edges, show the nodes that they lead to" },
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
      await find(call, db);
      return exitCode.ok;
    }),
});
