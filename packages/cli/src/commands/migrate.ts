import type { MigrationPlan, MigrationProgress, MigrationReport, MigrationStep } from "edgetable";
import { withGraph } from "../connection.ts";
import { exitCode, type ExitCode } from "../exit-codes.ts";
import { type CommandSpec, defineCommand, type Invocation, note, printJson, resumable, say, wholeNumber } from "../invocation.ts";
import { counted, showUnits } from "../output/explanation.ts";
import { type Column, renderTable } from "../output/table.ts";
import { createProgress } from "../output/terminal.ts";
import { inFlags } from "../text/in-flags.ts";

const number = (value: number): string => value.toLocaleString("en-US");

const priceOf = (step: MigrationStep): readonly string[] =>
  "items" in step ? [number(step.items), number(step.readUnits), number(step.writeUnits)] : ["", "", ""];

const printPlan = (call: Invocation, { table, steps, refusals, notes, cost, counted: how }: MigrationPlan): void => {
  const { out } = call.io;
  if (steps.length === 0) say(call, `The table ${table} follows the model.`);
  else {
    const columns: readonly Column[] = [
      { title: "step" },
      { title: "items", align: "right", flexible: false },
      { title: "read units", align: "right", flexible: false },
      { title: "write units", align: "right", flexible: false },
    ];
    out.write(`${renderTable({ columns, rows: steps.map((step) => [step.says, ...priceOf(step)]) }, out.columns, call.style)}\n`);
    const share = how === undefined ? "" : `, ${how}`;
    say(call, `At most ${number(cost.readUnits)} read units and ${number(cost.writeUnits)} write units in all${share}.`);
  }
  for (const text of refusals) say(call, `Not possible: ${inFlags(text)}`);
  for (const text of notes) note(call, inFlags(text));
};

const inPlaceOption = {
  flags: "--in-place",
  text: "allow changes of the keys of an index in use and of the form of attributes; processes with the older model do not read the new ones",
} as const;

const againOption = {
  flags: "--again",
  text: "check all items again, although the table follows the model; use it after a program with an older model has written to the table",
} as const;

const planCommand = defineCommand<{ readonly inPlace?: boolean; readonly again?: boolean }>({
  name: "plan",
  summary: "Show the steps from the table to the model, with their price",
  description:
    "Compares the model, the model that the table records, and the table. Changes nothing. Exits with 1 if there are steps to take.",
  options: [inPlaceOption, againOption],
  examples: ["edgetable migrate plan", "edgetable migrate plan --json"],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      const { inPlace = false, again = false, json } = call.options;
      const plan = await db.migrations.plan({ inPlace, again, signal: call.io.signal });
      if (json) printJson(call, plan);
      else printPlan(call, plan);
      return plan.steps.length === 0 && plan.refusals.length === 0 ? exitCode.ok : exitCode.no;
    }),
});

interface RunOptions {
  readonly finish?: boolean;
  readonly dryRun?: boolean;
  readonly leaveOut?: boolean;
  readonly inPlace?: boolean;
  readonly again?: boolean;
  readonly share?: number;
}

/** What the steps that pass over the items do, in words that leave room for the numbers on a line of 80 columns. */
const passing: Readonly<Partial<Record<MigrationStep["kind"], string>>> = {
  convert: "converting values",
  derive: "computing derived attributes",
  reserve: "reserving unique values",
  backfill: "giving items their keys",
  moveValues: "moving values",
  reshard: "moving items to their shards",
};

const progressText = ({ step, says, pass, seen, items, changed, unfit }: MigrationProgress): string => {
  // Every value is looked at before the first one is converted.
  const doing = step === "convert" && says.startsWith("check") ? "checking values" : passing[step];
  if (doing === undefined) return says;
  const share = items > 0 ? `, ${Math.min(100, Math.floor((seen / items) * 100))} %` : "";
  const left = unfit > 0 ? `, ${number(unfit)} ${step === "convert" ? "do not convert" : "without keys"}` : "";
  return `${doing}, pass ${pass}: ${counted(seen, "item")} read${share}, ${number(changed)} changed${left}`;
};

const printReport = (call: Invocation<RunOptions>, { complete, changed, leftOut, next, plan, cost }: MigrationReport): void => {
  if (call.options.dryRun) {
    printPlan(call, plan);
    say(call, `${counted(changed, "item")} would be changed.`);
  } else if (plan.steps.length === 0) {
    say(call, `The table ${plan.table} follows the model; there is nothing to do.`);
  } else say(call, `${counted(changed, "item")} changed.${complete ? ` The table ${plan.table} follows the model.` : ""}`);
  if (!call.options.dryRun) for (const text of plan.notes) note(call, inFlags(text));
  for (const { key, says } of leftOut.first) note(call, `${JSON.stringify(key)}: ${says}`);
  if (leftOut.items > 0) say(call, `${counted(leftOut.items, "item")} cannot be in an index.`);
  if (next !== undefined) say(call, inFlags(next));
  const { requests, readUnits, writeUnits } = cost;
  note(call, `${counted(requests, "request")}, ${showUnits(readUnits)}, ${showUnits(writeUnits, "WCU")}`);
};

const runCommand = defineCommand<RunOptions>({
  name: "run",
  summary: "Take the steps, while programs read and write the table",
  description:
    "Adds the index keys that the model computes to existing items. Deploy the model to every process that writes, then run the command with --finish, which creates the indexes. You can interrupt it and run it again. Until an index is complete, reads that need it fail with plan.indexIncomplete.",
  options: [
    {
      flags: "--finish",
      text: "make the last passes, create the new indexes and delete the old ones; use it once every process that writes uses this model",
    },
    { flags: "--share <percent>", text: "share of the table's capacity to take, 1 to 100 (default: 25)", parse: wholeNumber(100) },
    { flags: "--dry-run", text: "read the table, change nothing, and count the items that would be changed" },
    { flags: "--leave-out", text: "leave items that cannot have the keys out of the index, instead of stopping" },
    inPlaceOption,
    againOption,
  ],
  examples: ["edgetable migrate run --dry-run", "edgetable migrate run --share 50", "edgetable migrate run --finish"],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      const { io, options } = call;
      const { finish = false, dryRun = false, leaveOut = false, inPlace = false, again = false, share, json } = options;
      const progress = createProgress(io);
      const work = async (): Promise<MigrationReport> =>
        db.migrations.run({
          finish,
          dryRun,
          leaveOut,
          inPlace,
          again,
          ...(share === undefined ? {} : { share }),
          signal: io.signal,
          onProgress: (one) => progress.show(progressText(one)),
        });
      try {
        const report = await (dryRun ? work() : resumable(call, () => work().finally(() => progress.clear())));
        progress.clear();
        if (json) printJson(call, report);
        else printReport(call, report);
        return exitCode.ok;
      } finally {
        progress.clear();
      }
    }),
});

const statusCommand = defineCommand({
  name: "status",
  summary: "Show which model the table follows, and what is in progress",
  description: "Exits with 0 if the table follows the model, else with 1.",
  examples: ["edgetable migrate status", "edgetable migrate status --json"],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      const { out } = call.io;
      const status = await db.migrations.status({ signal: call.io.signal });
      const code = status.state === "current" ? exitCode.ok : exitCode.no;
      if (call.options.json) {
        printJson(call, status);
        return code;
      }
      say(call, inFlags(status.says));
      for (const text of status.plan.notes) note(call, inFlags(text));
      for (const { name, state } of status.indexes) out.write(`  ${name}: ${state}\n`);
      if (status.job) {
        const { running, facts } = status.job;
        const read = counted(Number(facts["seen"] ?? 0), "item");
        say(
          call,
          `${running ? "A process is running it" : "It was interrupted"}: pass ${facts["pass"]}, ${read} read, ${number(Number(facts["changed"] ?? 0))} changed.`,
        );
      }
      if (status.undo !== undefined) say(call, inFlags(status.undo));
      return code;
    }),
});

const undoCommand = defineCommand({
  name: "undo",
  summary: "Undo a migration that has begun and not ended",
  description:
    "Deletes the indexes that the migration created and forgets the migration, whichever model it leads to. Attributes that it wrote stay in the items and do no harm. A migration that has ended cannot be undone.",
  examples: ["edgetable migrate undo"],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      const report = await db.migrations.undo({ signal: call.io.signal });
      const { undone, deleted, notes } = report;
      if (call.options.json) printJson(call, report);
      else {
        if (undone) say(call, `The migration is undone${deleted.length > 0 ? `; deleted: ${deleted.join(", ")}` : ""}.`);
        for (const text of notes) say(call, inFlags(text));
      }
      return undone ? exitCode.ok : exitCode.no;
    }),
});

export const migrateCommand: CommandSpec = {
  name: "migrate",
  group: "Table:",
  summary: "Bring a table in line with a changed model while it is in use",
  commands: [planCommand, runCommand, statusCommand, undoCommand],
  examples: ["edgetable migrate plan", "edgetable migrate run", "edgetable migrate run --finish", "edgetable migrate undo"],
};
