import { withGraph } from "../connection.ts";
import { describeItem } from "../dump/describe-item.ts";
import { scanItems } from "../dump/scan-items.ts";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { defineCommand, note, type CommandSpec, type Invocation } from "../invocation.ts";
import { counted, showUnits } from "../output/explanation.ts";
import { toJson } from "../output/json.ts";
import { createProgress, progressEvery } from "../output/progress.ts";

interface Options {
  readonly segments?: number;
  readonly system?: boolean;
}

const segmentsOf = (text: string): number => {
  const segments = Number(text);
  if (Number.isInteger(segments) && segments >= 1 && segments <= 100) return segments;
  throw usageError("It must be a whole number from 1 to 100.");
};

interface Tally {
  items: number;
  readUnits: number;
}

const createReporter = ({ io }: Invocation<Options>): { readonly update: (tally: Tally) => void; readonly clear: () => void } => {
  const progress = createProgress(io);
  // What is written to a terminal shows by itself how far it is.
  const shows = !io.out.isTTY;
  let next = Date.now() + progressEvery(io);
  const update = ({ items, readUnits }: Tally): void => {
    if (!shows || Date.now() < next) return;
    next = Date.now() + progressEvery(io);
    progress.show(`${counted(items, "item")}, ${showUnits(readUnits)}`);
  };
  return { update, clear: () => progress.clear() };
};

const connectionOf = ({
  endpoint,
  region,
  profile,
}: Invocation<Options>["options"]): {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
} => ({ endpoint, region, profile });

export const dumpCommand: CommandSpec = defineCommand<Options>({
  name: "dump",
  group: "Data:",
  summary: "Print every item of the table as NDJSON, by a Scan",
  description:
    'This is the one command that scans: it reads the whole table and costs half a read unit for each 4 KB of it. Each line says what the item is and gives its attributes as they are stored. Bytes, sets and big integers are {"$bytes"}, {"$set"}, {"$bigint"}.',
  options: [
    { flags: "--segments <n>", text: "parts of the table to read side by side, 1 to 100 (default: 1)", parse: segmentsOf },
    { flags: "--system", text: "also edgetable's own items: unique markers, degree guards, jobs" },
  ],
  examples: ["edgetable dump > backup.ndjson", "edgetable dump --segments 8 | jq 'select(.name == \"student\")'"],
  run: (call) =>
    withGraph(call, async ({ catalog }) => {
      const { io, options } = call;
      const tally: Tally = { items: 0, readUnits: 0 };
      const reporter = createReporter(call);
      const scan = { table: catalog.table, segments: options.segments ?? 1, connection: connectionOf(options), signal: io.signal };
      try {
        await scanItems(scan, async ({ items, readUnits }) => {
          const described = items.map((item) => describeItem(catalog, item)).filter(({ kind }) => options.system || kind !== "system");
          tally.items += described.length;
          tally.readUnits += readUnits;
          io.out.write(described.map((one) => `${toJson(one)}\n`).join(""));
          reporter.update(tally);
          await io.out.drained();
        });
      } finally {
        reporter.clear();
      }
      note(call, `${counted(tally.items, "item")}, ${showUnits(tally.readUnits)}`);
      return exitCode.ok;
    }),
});
