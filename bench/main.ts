import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { askedSections, emptyReport, measureSections, sectionNames } from "./measure-sections.ts";
import type { Report } from "./report.ts";
import { describeEnvironment } from "./results/environment.ts";
import { resultsText } from "./results.ts";
import { fullRun, reducedRun } from "./sections.ts";

const reduced = Boolean(process.env.EDGETABLE_BENCH_REDUCED);
const log = (line: string): void => console.error(line);
const asked = askedSections(process.argv.slice(2));
const sections = asked.length > 0 ? asked : sectionNames;
const environment = describeEnvironment(reduced ? "reduced" : "full");

if (reduced) {
  process.stdout.write(resultsText(await measureSections(reducedRun(log), sections, { environment })));
  console.error("bench: RESULTS.md is left as it is: it quotes full runs only");
} else {
  // Sections that are not run again keep the figures of the run that measured them last.
  const kept = "figures.json";
  const before = existsSync(kept) ? (JSON.parse(readFileSync(kept, "utf8")) as Report) : { environment, earlier: {}, ...emptyReport };
  const others = sectionNames.filter((name) => !sections.includes(name) && before[name].length > 0);
  const earlier = Object.fromEntries(others.map((name) => [name, before.earlier[name] ?? before.environment]));
  const report = await measureSections(fullRun(log), sections, { ...before, environment, earlier });
  writeFileSync(kept, `${JSON.stringify(report, null, 1)}\n`);
  writeFileSync("RESULTS.md", resultsText(report));
  console.log("bench: figures.json and RESULTS.md written");
}
