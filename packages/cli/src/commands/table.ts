import { createInterface } from "node:readline/promises";
import { tableRemedy } from "edgetable/check";
import { endpointOf, withGraph } from "../connection.ts";
import { exitCode, type ExitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { defineCommand, note, printJson, type CommandSpec, type Invocation } from "../invocation.ts";
import type { Io } from "../io.ts";
import { renderTable } from "../output/table.ts";

const place = (call: Invocation): string =>
  endpointOf(call) ?? (call.options.region === undefined ? "the AWS region of the environment" : `AWS, ${call.options.region}`);

/** What brings a table that differs to its model. */
const HOW = {
  migrate: "Migrate the table: edgetable migrate plan, then edgetable migrate run --finish when every program uses this model.",
  stream: "Switch its stream on: edgetable table create --stream",
};

const createCommand = defineCommand<{ readonly stream?: boolean }>({
  name: "create",
  summary: "Create the model's table with its indexes, and wait until it is ready",
  description: "Leaves an existing table unchanged if it matches the model, except that --stream enables its stream.",
  options: [{ flags: "--stream", text: "record changes for edgetable stream" }],
  examples: [
    "edgetable table create --endpoint http://127.0.0.1:8000",
    "edgetable table create --stream --region eu-central-1 --profile dev",
  ],
  run: (call) =>
    withGraph(call, async ({ table, catalog }) => {
      const { created } = await table.create({ signal: call.io.signal, stream: call.options.stream ?? false });
      const names = catalog.indexes.map(({ name }) => name).join(", ");
      if (call.options.json) printJson(call, { table: catalog.table, created });
      else if (!created)
        call.io.out.write(`The table ${catalog.table} exists and matches the model.${call.options.stream ? " Its stream is on." : ""}\n`);
      else call.io.out.write(`Created the table ${catalog.table} with ${names === "" ? "no index" : `its indexes ${names}`}.\n`);
      return exitCode.ok;
    }),
});

const diffCommand = defineCommand({
  name: "diff",
  summary: "Compare the table with the model: keys, types, indexes, projections",
  description: "Exits with 1 if the table does not exist or does not match.",
  examples: ["edgetable table diff --endpoint http://127.0.0.1:8000", "edgetable table diff --json"],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      const { out } = call.io;
      const { table } = db.catalog;
      const differences = await db.table.diff({ signal: call.io.signal });
      const matches = differences?.every(({ harmless }) => harmless) ?? false;
      if (call.options.json) printJson(call, { table, exists: differences !== undefined, differences: differences ?? [] });
      else if (!differences) out.write(`There is no table ${table} at ${place(call)}. Create it: edgetable table create\n`);
      else {
        const columns = [{ title: "place" }, { title: "model" }, { title: "table" }, { title: "matters", flexible: false }];
        const rows = differences.map((one) => [one.place, one.model, one.table, one.harmless ? "no" : "yes"]);
        if (rows.length > 0) out.write(`${renderTable({ columns, rows }, out.columns, call.style)}\n`);
        const verdict = matches ? "matches the model." : `does not match the model.\n${tableRemedy(differences, HOW)}`;
        out.write(`The table ${table} ${verdict}\n`);
      }
      return matches ? exitCode.ok : exitCode.no;
    }),
});

/** Asks for a word. Any other answer, and Ctrl-C, means no. */
const confirms = async (io: Io, question: string, word: string): Promise<boolean> => {
  const lines = createInterface({ input: io.input });
  const close = (): void => lines.close();
  io.signal.addEventListener("abort", close, { once: true });
  const answers = lines[Symbol.asyncIterator]();
  io.err.write(question);
  try {
    const answer = await answers.next();
    return !answer.done && answer.value.trim() === word;
  } finally {
    io.signal.removeEventListener("abort", close);
    close();
  }
};

const deleteCommand = defineCommand<{ readonly yes?: boolean }>({
  name: "delete",
  summary: "Delete the model's table with all its data",
  description: "Asks for the table's name, unless you pass --yes.",
  options: [{ flags: "-y, --yes", text: "do not ask" }],
  examples: ["edgetable table delete --endpoint http://127.0.0.1:8000 --yes"],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      const { io, options } = call;
      const { table } = db.catalog;
      if (!options.yes) {
        if (!io.asks) throw usageError(`To delete the table ${table} without a terminal, pass --yes.`);
        const question = `This deletes the table ${table} at ${place(call)}, with all its data.\nType its name to continue: `;
        if (!(await confirms(io, question, table))) {
          note(call, "Nothing was deleted.");
          return exitCode.no;
        }
      }
      const { deleted } = await db.table.delete({ signal: io.signal });
      if (options.json) printJson(call, { table, deleted });
      else io.out.write(deleted ? `Deleted the table ${table}.\n` : `There is no table ${table}.\n`);
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
