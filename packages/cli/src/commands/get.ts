import { didYouMean } from "edgetable";
import { explainRead, readOption, showCost } from "../answer-read.ts";
import { readOne, withGraph } from "../connection.ts";
import { exitCode, type ExitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { defineCommand, note, printJson, type CommandSpec } from "../invocation.ts";
import { cellsOf, renderPairs, showCell } from "../output/table.ts";
import { flattened, idUsage, parseId } from "../text/arguments.ts";

interface Options {
  readonly consistent?: boolean;
  readonly explain?: boolean;
}

export const getCommand: CommandSpec = defineCommand<Options>({
  name: "get",
  group: "Data:",
  arguments: "<kind> [id...]",
  summary: "Read one node, part or edge by its id",
  description:
    "Give the id as name=value, as JSON, or as the value alone if the id has one field. A part's id begins with that of its node; an edge's consists of those of its ends and of its own key. Exits with 1 if there is none.",
  options: [readOption.consistent, readOption.explain],
  examples: [
    "edgetable get student studentId=S1",
    "edgetable get student S1 --json",
    "edgetable get home country=US state=WA city=Seattle",
    "edgetable get lecture courseId=C1 number=1",
    "edgetable get enrolledIn from.studentId=S1 to.courseId=C1",
  ],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      const { io, options, style } = call;
      const name = call.args[0] ?? "";
      const { nodes, edges, parts } = db.catalog;
      const known = Object.keys({ ...nodes, ...edges, ...parts });
      if (!known.includes(name)) throw usageError(`There is no node, edge or part "${name}".${didYouMean(name, known)}`);
      const { id, missing } = await parseId(db.catalog, name, call.rest);
      if (missing.length > 0)
        throw usageError(`The id of "${name}" lacks ${missing.join(" and ")}: edgetable get ${name} ${idUsage(db.catalog, name)}`);
      const read = readOne(db, name, id, options.consistent ? { consistent: true } : {});
      if (options.explain) {
        await explainRead(call, read);
        return exitCode.ok;
      }
      const { value, cost } = await read.report({ signal: io.signal });
      if (options.json) printJson(call, value ?? null);
      else if (value) {
        io.out.write(renderPairs(cellsOf(value, new Set(Object.keys(id))), io.out.columns, style));
        note(call, showCost(cost));
      } else {
        const given = Object.entries(flattened(id)).map(([field, one]) => `${field}=${showCell(one)}`);
        note(call, `There is no ${name} with ${given.join(" ")}.`);
      }
      return value ? exitCode.ok : exitCode.no;
    }),
});
