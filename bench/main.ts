import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { askedSections, measureSections, sectionNames } from "./measure-sections.ts";
import type { Report } from "./report.ts";
import { describeEnvironment } from "./results/environment.ts";
import { resultsText } from "./results.ts";
import { fullRun, reducedRun } from "./sections.ts";

const reduced = Boolean(process.env.EDGETABLE_BENCH_REDUCED);
const log = (line: string): void => console.error(line);
const asked = askedSections(process.argv.slice(2));

// Sections that are not run again keep the figures of the last run, so that one can be looked at by itself.
const kept = "dist/report.json";
const lacksOthers = asked.length > 0 && !existsSync(kept);
const before = asked.length > 0 && !lacksOthers ? (JSON.parse(readFileSync(kept, "utf8")) as Report) : {};
const environment = describeEnvironment(reduced ? "reduced" : "full");
const report = await measureSections(reduced ? reducedRun(log) : fullRun(log), asked.length > 0 ? asked : sectionNames, {
  ...before,
  environment,
});
if (lacksOthers) {
  process.stdout.write(resultsText(report));
  console.error("bench: RESULTS.md is left as it is: this working copy has no run of all sections, whose figures it would keep");
} else {
  writeFileSync(kept, JSON.stringify(report, null, 1));
  writeFileSync("RESULTS.md", resultsText(report));
  console.log("bench: RESULTS.md written");
}
