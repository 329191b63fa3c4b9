import { answerParent } from "../workers/child.ts";
import { measureBlock } from "../measure/block.ts";
import type { Block } from "../measure/block.ts";
import { callNames } from "./calls.ts";
import type { CallName } from "./calls.ts";
import { loadCandidate } from "./candidates.ts";
import type { CandidateName } from "./candidates.ts";
import { checkAnswers } from "./gate.ts";
import { loadSystem } from "./load.ts";
import { workload } from "./workload.ts";

/** What the parent asks of a candidate's process. */
export type Question =
  | { readonly kind: "prepare"; readonly warmUp: number }
  | { readonly kind: "measure"; readonly call: CallName; readonly block: Block };

const [name, endpoint = "", table = ""] = process.argv.slice(2);
const { connect } = await loadCandidate(name as CandidateName);
const calls = await connect({ endpoint, table });

// The SDK's first 2,000 calls in a process cost two to three times the later ones.
const warmUp = async (count: number): Promise<void> => {
  for (const call of callNames) await measureBlock((index) => workload[call](calls, index), { first: 0, count, concurrency: 8 });
};

answerParent<Question>(async (question) => {
  if (question.kind === "measure") return measureBlock((index) => workload[question.call](calls, index), question.block);
  await loadSystem(calls);
  await checkAnswers(calls);
  return warmUp(question.warmUp);
});
