import { testEngineName } from "./engine-name.ts";

const { EDGETABLE_SEED, EDGETABLE_RUNS, EDGETABLE_EFFORT } = process.env;
const effort = Number(EDGETABLE_EFFORT || 1);

/** True in a nightly run: every combination of a suite runs, on both engines. */
export const isNightly: boolean = effort > 1;

/** Seed of a file's random cases: EDGETABLE_SEED, or a new one. Show it in the test's name. */
export const testSeed = (): number => (EDGETABLE_SEED ? Number(EDGETABLE_SEED) : Date.now() % 1_000_000);

/** Number of random cases, at least one: EDGETABLE_RUNS, or the usual number times EDGETABLE_EFFORT. */
export const testRuns = (usual: number): number => (EDGETABLE_RUNS ? Number(EDGETABLE_RUNS) : Math.ceil(usual * effort));

/**
 * Milliseconds that a test of random cases may take: those of the usual number, times EDGETABLE_EFFORT where that is above 1. The
 * limit of a test that names none grows alike (`vitest.config.ts`).
 */
export const testTime = (usual: number): number => usual * Math.max(1, effort);

/**
 * The cases of a list that a run takes: all of them, or an even sample where EDGETABLE_EFFORT is below 1, as in `.ci/run`.
 *
 * @param least how many it takes at least
 */
export const sampled = <Case>(cases: readonly Case[], least: number): readonly Case[] => {
  const wanted = Math.min(cases.length, Math.max(least, Math.ceil(cases.length * effort)));
  return Array.from({ length: wanted }, (_, at) => cases[Math.floor((at * cases.length) / wanted)]!);
};

/** fast-check's parameters. Without EDGETABLE_SEED, fast-check draws the seed and prints it with a failure. */
export const propertyRuns = (usual: number): { readonly numRuns: number; readonly seed?: number } => ({
  numRuns: testRuns(usual),
  ...(EDGETABLE_SEED && { seed: Number(EDGETABLE_SEED) }),
});

/** A name for a test, and the rules to switch off in it. */
export type RuleVariant = readonly [name: string, rulesOff: readonly string[]];

/**
 * The sets of planner rules that an oracle runs under: all rules, no rule, and all rules but one. Rules do not depend on
 * the engine, so the last kind is left out on the second engine, except nightly.
 *
 * @param names rules to switch off one at a time
 * @param all rules to switch off together
 */
export const ruleVariants = (names: readonly string[], all: readonly string[] = names): readonly RuleVariant[] => [
  ["with every rule", []],
  ["with no rule", all],
  ...(isNightly || testEngineName() === "dynoxide" ? names.map((name): RuleVariant => [`without ${name}`, [name]]) : []),
];
