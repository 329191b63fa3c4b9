import { type Random, seededRandom } from "@edgetable/testing";
import { expect, test } from "vitest";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { type BrokenRule, runAggregates } from "./aggregates.ts";
import { type BrokenCopyRule, type CopyDesign, runCopies } from "./copies.ts";
import type { History, Trouble } from "./interleave.ts";

const drawTrouble = (random: Random): Trouble => ({
  processors: 1 + Math.floor(random() * 4),
  kills: Math.floor(random() * 4),
  zombies: Math.floor(random() * 6),
  duplicates: Math.floor(random() * 4),
  gap: random() < 0.2,
});

type Run = (random: Random, trouble: Trouble) => History;

/** Runs histories until one ends wrong, and tells that one. */
const firstFailure = (seed: number, histories: number, run: Run): string => {
  for (let at = 0; at < histories; at++) {
    const random = seededRandom(seed + at);
    const { complaints, lines } = run(random, drawTrouble(random));
    if (complaints.length > 0) return [`history ${String(seed + at)}:`, ...lines, ...complaints].join("\n");
  }
  return "";
};

const seed = testSeed();

test(`aggregates equal their recomputation after any history (seed ${String(seed)})`, () => {
  expect(firstFailure(seed, testRuns(8_000), (random, trouble) => runAggregates(random, trouble))).toBe("");
});

test(`copies by stamps equal their source after any history (seed ${String(seed)})`, () => {
  expect(firstFailure(seed, testRuns(8_000), (random, trouble) => runCopies(random, trouble, { design: "stamps" }))).toBe("");
});

test(`copies by revisions do so even with writers of an older model (seed ${String(seed)})`, () => {
  const run: Run = (random, trouble) => runCopies(random, trouble, { design: "revisions", oldWriters: true });
  expect(firstFailure(seed, testRuns(8_000), run)).toBe("");
});

// The seed is fixed, so that each broken rule always shows itself.
const enough = 200_000;

const brokenRules: readonly BrokenRule[] = [
  "the row is read before the memo",
  "the memo's value is compared instead of its revision",
  "the memo is deleted with its row",
  "no memo is written for a row that is gone",
  "the difference is added without a memo",
  "nothing is written if the contribution is unchanged",
  "the node is updated only after a difference",
  "the node is updated without a revision",
  "the node is updated even if it does not exist",
  "a new node's record does not update it",
  "the memos are read before the revision",
  "a tombstone that is used again still expires",
  "the revisions of a memo restart after its tombstone",
  "the facts item is deleted with its node",
  "a repair looks at rows only",
  "a repair does not wait for refreshes under way",
];

test.each(brokenRules)("the simulation of aggregates sees that %s", (broken) => {
  expect(firstFailure(5, enough, (random, trouble) => runAggregates(random, trouble, broken))).not.toBe("");
});

const brokenCopyRules: readonly (readonly [CopyDesign, BrokenCopyRule])[] = [
  ["stamps", "copies have no stamp"],
  ["stamps", "the stamps of different sources are compared"],
  ["stamps", "stamps restart when a source is created again"],
  ["stamps", "writers leave the stamp as it is"],
  ["stamps", "the index is read only once"],
  ["stamps", "a new edge's record does not read its source"],
  ["revisions", "the index is read only once"],
  ["revisions", "a new edge's record does not read its source"],
  ["revisions", "the source is read before the copy"],
  ["revisions", "nothing is written if the copy is right"],
  ["revisions", "the revisions of a copy restart with its edge"],
];

test.each(brokenCopyRules)("the simulation of copies by %s sees that %s", (design, broken) => {
  expect(firstFailure(5, enough, (random, trouble) => runCopies(random, trouble, { design, broken }))).not.toBe("");
});

test("the simulation sees that stamps do not survive writers of an older model", () => {
  const run: Run = (random, trouble) => runCopies(random, trouble, { design: "stamps", oldWriters: true });
  expect(firstFailure(5, enough, run)).not.toBe("");
});
