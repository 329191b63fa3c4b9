import type { TableDifference } from "edgetable";
import { confirms } from "../ask.ts";
import { endpointOf, withGraph, type UntypedDb } from "../connection.ts";
import { exitCode, type ExitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { defineCommand, note, printJson, type CommandSpec, type Invocation } from "../invocation.ts";
import { renderTable } from "../output/table.ts";

const place = (call: Invocation): string =>
  endpointOf(call) ?? (call.options.region === undefined ? "the AWS region of the environment" : `AWS, ${call.options.region}`);

const createCommand = defineCommand({
  name: "create",
  summary: "Create the model's table with its indexes, and wait until it is ready",
  description: "A table that is there and fits the model is left as it is.",
  examples: ["edgetable table create --endpoint http://127.0.0.1:8000", "edgetable table create --region eu-central-1 --profile dev"],
  run: (call) =>
    withGraph(call, async ({ table, catalog }) => {
      const { created } = await table.create({ signal: call.io.signal });
      if (call.options.json) printJson(call, { table: catalog.table, created });
      else
        call.io.out.write(
          created
            ? `Created the table ${catalog.table} with ${catalog.indexes.length === 0 ? "no index" : `its indexes ${catalog.indexes.map(({ name }) => name).join(", ")}`}.\n`
            : `The table ${catalog.table} is there and fits the model.\n`,
        );
      return exitCode.ok;
    }),
});

const differenceRow = ({ place: where, model, table, harmless }: TableDifference): readonly string[] => [
  where,
  model,
  table,
  harmless ? "no" : "yes",
];

const printDifferences = (call: Invocation, db: UntypedDb, differences: readonly TableDifference[]): void => {
  const { out } = call.io;
  const columns = [{ title: "place" }, { title: "model" }, { title: "table" }, { title: "matters", flexible: false }];
  if (differences.length > 0) out.write(`${renderTable({ columns, rows: differences.map(differenceRow) }, out.columns, call.style)}\n`);
  const serious = differences.filter((one) => !one.harmless).length;
  const verdict = serious === 0 ? "fits the model." : "does not fit the model.\nChange the model's layout, or use another table.";
  out.write(`The table ${db.catalog.table} ${verdict}\n`);
};

const diffCommand = defineCommand({
  name: "diff",
  summary: "Compare the table with the model: keys, types, indexes, projections",
  description: "Ends with 1 when the table is missing or does not fit.",
  examples: ["edgetable table diff --endpoint http://127.0.0.1:8000", "edgetable table diff --json"],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      const differences = await db.table.diff({ signal: call.io.signal });
      if (call.options.json)
        printJson(call, { table: db.catalog.table, exists: differences !== undefined, differences: differences ?? [] });
      else if (differences) printDifferences(call, db, differences);
      else call.io.out.write(`There is no table ${db.catalog.table} at ${place(call)}. Create it: edgetable table create\n`);
      return differences?.every((one) => one.harmless) ? exitCode.ok : exitCode.no;
    }),
});

interface DeleteOptions {
  readonly yes?: boolean;
}

const isSure = async (call: Invocation<DeleteOptions>, table: string): Promise<boolean> => {
  if (call.options.yes) return true;
  if (!call.io.asks) throw usageError(`Deleting the table ${table} needs --yes where nobody can be asked.`);
  return confirms(call.io, `This deletes the table ${table} at ${place(call)}, with all its data.\nType its name to go on: `, table);
};

const deleteCommand = defineCommand<DeleteOptions>({
  name: "delete",
  summary: "Delete the model's table with all its data",
  description: "Asks for the table's name, unless --yes is given.",
  options: [{ flags: "-y, --yes", text: "do not ask" }],
  examples: ["edgetable table delete --endpoint http://127.0.0.1:8000 --yes"],
  run: (call) =>
    withGraph(call, async ({ table, catalog }): Promise<ExitCode> => {
      if (!(await isSure(call, catalog.table))) {
        note(call, "Nothing was deleted.");
        return exitCode.no;
      }
      const { deleted } = await table.delete({ signal: call.io.signal });
      if (call.options.json) printJson(call, { table: catalog.table, deleted });
      else call.io.out.write(deleted ? `Deleted the table ${catalog.table}.\n` : `There was no table ${catalog.table}.\n`);
      return deleted ? exitCode.ok : exitCode.no;
    }),
});

export const tableCommand: CommandSpec = {
  name: "table",
  group: "Table:",
  summary: "Create, compare or delete the model's table",
  commands: [createCommand, diffCommand, deleteCommand],
  examples: ["edgetable table create --endpoint http://127.0.0.1:8000", "edgetable table diff", "edgetable table delete --yes"],
};
