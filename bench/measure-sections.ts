import type { Report, Section } from "./report.ts";
import type { Environment } from "./results/environment.ts";
import type { Runners } from "./sections.ts";

/** A report of nothing. */
export const emptyReport = {
  calls: [],
  recorded: [],
  share: [],
  bytes: [],
  coldStart: [],
  types: [],
  plan: [],
  load: [],
  walks: [],
  growth: [],
  frontier: [],
  scatter: [],
  mixes: [],
} as const satisfies Omit<Report, "environment" | "earlier">;

/** Runs the named sections one after the other; those not named stay as `before` has them. */
export const measureSections = async (
  runners: Runners,
  names: readonly Section[],
  before: { readonly environment: Environment } & Partial<Report>,
): Promise<Report> => {
  let report: Report = { earlier: {}, ...emptyReport, ...before };
  for (const name of names) report = { ...report, [name]: await runners[name]() };
  return report;
};

export const sectionNames = Object.keys(emptyReport) as readonly Section[];

/** The sections that a command line names. Throws where there is no such section. */
export const askedSections = (names: readonly string[]): readonly Section[] => {
  const unknown = names.filter((name) => !sectionNames.includes(name as Section));
  if (unknown.length > 0) throw new Error(`no section "${unknown.join('", "')}"; there are ${sectionNames.join(", ")}`);
  return names as readonly Section[];
};
