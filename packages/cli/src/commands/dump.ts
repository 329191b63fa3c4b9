import { closeSync, openSync } from "node:fs";
import { resolve } from "node:path";
import type { ScanReport, StrayItem } from "edgetable";
import { withGraph } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { defineCommand, note, type CommandSpec, type Invocation } from "../invocation.ts";
import { counted, showUnits } from "../output/explanation.ts";
import { toExactJson } from "../output/json.ts";
import { createProgress, progressEvery, type Progress } from "../output/progress.ts";
import { unwritable, writeWhole } from "../write-whole.ts";
import { wholeNumber } from "../text/whole-number.ts";

interface Options {
  readonly segments?: number;
  readonly only?: string;
  readonly strays?: string;
  readonly consistent?: boolean;
}

/** Strays that are told; all are counted. */
const mostShown = 20;

const keyText = ({ key }: StrayItem): string =>
  Object.values(key)
    .map((value) => ("S" in value ? value.S : JSON.stringify(value)))
    .join(", ");

interface Strays {
  readonly add: (stray: StrayItem) => void;
  close(): void;
}

const openOutput = (path: string, cwd: string): number => {
  try {
    return openSync(resolve(cwd, path), "w");
  } catch (error) {
    throw unwritable(path, error);
  }
};

const tellStrays = ({ io, options }: Invocation<Options>, progress: Progress): Strays => {
  const { strays: path = "" } = options;
  const file = path === "" ? undefined : openOutput(path, io.cwd);
  let shown = 0;
  return {
    add: (stray) => {
      if (file !== undefined) writeWhole(file, `${JSON.stringify(stray)}\n`, path);
      shown++;
      if (shown <= mostShown) progress.say(`The item (${keyText(stray)}) is left out: ${stray.reason}.`);
      else if (shown === mostShown + 1) progress.say("Further items that are left out are counted, not shown.");
    },
    close: () => {
      if (file !== undefined) closeSync(file);
    },
  };
};

// DynamoDB gives an item's attributes in any order; dumps are to be compared.
const inOrder = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([field, value]: readonly [string, unknown]) => [
      field,
      typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ]),
  );

const summary = ({ rows, stray, uneven, cost }: ScanReport): string => {
  const left = stray === 0 ? "" : `, ${counted(stray, "item")} left out`;
  const odd = uneven === 0 ? "" : `, ${counted(uneven, "edge")} with a copy that is missing or holds less`;
  return `${counted(rows, "row")}${left}${odd}, ${showUnits(cost.readUnits)}`;
};

const dump = async (call: Invocation<Options>): Promise<ScanReport> =>
  withGraph(call, async (db) => {
    const { io, options } = call;
    const progress = createProgress(io);
    const strays = tellStrays(call, progress);
    // What is written to a terminal shows by itself how far it is.
    const onProgress = (report: ScanReport): void => void (io.out.isTTY || progress.show(summary(report)));
    try {
      const scan = db.scan({
        segments: options.segments ?? 1,
        consistent: options.consistent ?? false,
        ...(options.only === undefined ? {} : { only: options.only.split(",") }),
        signal: io.signal,
        onStray: strays.add,
        onProgress,
        progressEvery: progressEvery(io),
      });
      for await (const row of scan) {
        io.out.write(`${toExactJson(inOrder(row))}\n`);
        await io.out.drained();
      }
      return scan.report();
    } finally {
      progress.clear();
      strays.close();
    }
  });

export const dumpCommand: CommandSpec = defineCommand<Options>({
  name: "dump",
  group: "Data:",
  summary: "Print every node, edge and part as NDJSON that load takes, by a Scan",
  description:
    'This is the one command that scans: it reads the whole table and costs half a read unit for each 4 KB of it. Each line is a row of load, which makes the same table of them: unique markers, degree guards and second copies of edges are left out and made anew. Dates, bytes, sets and big integers are {"$date"}, {"$bytes"}, {"$set"}, {"$bigint"}. An item that gives no row is told of, and the command ends with 1. A dump is no snapshot: what is written meanwhile may be in it or not.',
  options: [
    {
      flags: "--segments <n>",
      text: "parts of the table to read side by side, 1 to 1,000,000 (default: 1)",
      parse: wholeNumber(1_000_000),
    },
    { flags: "--only <names>", text: "these nodes, edges and parts, with commas between" },
    { flags: "--consistent", text: "read what was written before, at twice the price" },
    { flags: "--strays <file>", text: "keep the items that give no row in a file, as they are stored" },
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
