import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { createProject, describeProject } from "create-edgetable";
import { createLeanTransport } from "edgetable";
import { placeOf } from "../connection.ts";
import { draftModel } from "../draft/draft-model.ts";
import { draftText, ownLine, problemLines, summaryLines } from "../draft/draft-text.ts";
import { readWorkbench } from "../draft/read-workbench.ts";
import type { SampledTable } from "../draft/sample.ts";
import { sampleTable } from "../draft/sample-table.ts";
import { exitCode, type ExitCode } from "../exit-codes.ts";
import { systemProblem, usageError } from "../failure.ts";
import { defineCommand, note, printJson, wholeNumber, type CommandSpec, type Invocation } from "../invocation.ts";
import { unwritable } from "../io.ts";
import { counted, showUnits } from "../output/explanation.ts";
import { createProgress } from "../output/terminal.ts";

interface Options {
  readonly fromTable?: string;
  readonly fromWorkbench?: string;
  readonly table?: string;
  readonly sample?: number;
  readonly out?: string;
}

const SAMPLE = 1000;
const MOST = 100_000;

const readTable = async (call: Invocation<Options>, name: string): Promise<SampledTable> => {
  const { io, options } = call;
  const transport = createLeanTransport(placeOf(call));
  const progress = createProgress(io);
  try {
    const { table, complete, ofItems, units } = await sampleTable(transport, name, {
      sample: options.sample ?? SAMPLE,
      signal: io.signal,
      onProgress: (sofar) => progress.show(`${counted(sofar.items, "item")} read, ${showUnits(sofar.units)}`),
    });
    progress.clear();
    const about = ofItems !== undefined && ofItems > table.items.length ? ` of about ${ofItems.toLocaleString("en-US")}` : "";
    note(
      call,
      `Read ${counted(table.items.length, "item")}${about} of ${name} by Scan, ${showUnits(units)}.${complete ? "" : " For a larger sample: --sample."}`,
    );
    if (table.items.length === 0) throw usageError(`The table "${name}" is empty, so there is nothing to draft from.`);
    return table;
  } finally {
    progress.clear();
    await transport.close();
  }
};

const readFile = (path: string, cwd: string): string => {
  try {
    return readFileSync(resolve(cwd, path), "utf8");
  } catch (error) {
    throw usageError(`${path} cannot be read: ${systemProblem(error)}.`);
  }
};

const draft = async (call: Invocation<Options>): Promise<ExitCode> => {
  const { io, args, options } = call;
  const { fromTable, fromWorkbench, out } = options;
  if (fromTable !== undefined && fromWorkbench !== undefined) throw usageError("Give --from-table or --from-workbench, not both.");
  if (args[0] !== undefined) throw usageError("A draft is one file, not a folder: name it with --out, or redirect the output.");
  if (options.sample !== undefined && fromTable === undefined) throw usageError("--sample is for --from-table.");
  if (options.table !== undefined && fromWorkbench === undefined) throw usageError("--table is for --from-workbench.");
  const path = out === undefined ? undefined : resolve(io.cwd, out);
  if (path !== undefined && existsSync(path))
    throw usageError(`${relative(io.cwd, path)} already exists. Nothing was written. Give another name.`);
  const table =
    fromTable === undefined ? readWorkbench(readFile(fromWorkbench ?? "", io.cwd), options.table) : await readTable(call, fromTable);
  const report = draftModel(table);
  const text = draftText(report);
  const isTrue = report.rewritten === report.items;
  if (path !== undefined)
    try {
      writeFileSync(path, text, { flag: "wx" });
    } catch (error) {
      throw unwritable(relative(io.cwd, path), error);
    }
  const summary = summaryLines(report);
  if (options.json) {
    const { items, read, rewritten, findings, doubts, misfits } = report;
    printJson(call, { table: table.name, model: text, file: path, items, read, rewritten, findings, doubts, misfits });
  } else if (path === undefined) io.out.write(text);
  else io.out.write(`Wrote ${relative(io.cwd, path)}.\n`);
  for (const line of summary) note(call, line);
  const own = ownLine(report);
  if (own !== undefined) note(call, own);
  for (const line of problemLines(report)) note(call, `- ${line}`);
  if (isTrue) note(call, "Read its comments, give the names that you want, then compare it with the whole table: edgetable verify");
  return isTrue ? exitCode.ok : exitCode.no;
};

export const initCommand: CommandSpec = defineCommand<Options>({
  name: "init",
  group: "Develop:",
  arguments: "[folder]",
  summary: "Create a small project; or draft a model for a table that exists",
  description:
    "Creates a project (model, script, test, Lambda handler) in this folder, or in the named folder. Never overwrites a file: if files are in the way, it lists them, writes nothing and exits with 2. Installs nothing and sends nothing. npm create edgetable does the same.\n\nWith --from-table or --from-workbench, it prints a model in TypeScript instead, drafted from the items of a table that exists: it tells kinds of items apart by the type attribute and by the fixed text of their keys, finds the templates of keys and index keys, and compares what the model would write with every item. Comments say what the sample does not decide. Exits with 1 if an item does not read, or would be written differently. --from-table reads a sample by Scan, which costs half a read unit per 4 KB, and writes nothing to the table.",
  options: [
    { flags: "--from-table <name>", text: "draft a model for this table" },
    {
      flags: "--sample <n>",
      text: `items to read, 1 to ${MOST.toLocaleString("en-US")} (default: ${SAMPLE.toLocaleString("en-US")})`,
      parse: wholeNumber(MOST),
    },
    { flags: "--from-workbench <file>", text: "draft a model for the sample data of a data model of NoSQL Workbench (JSON)" },
    { flags: "--table <name>", text: "the table, if that file has several" },
    { flags: "--out <file>", text: "write the drafted model to a new file (default: standard output)" },
  ],
  examples: [
    "edgetable init my-graph",
    "edgetable init",
    "npm create edgetable my-graph",
    "edgetable init --from-table Orders --region eu-central-1 --out edgetable.ts",
    "edgetable init --from-table Orders --endpoint http://127.0.0.1:8000 --sample 5000 > edgetable.ts",
    "edgetable init --from-workbench orders.json --table Orders",
  ],
  run: async (call) => {
    const { io, args, options } = call;
    if (options.fromTable !== undefined || options.fromWorkbench !== undefined) return draft(call);
    const stray = (["sample", "table", "out"] as const).find((name) => options[name] !== undefined);
    if (stray !== undefined) throw usageError(`--${stray} is for a draft: give --from-table or --from-workbench too.`);
    if (args[0] === "") throw usageError("Give the name of a folder, or omit it to use this one.");
    const project = createProject(args[0] ?? ".", io.cwd);
    if (!project.created) throw usageError(describeProject(project, io.cwd));
    if (options.json) printJson(call, { folder: project.folder, files: project.files });
    else io.out.write(describeProject(project, io.cwd));
    return exitCode.ok;
  },
});
