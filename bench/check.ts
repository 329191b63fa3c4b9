import { judgeAll, limitOf } from "./budgets.ts";
import type { Verdict } from "./budgets.ts";
import { measureSections, sectionNames } from "./measure-sections.ts";
import { describeEnvironment } from "./results/environment.ts";
import { round } from "./results/markdown.ts";
import { fullRun, reducedRun } from "./sections.ts";

const reduced = Boolean(process.env.EDGETABLE_BENCH_REDUCED ?? process.env.CI);
const log = (line: string): void => console.error(line);

const lineOf = (verdict: Verdict): string => {
  const state = verdict.held ? "ok  " : verdict.tolerated ? "MISS" : "FAIL";
  const why = verdict.tolerated ? `${verdict.missedBecause} Held meanwhile: ${verdict.ceiling}.` : verdict.reason;
  const measured = verdict.measured === undefined ? "not measured" : round(verdict.measured);
  return `${state} ${verdict.what}: ${measured} ${verdict.unit} (budget ${limitOf(verdict)})${verdict.held ? "" : `\n     why: ${why}`}`;
};

const report = await measureSections(reduced ? reducedRun(log) : fullRun(log), sectionNames, {
  environment: describeEnvironment(reduced ? "reduced" : "full"),
});
const verdicts = judgeAll(report);
for (const verdict of verdicts) console.log(lineOf(verdict));
const failed = verdicts.filter(({ held, tolerated }) => !held && !tolerated).length;
const missed = verdicts.filter(({ tolerated }) => tolerated).length;
console.log(
  `bench:check (${reduced ? "reduced" : "full"}): ${verdicts.length - failed - missed} held, ${missed} missed but no worse than before, ${failed} broken`,
);
process.exitCode = failed === 0 ? 0 : 1;
