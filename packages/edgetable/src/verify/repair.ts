import { isEdgetableError } from "../errors/edgetable-error.ts";
import { runPlanned } from "../executor/run-write.ts";
import { type Run, step } from "../executor/jobs/run-job.ts";
import { keyId, type WriteItem } from "../ir/write-plan.ts";
import { sideBySide } from "../util/side-by-side.ts";
import type { Finding, FindingKind, Mend, Problem, Rebuild } from "./finding.ts";
import { settleCandidates, type Settling, type Verdict } from "./settle.ts";

/** What is mended. */
export interface RepairSettings {
  /** `dryRun`: nothing is written; `onMend` is told all the same. */
  readonly mode: "repair" | "dryRun";
  readonly deletesOrphans: boolean;
  /** False to take a mend that was sent for done: a later pass over the table tells. @default true */
  readonly rejudges?: boolean;
  /** Kinds that are mended; undefined: all. */
  readonly only?: ReadonlySet<FindingKind> | undefined;
  /** Called with each problem before it is mended, or in place of that. */
  readonly onMend: ((run: Run, problem: Problem) => void) | undefined;
}

/** True if a problem is mended with these settings. */
export const isMended = ({ mend, findings }: Problem, { deletesOrphans, only }: RepairSettings): boolean => {
  if (only && !findings.some(({ kind }) => only.has(kind))) return false;
  return mend.kind !== "none" && (mend.kind !== "orphan" || deletesOrphans);
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
  if (mend.kind === "follow") {
    const followed = await step(run, async (context) => documents?.followDocuments(run.session, [mend.row], context));
    if (followed?.failed[0]) throw followed.failed[0].error;
    return;
  }
  if (mend.kind !== "rebuild") return runSteps(run, mend.steps);
  if (mend.before) return runSteps(run, [mend.before]);
};

const WIDTH = 8;
const ROUNDS = 5;

const idOf = ({ kind, attribute, other }: Finding): string => `${kind} ${attribute ?? ""} ${other ? keyId(other) : ""}`;

const findingsOf = (problems: readonly Problem[]): readonly Finding[] => problems.flatMap(({ findings }) => findings);

/** Makes the writes of items: several items at a time, and each item's one after the other. Gives the items that anything was written for. */
const mendOnce = async (settling: Settling, verdicts: readonly Verdict[], settings: RepairSettings): Promise<readonly Verdict[]> => {
  const written = new Set<Verdict>();
  const rebuilds: Rebuild[] = [];
  await sideBySide(verdicts, WIDTH, async (verdict) => {
    for (const problem of verdict.problems.filter((one) => isMended(one, settings))) {
      const { mend } = problem;
      settings.onMend?.(settling.run, problem);
      if (settings.mode === "dryRun") continue;
      written.add(verdict);
      await runMend(settling, mend);
      if (mend.kind === "rebuild") rebuilds.push(mend);
    }
  });
  if (rebuilds.length > 0) await settling.rebuild?.(settling.run, rebuilds);
  return [...written];
};

/**
 * Mends what was found about items, then judges the items again, until nothing is left that could be mended. Every write
 * requires that what it depends on is unchanged since it was read, so that it undoes no other write. What is still wrong after the
 * first round is mended item by item: repairs of several items may change what each of them depends on.
 *
 * @returns the findings that are mended
 */
export const repairItems = async (
  settling: Settling,
  verdicts: readonly Verdict[],
  settings: RepairSettings,
): Promise<readonly Finding[]> => {
  const left = new Map(verdicts.map(({ key, problems }) => [keyId(key), problems]));
  const isOpen = (problem: Problem): boolean => !isMended(problem, settings);
  const round = async (some: readonly Verdict[]): Promise<readonly Verdict[]> => {
    const written = await mendOnce(settling, some, settings);
    if (written.length === 0) return [];
    if (settings.rejudges === false) {
      for (const { key, problems } of written) left.set(keyId(key), problems.filter(isOpen));
      return [];
    }
    // Whether a write was refused or not: the table as it is now tells. Nobody knows of an item that keeps changing.
    const { verdicts: judged, unsettled } = await settleCandidates(
      settling,
      written.map(({ key }) => key),
    );
    const unknown = new Set(unsettled.map(keyId));
    for (const { key } of written) if (!unknown.has(keyId(key))) left.set(keyId(key), []);
    for (const { key, problems } of judged) left.set(keyId(key), problems);
    return judged;
  };
  for (const one of await round(verdicts))
    for (let [at, some]: [number, readonly Verdict[]] = [1, [one]]; at < ROUNDS && some.length > 0; at++) some = await round(some);
  return verdicts.flatMap(({ key, problems }) => {
    const remaining = new Set(findingsOf(left.get(keyId(key)) ?? []).map(idOf));
    return findingsOf(problems).filter((finding) => !remaining.has(idOf(finding)));
  });
};
