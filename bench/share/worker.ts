import { deepStrictEqual } from "node:assert/strict";
import type { Calls } from "../calls/calls.ts";
import { loadCandidate } from "../calls/candidates.ts";
import type { CandidateName } from "../calls/candidates.ts";
import { enrolments } from "../calls/data.ts";
import { loadSystem } from "../calls/load.ts";
import { workload } from "../calls/workload.ts";
import { measureBlock } from "../measure/block.ts";
import { answerParent } from "../workers/child.ts";
import { createCanned } from "./canned.ts";
import { shareCalls } from "./share-calls.ts";
import type { ShareCall } from "./share-calls.ts";

/** What the parent asks of a candidate's process. */
export type Question = { readonly kind: "prepare" } | { readonly kind: "measure"; readonly call: ShareCall; readonly count: number };

const [name, endpoint = "", table = ""] = process.argv.slice(2);
const { connect } = await loadCandidate(name as CandidateName);
const canned = createCanned();
const calls: Calls = await connect({ endpoint, table, tap: canned.tap });

const batch = enrolments.slice(0, 25);
const callOf = (call: ShareCall): Promise<unknown> =>
  call === "batchWrite" ? (calls.putEnrolments?.(batch) ?? Promise.resolve()) : workload[call](calls, 0);

const expected = new Map<ShareCall, unknown>();

/** Makes every call once against the engine; a second time it might find its own edge. */
const recordAll = async (): Promise<void> => {
  await loadSystem(calls);
  for (const call of shareCalls) {
    canned.record(call);
    expected.set(call, await callOf(call));
  }
};

/** Microseconds of CPU a call; undefined where the client has no such call. */
const measure = async (call: ShareCall, count: number): Promise<number | undefined> => {
  if (call === "batchWrite" && !calls.putEnrolments) return undefined;
  canned.replay(call);
  const { cpu } = await measureBlock(() => callOf(call), { first: 0, count, concurrency: 1 });
  // A client that changed the canned answer would do less work, or other work, from the second call on.
  if (call === "hydrate" || call === "list" || call === "get") deepStrictEqual(await callOf(call), expected.get(call));
  return cpu;
};

answerParent<Question>(async (question) => (question.kind === "prepare" ? recordAll() : measure(question.call, question.count)));
