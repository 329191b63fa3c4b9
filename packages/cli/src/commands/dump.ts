import { closeSync, openSync } from "node:fs";
import { resolve } from "node:path";
import type { ScanReport, StrayItem } from "edgetable";
import { withGraph } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { defineCommand, note, wholeNumber, type CommandSpec, type Invocation } from "../invocation.ts";
import { unwritable, writeWhole } from "../io.ts";
import { counted, showUnits } from "../output/explanation.ts";
import { toExactJson } from "../output/json.ts";
import { createProgress, progressEvery } from "../output/terminal.ts";

interface Options {
  readonly segments?: number;
  readonly only?: string;
  readonly strays?: string;
  readonly consistent?: boolean;
  readonly unknown?: "show" | "hide";
}

/** Stray items that are printed; all are counted. */
const MAX_SHOWN = 20;

const openOutput = (path: string, cwd: string): number => {
  try {
    return openSync(resolve(cwd, path), "w");
  } catch (error) {
    throw unwritable(path, error);
  }
};

// DynamoDB returns attributes in any order. Sorting them makes dumps comparable.
const sorted = (row: object): object => {
  const members = Object.entries(row).map(([field, value]: readonly [string, unknown]) => {
    if (typeof value !== "object" || value === null) return [field, value];
    return [field, Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))];
  });
  return Object.fromEntries(members) as object;
};

const summary = ({ rows, stray, uneven, cost }: ScanReport): string => {
  const left = stray === 0 ? "" : `, ${counted(stray, "item")} skipped`;
  const odd = uneven === 0 ? "" : `, ${counted(uneven, "edge")} with a missing or incomplete copy`;
  return `${counted(rows, "row")}${left}${odd}, ${showUnits(cost.readUnits)}`;
};

const dump = (call: Invocation<Options>): Promise<ScanReport> =>
  withGraph(call, async (db) => {
    const { io, options } = call;
    // A dump is often a backup: by default it loses nothing, and `load` rejects what the model cannot hold.
    const { segments = 1, consistent = false, only, strays = "", unknown = "show" } = options;
    const progress = createProgress(io);
    const strayFile = strays === "" ? undefined : openOutput(strays, io.cwd);
    let shown = 0;
    const onStray = (stray: StrayItem): void => {
      if (strayFile !== undefined) writeWhole(strayFile, `${JSON.stringify(stray)}\n`, strays);
      shown++;
      if (shown > MAX_SHOWN + 1) return;
      const key = Object.values(stray.key).map((value) => ("S" in value ? value.S : JSON.stringify(value)));
      progress.say(
        shown <= MAX_SHOWN ? `Skipped the item (${key.join(", ")}): ${stray.reason}.` : "Further skipped items are counted but not shown.",
      );
    };
    try {
      const scan = db.scan({
        segments,
        consistent,
        unknown,
        ...(only === undefined ? {} : { only: only.split(",") }),
        signal: io.signal,
        onStray,
        // On a terminal, the output itself shows the progress.
        onProgress: (report) => void (io.out.isTTY || progress.show(summary(report))),
        progressEvery: progressEvery(io),
      });
      for await (const row of scan) {
        io.out.write(`${toExactJson(sorted(row))}\n`);
        await io.out.drained();
      }
      return scan.report();
    } finally {
      progress.clear();
      if (strayFile !== undefined) closeSync(strayFile);
    }
  });

export const dumpCommand: CommandSpec = defineCommand<Options>({
  name: "dump",
  group: "Data:",
  summary: "Scan the table and print every node, edge and part as NDJSON for load",
  description:
    'Scans the whole table, which costs half a read unit per 4 KB. Each line is a row in the form that load reads. Unique markers, degree guards and second copies of edges are omitted, because load creates them again. Attributes that the model does not know are included, so that a backup keeps them; load rejects rows that have them, unless the schema allows additional attributes. --unknown hide omits them. Dates, bytes, sets and big integers are written as {"$date"}, {"$bytes"}, {"$set"} and {"$bigint"}. Items that cannot be read as rows are reported, and the command then exits with 1. A dump is not a snapshot: it may or may not include concurrent writes.',
  options: [
    {
      flags: "--segments <n>",
      text: "parts of the table to read in parallel, 1 to 1,000,000 (default: 1)",
      parse: wholeNumber(1_000_000),
    },
    { flags: "--only <names>", text: "only these nodes, edges and parts, separated by commas" },
    {
      flags: "--unknown <what>",
      text: "attributes that the model does not know: show includes them, hide omits them so that load accepts every row (default: show)",
      choices: ["show", "hide"],
    },
    { flags: "--consistent", text: "use strongly consistent reads, for twice the units" },
    { flags: "--strays <file>", text: "save skipped items to a file, as they are stored" },
  ],
  examples: [
    "edgetable dump > backup.ndjson",
    "edgetable load backup.ndjson",
    "edgetable dump --segments 8 | jq 'select(.node == \"student\")'",
  ],
  run: async (call) => {
    const report = await dump(call);
    note(call, summary(report));
    return report.stray === 0 ? exitCode.ok : exitCode.no;
  },
});
