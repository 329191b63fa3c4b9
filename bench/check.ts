import { judgeAll, limitOf, sectionsOf } from "./budgets.ts";
import type { Verdict } from "./budgets.ts";
import { askedSections, measureSections, sectionNames } from "./measure-sections.ts";
import type { Report } from "./report.ts";
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

const isBroken = ({ held, tolerated }: Verdict): boolean => !held && !tolerated;
const runners = reduced ? reducedRun(log) : fullRun(log);
const asked = askedSections(process.argv.slice(2));
const sections = asked.length > 0 ? asked : sectionNames;
const judge = (report: Report): readonly Verdict[] => judgeAll(report).filter((verdict) => sections.includes(sectionsOf([verdict])[0]!));
const first = await measureSections(runners, sections, { environment: describeEnvironment(reduced ? "reduced" : "full") });
// Other work on the machine breaks a budget of time now and then, not twice in a row: what is broken is measured again.
const again = sectionsOf(judge(first).filter(isBroken));
for (const verdict of judge(first).filter(isBroken)) log(`${lineOf(verdict)}\n     measured again`);
const verdicts = judge(again.length === 0 ? first : await measureSections(runners, again, first));
for (const verdict of verdicts) console.log(lineOf(verdict));
const failed = verdicts.filter(isBroken).length;
const missed = verdicts.filter(({ tolerated }) => tolerated).length;
console.log(
  `bench:check (${reduced ? "reduced" : "full"}): ${verdicts.length - failed - missed} held, ${missed} missed but no worse than before, ${failed} broken`,
);
process.exitCode = failed === 0 ? 0 : 1;
