import { createHash } from "node:crypto";
import type { Catalog } from "edgetable";
import { withGraph } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { collect, defineCommand, printJson, type CommandSpec } from "../invocation.ts";
import { columnsOf, readMapping, targetOf, type Target } from "../load/mapping.ts";
import { formats, openFile, shownName, type Format } from "../load/open-file.ts";
import { failedRows, runLoad, summary, type ShownLoad } from "../load/run-load.ts";
import { wholeNumber } from "../text/whole-number.ts";

interface Options {
  readonly node?: string;
  readonly part?: string;
  readonly edge?: string;
  readonly columns?: readonly string[];
  readonly map?: string;
  readonly format?: Format;
  readonly delimiter?: string;
  readonly strict?: boolean;
  readonly checkEnds?: boolean;
  readonly collisions?: "report" | "refuse" | "ignore";
  readonly job?: string;
  readonly concurrency?: number;
}

const kinds = ["node", "part", "edge"] as const;

const targetsOf = (options: Options, catalog: Catalog, cwd: string): readonly Target[] => {
  const given = kinds.filter((kind) => options[kind] !== undefined);
  if (given.length > 1 || (options.map !== undefined && given.length > 0))
    throw usageError("Give one of --map, --node, --part and --edge.");
  if (options.map !== undefined) return readMapping(options.map, cwd, catalog);
  const [kind] = given;
  if (kind) return [targetOf({ kind, name: options[kind] ?? "" }, options.columns ?? [], catalog)];
  if (options.columns) throw usageError("--columns needs --node, --part or --edge.");
  return [];
};

const checkSource = (name: string, targets: readonly Target[], format: Format | undefined): void => {
  if (targets.length > 0 || (format ?? (/\.[ct]sv$/i.test(name) ? "csv" : "json")) !== "csv") return;
  throw usageError(
    `Say what a row of ${name} is: --node NAME (or --edge, --part), with --columns attribute=column where names differ, or --map FILE.`,
  );
};

// A job goes on only with the same file, read in the same way.
const fingerprint = (
  input: { readonly name: string; readonly targets: readonly Target[]; readonly size: number | undefined } & Pick<
    Options,
    "format" | "delimiter"
  >,
): string => createHash("sha256").update(JSON.stringify(input)).digest("hex").slice(0, 32);

type Settings = Omit<ShownLoad, "name" | "targets">;

const settingsOf = ({ strict, checkEnds, collisions, job, concurrency }: Options, input: Parameters<typeof fingerprint>[0]): Settings => ({
  strict: strict ?? false,
  ends: checkEnds ? "checked" : "unchecked",
  ...(collisions === undefined ? {} : { collisions }),
  ...(job === undefined ? {} : { job, fingerprint: fingerprint(input) }),
  ...(concurrency === undefined ? {} : { concurrency }),
});

const delimiterOf = (text: string): string => {
  if (text !== "" && !/[\r\n"]/.test(text)) return text;
  throw usageError("It must be a character such as ; and neither a quote nor the end of a line.");
};

const description = `Rows replace what is there. A row that does not fit is told, with its line, column and value, and the
rest goes on. Ends with 1 when a row failed.

JSON and NDJSON rows say what they are: {"node":"student","row":{…}}, {"edge":"enrolledIn","from":{…},
"to":{…},"attributes":{…}} or {"part":"line","owner":{…},"row":{…}}. A JSON file may also be
{"nodes":{"student":[…]},"edges":{"enrolledIn":[{"from":{…},"to":{…},…}]}}.

CSV needs a header and --node, --edge, --part or --map. A mapping is such a row (or a list of them) with
column names in place of values; with "when" only where that column is filled:

  {"edge":"enrolledIn","from":{"studentId":"Student"},"to":{"courseId":"Course"},
   "attributes":{"grade":"Grade"},"when":"Course"}`;

export const loadCommand: CommandSpec = defineCommand<Options>({
  name: "load",
  group: "Data:",
  arguments: "<file>",
  summary: "Load nodes and edges from JSON, NDJSON or CSV",
  description: description.replaceAll(/([^\n])\n(?![\n ])/g, "$1 "),
  options: [
    { flags: "--node <name>", text: "every row is a node of this type" },
    { flags: "--edge <name>", text: "every row is an edge of this type (columns from.ID and to.ID, or just ID)" },
    { flags: "--part <name>", text: "every row is a part of this kind" },
    { flags: "--columns <attribute=column,...>", text: "the columns to take (default: all, under their own names)", parse: collect },
    { flags: "--map <file>", text: "a mapping file" },
    { flags: "--format <format>", text: "of the file, where its name does not say it", choices: formats },
    { flags: "--delimiter <character>", text: "of a CSV file (default: a comma, of .tsv a tab)", parse: delimiterOf },
    { flags: "--strict", text: "stop at the first row that does not fit" },
    { flags: "--check-ends", text: "refuse edges and checked parts whose nodes are not there; each is a transaction" },
    {
      flags: "--collisions <what>",
      text: "what to do about rows for the same item (default: report)",
      choices: ["report", "refuse", "ignore"],
    },
    { flags: "--job <name>", text: "keep the position in the table: the same command goes on where it was cut off" },
    { flags: "--concurrency <n>", text: "requests at a time, 1 to 1,000 (default: 16)", parse: wholeNumber(1000) },
  ],
  examples: [
    'edgetable load students.csv --node student --columns studentId=ID,name="Full name"',
    "edgetable load enrolments.csv --map enrolments.map.json",
    "edgetable load data.ndjson --job import-2024",
    "cat data.ndjson | edgetable load - --format ndjson",
  ],
  run: (call) =>
    withGraph(call, async (db) => {
      const { io, options } = call;
      const { format, delimiter } = options;
      const name = call.args[0] ?? "";
      const targets = targetsOf(options, db.catalog, io.cwd);
      checkSource(name, targets, format);
      const file = openFile(name, { ...options, wanted: columnsOf(targets) }, io);
      const input = { name, targets, size: file.size, ...(format && { format }), ...(delimiter && { delimiter }) };
      const load = { name: shownName(name), targets, ...settingsOf(options, input) };
      const result = await runLoad(db, file, { io, load });
      const { failures: _failures, ...report } = result.report;
      if (options.json) printJson(call, { file: name, ...report, failed: failedRows(result), failures: result.failures });
      else io.out.write(`${summary(shownName(name), result)}\n`);
      return failedRows(result) === 0 ? exitCode.ok : exitCode.no;
    }),
});
