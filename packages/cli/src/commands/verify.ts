import { resolve } from "node:path";
import { explanationLines } from "edgetable/check";
import { type Finding, verify, type KindReport, type RepairWrite, type VerifyReport } from "edgetable/verify";
import { withGraph } from "../connection.ts";
import { exitCode, type ExitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { type CommandSpec, defineCommand, note, printJson, wholeNumber, type Invocation } from "../invocation.ts";
import { counted, showKey, showUnits } from "../output/explanation.ts";
import { toJson } from "../output/json.ts";
import { createProgress, progressEvery, type Style, widthOf, wrap } from "../output/terminal.ts";

interface Options {
  readonly repair?: boolean;
  readonly dryRun?: boolean;
  readonly deleteOrphans?: boolean;
  readonly differing?: "report" | "keep" | "mend";
  readonly units?: number;
  readonly limit?: number;
  readonly segments?: number;
  readonly staleAfter?: number;
  readonly examples?: number;
  readonly strict?: boolean;
  readonly job?: string;
  readonly state?: string;
}

const total = (kinds: readonly KindReport[], which: "count" | "repaired"): number => kinds.reduce((sum, one) => sum + one[which], 0);

const thousands = (count: number, noun: string): string => `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;

/** Kinds whose sentence is the same for every finding: the values tell them apart. */
const TOLD_BY_VALUES: ReadonlySet<string> = new Set([
  "storedKey",
  "indexKey",
  "wrongShard",
  "drift",
  "otherForm",
  "typeAttribute",
  "staleCopy",
]);

const valuesText = ({ kind, attribute, stored, expected }: Finding): string => {
  if (!TOLD_BY_VALUES.has(kind) || attribute === undefined) return "";
  const is = stored === undefined ? "is missing" : `is ${toJson(stored)}`;
  return ` ${toJson(attribute)} ${is}${expected === undefined ? ", and should not be there" : `, and should be ${toJson(expected)}`}.`;
};

type Input = Readonly<Record<string, unknown>>;

// Each condition says that the item is as it was read, attribute by attribute.
const withoutConditions = ({ ConditionExpression: _condition, TransactItems, ClientRequestToken: _token, ...input }: Input): Input =>
  Array.isArray(TransactItems)
    ? {
        ...input,
        TransactItems: (TransactItems as readonly Readonly<Record<string, Input>>[]).map((item) =>
          Object.fromEntries(Object.entries(item).map(([kind, action]) => [kind, withoutConditions(action)])),
        ),
      }
    : input;

/** A write of a repair: what it mends, and what it sets and removes where. */
const writeText = ({ findings, operation, input }: RepairWrite, { bold }: Style): string => {
  const kinds = [...new Set(findings.map(({ kind }) => kind))].join(", ");
  const isRequest = (typeof input === "object" && input !== null && "TableName" in input) || operation.startsWith("Transact");
  const given = isRequest ? withoutConditions(input as Input) : (input as Input);
  const { requests } = explanationLines({ requests: [{ operation, input: given, readUnits: 0 }], cost: { requests: 1, readUnits: 0 } });
  const parameters = isRequest ? (requests[0]?.parameters ?? []).filter(([title]) => title !== "table") : [["for", toJson(input)] as const];
  return `${bold(kinds)}: ${operation}\n${parameters.map(([title, value]) => `  ${title.padEnd(8)}${value}\n`).join("")}`;
};

const printKind = ({ io, style }: Invocation<Options>, { kind, what, isHarmless, count, repaired, examples }: KindReport): void => {
  const width = (io.out.columns ?? Number.POSITIVE_INFINITY) - 2;
  const paint = isHarmless || count === repaired ? style.cyan : style.red;
  const mended = repaired > 0 ? `, ${repaired.toLocaleString("en-US")} repaired` : "";
  const times = thousands(count, "time") + mended;
  const harmless = isHarmless ? " (harmless)" : "";
  const fits = widthOf(`${kind}  ${times}  ${what}${harmless}`) - 2 <= width;
  const lines = [
    ...(fits ? [] : wrap(what + harmless, width)),
    ...examples.flatMap((one) => wrap(`${showKey(one.key)}: ${one.reason}${valuesText(one)}`, width)),
  ];
  if (count > examples.length) lines.push(`… and ${(count - examples.length).toLocaleString("en-US")} more`);
  const head = `${paint(kind)}  ${style.bold(times)}${fits ? `  ${what}${style.dim(harmless)}` : ""}`;
  io.out.write(`${head}\n${lines.map((line) => `  ${line}\n`).join("")}\n`);
};

/** The last line. */
const verdict = (table: string, { items, kinds, unsettled }: VerifyReport, isPart: boolean): string => {
  const found = total(kinds, "count");
  const of = `${thousands(items, "item")}${isPart ? ", each checked by itself" : ""}`;
  const moving = unsettled > 0 ? `; ${thousands(unsettled, "item")} kept changing` : "";
  if (found === 0) return `${table}: nothing found in ${of}${moving}`;
  const repaired = total(kinds, "repaired");
  return `${table}: ${thousands(found, "finding")} in ${of}${repaired > 0 ? `, ${repaired.toLocaleString("en-US")} repaired` : ""}${moving}`;
};

const exitCodeFor = ({ clean, kinds }: VerifyReport, { strict }: Options): ExitCode =>
  clean && !(strict && kinds.some(({ count, repaired }) => count > repaired)) ? exitCode.ok : exitCode.no;

const checkOptions = ({ repair, dryRun, deleteOrphans, limit, job, state }: Options): void => {
  if (dryRun && !repair) throw usageError("--dry-run needs --repair.");
  if (deleteOrphans && !repair) throw usageError("--delete-orphans needs --repair.");
  if (state !== undefined && job === undefined) throw usageError("--state needs --job.");
  if (repair && limit !== undefined) throw usageError("--limit checks items by themselves, and --repair needs the whole table.");
};

export const verifyCommand: CommandSpec = defineCommand<Options>({
  name: "verify",
  group: "Data:",
  summary: "Compare every stored item with the model, and repair differences",
  description:
    "Scans the table for edges whose copies are missing or differ, edges and parts without their node, wrong index keys, shards, counts and unique markers, items that the model does not describe, values that their schema refuses, and leftovers. Checks each finding with consistent reads, so programs may keep writing. Exits with 1 if it finds something; harmless findings count only with --strict.\n\nA scan costs half a read unit per 4 KB, and twice that if items disagree. --repair writes only if the items are unchanged since they were read. It never deletes data, unless you also pass --delete-orphans.",
  options: [
    { flags: "--repair", text: "repair what can be repaired" },
    { flags: "--dry-run", text: "with --repair: print the writes and send none" },
    {
      flags: "--delete-orphans",
      text: "with --repair: also delete edges and parts without their node, items that the model does not describe, and abandoned jobs",
    },
    {
      flags: "--differing <how>",
      text: "copies of an edge with different values: report them, keep them (written with `reverse`), or correct the second copy (default: report)",
      choices: ["report", "keep", "mend"],
    },
    { flags: "--units <n>", text: "read units per second (default: as fast as possible)", parse: wholeNumber(10_000_000) },
    { flags: "--limit <n>", text: "stop after about this many items, and check each by itself", parse: wholeNumber(1_000_000_000) },
    {
      flags: "--segments <n>",
      text: "parts of the table that are read at the same time (default: 8); 1 is fastest on a local engine",
      parse: wholeNumber(1000),
    },
    { flags: "--examples <n>", text: "findings to print of each kind (default: 10)", parse: wholeNumber(100_000) },
    {
      flags: "--stale-after <s>",
      text: "seconds for which an attribute that the stream maintains must stay wrong to be a finding (default: 10)",
      parse: wholeNumber(600),
    },
    { flags: "--job <name>", text: "make the run resumable: if it is interrupted, the same command continues it" },
    { flags: "--state <file>", text: "with --job: where to keep its state (default: in the folder of temporary files)" },
    { flags: "--strict", text: "exit with 1 for harmless findings, too" },
  ],
  examples: [
    "edgetable verify",
    "edgetable verify --units 500 --json",
    "edgetable verify --job nightly --units 500",
    "edgetable verify --repair --dry-run",
    "edgetable verify --repair --delete-orphans --differing mend",
  ],
  run: (call) => {
    const { io, options } = call;
    checkOptions(options);
    return withGraph(call, async (db): Promise<ExitCode> => {
      const { repair, dryRun, deleteOrphans, differing, units, limit, segments, examples, job, state, staleAfter } = options;
      const progress = createProgress(io);
      const planned: RepairWrite[] = [];
      const onWrite = (write: RepairWrite): void => {
        if (!dryRun) return;
        planned.push(write);
        if (!options.json) io.out.write(writeText(write, call.style));
      };
      try {
        const report = await verify(db, {
          signal: io.signal,
          onWrite,
          onProgress: ({ pass, items, findings, cost }) =>
            progress.show(`pass ${pass}: ${thousands(items, "item")}, ${counted(findings, "finding")}, ${showUnits(cost.readUnits)}`),
          progressEvery: progressEvery(io),
          ...(repair && { repair: dryRun ? ("dryRun" as const) : true }),
          ...(deleteOrphans && { deleteOrphans }),
          ...(differing && { differing }),
          ...(units !== undefined && { units }),
          ...(limit !== undefined && { limit }),
          ...(segments !== undefined && { segments, concurrency: segments }),
          ...(examples !== undefined && { examples }),
          ...(staleAfter !== undefined && { staleAfter: staleAfter * 1000 }),
          ...(job !== undefined && { job }),
          ...(state !== undefined && { state: resolve(io.cwd, state) }),
        });
        progress.clear();
        if (options.json) printJson(call, { table: db.catalog.table, ...report, ...(dryRun && { writes: planned }) });
        else {
          if (planned.length > 0) io.out.write("Each write is sent on condition that the items are unchanged.\n\n");
          for (const one of report.kinds) printKind(call, one);
          io.out.write(`${verdict(db.catalog.table, report, limit !== undefined)}\n`);
        }
        const { requests, readUnits, writeUnits } = report.cost;
        note(
          call,
          `${thousands(requests, "request")}, ${showUnits(readUnits)}${writeUnits > 0 ? `, ${showUnits(writeUnits, "WCU")}` : ""}`,
        );
        return exitCodeFor(report, options);
      } finally {
        progress.clear();
      }
    });
  },
});
