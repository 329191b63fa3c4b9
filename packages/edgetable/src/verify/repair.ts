import { isEdgetableError } from "../errors/edgetable-error.ts";
import { runPlanned } from "../executor/run-write.ts";
import { type Run, step } from "../executor/jobs/run-job.ts";
import { keyId, type WriteItem } from "../ir/write-plan.ts";
import { encodeSingle, encodeTransaction } from "../requests/encode-write.ts";
import type { Finding, FindingKind, Mend, Problem } from "./finding.ts";
import { rebuildStreamed } from "./read-streamed.ts";
import { settleCandidates, type Settling, type Verdict } from "./settle.ts";

/** A write of a repair, as it is sent or would be: a request, `rebuildFacts`, which computes a node's facts by the stream anew, or `followDocument`, which makes the index items of a row's values follow its document. */
export interface RepairWrite {
  /** What it mends. */
  readonly findings: readonly Finding[];
  readonly operation: string;
  readonly input: unknown;
}

/** What is mended. */
export interface RepairSettings {
  /** `dryRun`: nothing is written; `onWrite` is told all the same. */
  readonly mode: "repair" | "dryRun";
  readonly deletesOrphans: boolean;
  /** False to take a mend that was sent for done: a later pass over the table tells. @default true */
  readonly rejudges?: boolean;
  /** Kinds that are mended; undefined: all. */
  readonly only?: ReadonlySet<FindingKind> | undefined;
  readonly onWrite: ((write: RepairWrite) => void) | undefined;
}

/** True if a problem is mended with these settings. */
export const isMended = ({ mend, findings }: Problem, { deletesOrphans, only }: RepairSettings): boolean => {
  if (only && !findings.some(({ kind }) => only.has(kind))) return false;
  return mend.kind !== "none" && (mend.kind !== "orphan" || deletesOrphans);
};

const TOKEN = "0".repeat(32);

const encodedAs = ({ session: { catalog } }: Run, mend: Mend): readonly Pick<RepairWrite, "operation" | "input">[] => {
  if (mend.kind === "none") return [];
  if (mend.kind === "follow") return [{ operation: "followDocument", input: mend.row }];
  const steps = mend.kind !== "rebuild" ? mend.steps : mend.before ? [mend.before] : [];
  const target = { table: catalog.table, partitionKey: catalog.index.partitionKey };
  const [only] = steps;
  const write = only && only.kind !== "check" && steps.length === 1 ? encodeSingle(target, only) : encodeTransaction(target, steps, TOKEN);
  if (mend.kind !== "rebuild") return [write];
  return [...(only ? [write] : []), { operation: "rebuildFacts", input: mend.holder }];
};

const runSteps = async (run: Run, steps: readonly WriteItem[]): Promise<void> => {
  const atomic = steps.length === 1 ? ({ kind: "item" } as const) : ({ kind: "transaction", items: steps.length } as const);
  const items = steps.map((item) => ({ item, writes: [0] }));
  const plan = { kind: "ready", items, atomic, repeatable: false, rows: [undefined] } as const;
  try {
    await step(run, (context) => runPlanned(run.session, () => plan, context));
  } catch (error) {
    // Whether it happened is found out with the next look at the item.
    if (!isEdgetableError(error, "execute.ambiguous")) throw error;
  }
};

/** Makes the writes of one problem. They change nothing if something that they depend on has changed. */
const runMend = async ({ run, documents }: Settling, mend: Mend): Promise<void> => {
  if (mend.kind === "none") return;
  if (mend.kind === "rebuild") {
    if (mend.before) await runSteps(run, [mend.before]);
    return rebuildStreamed(run, mend.holder);
  }
  if (mend.kind === "follow") {
    const followed = await step(run, async (context) => documents?.followDocuments(run.session, [mend.row], context));
    if (followed?.failed[0]) throw followed.failed[0].error;
    return;
  }
  return runSteps(run, mend.steps);
};

const ROUNDS = 5;

const idOf = ({ kind, attribute, other }: Finding): string => `${kind} ${attribute ?? ""} ${other ? keyId(other) : ""}`;

const findingsOf = (problems: readonly Problem[]): readonly Finding[] => problems.flatMap(({ findings }) => findings);

/**
 * Mends what was found about an item, then judges the item again, until nothing is left that could be mended. Every write
 * requires that what it depends on is unchanged since it was read, so that it undoes no other write.
 *
 * @returns the findings that are mended
 */
export const repairItem = async (settling: Settling, { key, problems }: Verdict, settings: RepairSettings): Promise<readonly Finding[]> => {
  let left = problems;
  for (let round = 0; round < ROUNDS; round++) {
    let written = 0;
    for (const problem of left) {
      if (!isMended(problem, settings)) continue;
      for (const write of encodedAs(settling.run, problem.mend)) settings.onWrite?.({ findings: problem.findings, ...write });
      if (settings.mode === "dryRun") continue;
      written++;
      await runMend(settling, problem.mend);
    }
    if (settings.rejudges === false && settings.mode === "repair") return findingsOf(problems.filter((one) => isMended(one, settings)));
    if (written === 0) break;
    // Whether a write was refused or not: the table as it is now tells.
    const { verdicts } = await settleCandidates(settling, [key]);
    left = verdicts[0]?.problems ?? [];
  }
  const remaining = new Set(findingsOf(left).map(idOf));
  return findingsOf(problems).filter((finding) => !remaining.has(idOf(finding)));
};
