import { explainRead, readOption, showCost } from "../answer-read.ts";
import { nodeOf, withGraph } from "../connection.ts";
import { exitCode, type ExitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { defineCommand, note, printJson, type CommandSpec } from "../invocation.ts";
import { cellsOf, renderPairs, showCell } from "../output/table.ts";
import { idUsage, parseNodeId } from "../text/arguments.ts";

interface Options {
  readonly consistent?: boolean;
  readonly explain?: boolean;
}

export const getCommand: CommandSpec = defineCommand<Options>({
  name: "get",
  group: "Data:",
  arguments: "<node> [id...]",
  summary: "Read one node by its id",
  description:
    "Give the id as name=value, as JSON, or as the value alone if the id has one field. Exits with 1 if the node does not exist.",
  options: [readOption.consistent, readOption.explain],
  examples: [
    "edgetable get student studentId=S1",
    "edgetable get student S1 --json",
    "edgetable get home country=US state=WA city=Seattle",
  ],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      const { io, options, style } = call;
      const name = call.args[0] ?? "";
      const node = nodeOf(db, name);
      const { id, missing } = await parseNodeId(db.catalog, name, call.rest);
      if (missing.length > 0)
        throw usageError(`The id of "${name}" lacks ${missing.join(" and ")}: edgetable get ${name} ${idUsage(db.catalog, name)}`);
      const read = node(id).get(options.consistent ? { consistent: true } : {});
      if (options.explain) {
        await explainRead(call, read);
        return exitCode.ok;
      }
      const { value, cost } = await read.report({ signal: io.signal });
      if (options.json) printJson(call, value ?? null);
      else if (value) {
        io.out.write(renderPairs(cellsOf(value, new Set(db.catalog.nodes[name]?.idFields)), io.out.columns, style));
        note(call, showCost(cost));
      } else {
        const given = Object.entries(id).map(([field, one]) => `${field}=${showCell(one)}`);
        note(call, `There is no ${name} with ${given.join(" ")}.`);
      }
      return value ? exitCode.ok : exitCode.no;
    }),
});
