import { judgeAll, limitOf } from "./budgets.ts";
import type { Report } from "./report.ts";
import { callsSection, loadSection, planSection, shareSection } from "./results/call-sections.ts";
import type { Environment } from "./results/environment.ts";
import { frontierSection, growthSection, mixesSection, scatterSection, walksSection } from "./results/graph-sections.ts";
import { lossesSection } from "./results/losses.ts";
import { table } from "./results/markdown.ts";
import { bytesSection, coldStartSection, typesSection } from "./results/size-sections.ts";

const method = `## Method

- One run. Each candidate has a process of its own, so that one's garbage is not billed to another, and an engine of its own (dynoxide, in memory, fresh, a separate process over loopback HTTP, signed requests) with the same rows (edgetable keeps an edge's ids in its keys alone, the others as attributes too): 200 students with 20 courses each, 200 courses with 20 students each, nodes of 10 attributes, edges of 8, a table of PK, SK and GSI1 (GSI1PK, GSI1SK).
- Each candidate is written as its own documentation writes it, with its defaults. Before anything is timed, a gate compares every call's rows with the data, sees the writes arrive, and sees an enrolment of a missing student or course refused.
- The eight calls: put student · enrol (transaction: put edge, check both nodes) · get student · list a student's 20 courses · list a course's 20 students by index · update an edge's attribute · delete an edge · list 20 and hydrate by one BatchGetItem.
- After a warm-up, rounds: for every call and concurrency a block per candidate, candidates in random order (seeded). A block's CPU is \`process.cpuUsage()\`, user and system, garbage collection included.
- A ratio compares two blocks of the same round; the figure is the median over the rounds, then the geometric mean over the calls. Absolute figures are medians over the rounds and depend on the machine: compare ratios. Waver: half the interquartile distance over the median, of the call that wavers most.
- The SDK sends a ClientRequestToken with every transaction, which this engine pays for and a client that sends none does not: that is the SDK's default, and counts in calls a second only.`;

const machineText = ({ date, node, cores, processor, memory, system }: Environment): string =>
  `${date} on Node ${node}, ${cores} cores (${processor}), ${memory} GB, ${system}`;

const environmentSection = ({ environment, earlier }: Report): string => {
  const { form, versions } = environment;
  const here = machineText(environment);
  const elsewhere = new Map<string, string[]>();
  for (const [section, one] of Object.entries(earlier)) {
    const there = machineText(one);
    if (there !== here) elsewhere.set(there, [...(elsewhere.get(there) ?? []), section]);
  }
  return [
    ...(form === "full" ? [] : ["**Reduced form: shorter blocks and fewer rounds. Not for quoting.**"]),
    `Measured ${here}; client and engine share the cores.`,
    ...[...elsewhere].map(([there, names]) => `Measured ${there}: ${names.join(", ")}.`),
    table(["package", "version"], Object.entries(versions)),
  ].join("\n\n");
};

const budgetsSection = (report: Report): string =>
  `## Budgets

${table(
  ["budget", "limit", "measured", "", "why this limit"],
  judgeAll(report).map((verdict) => [
    `${verdict.what} (${verdict.unit})`,
    limitOf(verdict),
    verdict.measured,
    verdict.held ? "held" : verdict.measured === undefined ? "not measured" : "**missed**",
    verdict.reason,
  ]),
)}`;

const sections = [
  callsSection,
  lossesSection,
  budgetsSection,
  shareSection,
  planSection,
  loadSection,
  walksSection,
  growthSection,
  frontierSection,
  scatterSection,
  mixesSection,
  bytesSection,
  coldStartSection,
  typesSection,
] as const;

/** The text of RESULTS.md. */
export const resultsText = (report: Report): string => {
  const text = [
    "# Results",
    "Written by `npm run bench`; do not edit.",
    environmentSection(report),
    method,
    ...sections.map((section) => section(report)),
  ].join("\n\n");
  return `${text}\n`;
};
