import { createHash } from "node:crypto";
import type { Catalog } from "edgetable";
import { withGraph } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { collect, defineCommand, printJson, wholeNumber, type CommandSpec } from "../invocation.ts";
import { failedRows, loadFile, summary } from "../load/load-file.ts";
import { columnsOf, readMapping, targetOf, type Target } from "../load/mapping.ts";
import { missingOption, parseDelimiter } from "../load/read-csv.ts";
import { formats, openFile, shownName, type Format } from "../load/read-file.ts";
import { toExactJson } from "../output/json.ts";

interface Options {
  readonly node?: string;
  readonly part?: string;
  readonly edge?: string;
  readonly columns?: readonly string[];
  readonly map?: string;
  readonly format?: Format;
  readonly delimiter?: string;
  readonly missing?: readonly string[];
  readonly strict?: boolean;
  readonly checkEnds?: boolean;
  readonly collisions?: "report" | "refuse" | "ignore";
  readonly job?: string;
  readonly concurrency?: number;
}

const targetsOf = (options: Options, catalog: Catalog, cwd: string): readonly Target[] => {
  const given = (["node", "part", "edge"] as const).filter((kind) => options[kind] !== undefined);
  if (given.length > 1 || (options.map !== undefined && given.length > 0))
    throw usageError("Use only one of --map, --node, --part and --edge.");
  if (options.map !== undefined) return readMapping(options.map, cwd, catalog);
  const [kind] = given;
  if (kind) return [targetOf({ kind, name: options[kind] ?? "" }, options.columns ?? [], catalog)];
  if (options.columns) throw usageError("--columns needs --node, --part or --edge.");
  return [];
};

const description = `Rows replace existing items. A row that does not fit is reported with its line, column and value, and the
load continues. Exits with 1 if a row failed.

JSON and NDJSON rows say what they are: {"node":"student","row":{…}}, {"edge":"enrolledIn","from":{…},
"to":{…},"attributes":{…}} or {"part":"line","owner":{…},"row":{…}}. A JSON file may also be
{"nodes":{"student":[…]},"edges":{"enrolledIn":[{"from":{…},"to":{…},…}]}}.

CSV needs a header and --node, --edge, --part or --map. A mapping is such a row (or a list of them) with
column names, or constants, in place of values. With "when", it applies only if that column has a value:

  {"edge":"enrolledIn","from":{"studentId":"Student"},"to":{"courseId":"Course"},
   "attributes":{"grade":"Grade","source":{"value":"import"}},"when":"Course"}`;

export const loadCommand: CommandSpec = defineCommand<Options>({
  name: "load",
  group: "Data:",
  arguments: "<file>",
  summary: "Load nodes and edges from JSON, NDJSON or CSV",
  description: description.replaceAll(/([^\n])\n(?![\n ])/g, "$1 "),
  options: [
    { flags: "--node <name>", text: "every row is a node of this type" },
    { flags: "--edge <name>", text: "every row is an edge of this type (columns from.ID and to.ID, or just ID)" },
    { flags: "--part <name>", text: "every row is a part of this type (columns owner.ID, or just ID)" },
    { flags: "--columns <attribute=column,...>", text: "the columns to load (default: all, under their own names)", parse: collect },
    { flags: "--map <file>", text: "a mapping file" },
    { flags: "--format <format>", text: "the file's format (default: from its name)", choices: formats },
    { flags: "--delimiter <character>", text: "the delimiter of a CSV file (default: a comma; a tab for .tsv)", parse: parseDelimiter },
    missingOption,
    { flags: "--strict", text: "stop at the first row that does not fit" },
    { flags: "--check-ends", text: "reject edges and checked parts whose nodes do not exist; uses a transaction for each" },
    {
      flags: "--collisions <what>",
      text: "how to treat several rows for the same item (default: report)",
      choices: ["report", "refuse", "ignore"],
    },
    { flags: "--job <name>", text: "store the position in the table, so that the same command resumes an interrupted load" },
    { flags: "--concurrency <n>", text: "parallel requests, 1 to 1,000 (default: 16)", parse: wholeNumber(1000) },
  ],
  examples: [
    'edgetable load students.csv --node student --columns studentId=ID,name="Full name"',
    "edgetable load planes.csv --node plane --missing NA",
    "edgetable load enrolments.csv --map enrolments.map.json",
    "edgetable load data.ndjson --job import-2024",
    "cat data.ndjson | edgetable load - --format ndjson",
  ],
  run: (call) =>
    withGraph(call, async (db) => {
      const { io, options } = call;
      const { format, delimiter, missing, strict = false, checkEnds, collisions, job, concurrency } = options;
      const name = call.args[0] ?? "";
      const targets = targetsOf(options, db.catalog, io.cwd);
      if (targets.length === 0 && (format ?? (/\.[ct]sv$/i.test(name) ? "csv" : "json")) === "csv")
        throw usageError(
          `Say what a row of ${name} is: --node NAME (or --edge, --part), with --columns attribute=column if names differ, or --map FILE.`,
        );
      const file = openFile(name, { ...options, wanted: columnsOf(targets) }, io);
      // A job can only be resumed with the same file, read in the same way.
      const input = {
        name,
        targets,
        size: file.size,
        ...(format && { format }),
        ...(delimiter && { delimiter }),
        ...(missing && { missing }),
      };
      const fingerprint = createHash("sha256").update(toExactJson(input)).digest("hex").slice(0, 32);
      const load = {
        name: shownName(name),
        targets,
        strict,
        ends: checkEnds ? ("checked" as const) : ("unchecked" as const),
        ...(collisions === undefined ? {} : { collisions }),
        ...(job === undefined ? {} : { job, fingerprint }),
        ...(concurrency === undefined ? {} : { concurrency }),
      };
      const result = await loadFile(db, file, { io, load });
      const { failures: _failures, ...report } = result.report;
      const { unreadable, failures } = result;
      if (options.json) printJson(call, { file: name, ...report, unreadable, failed: failedRows(result), failures });
      else io.out.write(`${summary(shownName(name), result)}\n`);
      return failedRows(result) === 0 ? exitCode.ok : exitCode.no;
    }),
});
