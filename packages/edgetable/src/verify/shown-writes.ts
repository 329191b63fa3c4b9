import type { Run } from "../executor/jobs/run-job.ts";
import { encodeSingle, encodeTransaction } from "../requests/encode-write.ts";
import type { Finding, Mend, Problem } from "./finding.ts";

/** A write of a repair, as it is sent or would be: a request, `rebuildFacts`, which computes a node's facts by the stream anew, or `followDocument`, which makes the index items of a row's values follow its document. */
export interface RepairWrite {
  /** What it mends. */
  readonly findings: readonly Finding[];
  readonly operation: string;
  readonly input: unknown;
}

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

/** The writes that mend a problem. */
export const shownWrites = (run: Run, { findings, mend }: Problem): readonly RepairWrite[] =>
  encodedAs(run, mend).map((write) => ({ findings, ...write }));
