import { withGraph } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { type CommandSpec, defineCommand, note, printJson, wholeNumber } from "../invocation.ts";
import { counted } from "../output/explanation.ts";
import { createProgress } from "../output/terminal.ts";

interface Options {
  readonly index?: string;
  readonly rate?: number;
  readonly job?: string;
}

export const reshardCommand: CommandSpec = defineCommand<Options>({
  name: "reshard",
  group: "Data:",
  summary: "Move items to their new shards after a shard count was raised",
  description:
    "Run it after raising a shard count ([32, 8] in the model), once every writer uses the new count. Reads find all items without it. You can interrupt it and run it again, and readers and writers can continue meanwhile. If a level of a hierarchy forms the partition key, it scans the index.",
  options: [
    { flags: "--index <index>", text: "only this index (default: every index whose shard count was raised)" },
    { flags: "--rate <n>", text: "items to move per second, 1 to 100,000 (default: 100)", parse: wholeNumber(100_000) },
    { flags: "--job <name>", text: "name of the job, under which the table stores its position (default: reshard)" },
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
        else if (report.passes === 0) note(call, "No shard count was raised; there is nothing to move.");
        else io.out.write(`${counted(report.moved, "item")} moved. Every item is now in the shard where writers put it.\n`);
        return exitCode.ok;
      } finally {
        progress.clear();
      }
    }),
});
