import { totalsOf, type SystemResult } from "./results.ts";
import type { Progress } from "./progress.ts";
import type { Reporter } from "./run-system.ts";

/** Prints nothing until the end; progress goes to its own stream. */
export const jsonReporter = (progress: Progress): Reporter => ({
  system: () => undefined,
  loading: (table, requests) => progress.show(`writing the rows of ${table.table}: ${requests} requests`),
  loaded: () => progress.clear(),
  pattern: () => undefined,
});

const bigints = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

/** Everything that the demo prints, as JSON. */
export const jsonText = (systems: readonly SystemResult[], engine: string): string => {
  const summary = totalsOf(systems);
  return `${JSON.stringify({ ok: summary.failed.length === 0, engine: `dynoxide ${engine}`, systems, summary }, bigints, 2)}\n`;
};
