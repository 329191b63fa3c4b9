import { withGraph } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { defineCommand, note, printJson, type CommandSpec } from "../invocation.ts";
import { counted } from "../output/explanation.ts";
import { createProgress } from "../output/progress.ts";
import { wholeNumber } from "../text/whole-number.ts";

interface Options {
  readonly index?: string;
  readonly rate?: number;
  readonly job?: string;
}

export const reshardCommand: CommandSpec = defineCommand<Options>({
  name: "reshard",
  group: "Data:",
  summary: "Move items to the shards of a count that was raised",
  description:
    "After a count of shards was raised ([32, 8] in the model) and every writer has the new one. Nothing needs it to be found. It may be cut off and begun again, and runs beside readers and writers. Where a level of a hierarchy names the partition, the index is scanned.",
  options: [
    { flags: "--index <index>", text: "this index alone (default: every one whose shards grow)" },
    { flags: "--rate <n>", text: "items moved in a second, 1 to 100,000 (default: 100)", parse: wholeNumber(100_000) },
    { flags: "--job <name>", text: "name under which the position is kept in the table (default: reshard)" },
  ],
  examples: ["edgetable reshard", "edgetable reshard --index byValue --rate 1000"],
  run: (call) =>
    withGraph(call, async (db) => {
      const { io, options } = call;
      const { index, rate, job } = options;
      const progress = createProgress(io);
      try {
        const report = await db.reshard({
          ...(index === undefined ? {} : { index }),
          ...(rate === undefined ? {} : { rate }),
          ...(job === undefined ? {} : { job }),
          signal: io.signal,
          onProgress: ({ moved, partitions, passes }) =>
            progress.show(`pass ${passes}, ${partitions.done} of ${counted(partitions.all, "partition")}, ${counted(moved, "item")} moved`),
        });
        progress.clear();
        if (options.json) printJson(call, report);
        else if (report.passes === 0) note(call, "No shards grow: there is nothing to move.");
        else io.out.write(`${counted(report.moved, "item")} moved; every item is where writers put it now.\n`);
        return exitCode.ok;
      } finally {
        progress.clear();
      }
    }),
});
