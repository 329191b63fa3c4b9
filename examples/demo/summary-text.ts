import { totalsOf, type SystemResult, type Totals } from "./results.ts";
import type { Terminal } from "./terminal.ts";
import { tableLines } from "./text-table.ts";

const headings = ["system", "patterns", "requests", "items", "RCU predicted", "RCU consumed", "time"];

const figures = (totals: Totals, milliseconds: number): readonly string[] => [
  String(totals.patterns),
  String(totals.requests),
  totals.itemsRead.toLocaleString("en"),
  totals.predictedUnits.toFixed(1),
  totals.consumedUnits.toFixed(1),
  `${(milliseconds / 1000).toFixed(2)} s`,
];

const verdict = ({ colors }: Terminal, totals: Totals): string => {
  if (totals.failed.length === 0) return `${colors.green("✓")} ${totals.patterns} of ${totals.patterns} patterns answered as expected\n`;
  const names = totals.failed.join(", ");
  return `${colors.red("✗")} ${totals.failed.length} of ${totals.patterns} patterns did not answer as expected: ${colors.bold(names)}\n`;
};

/** The line that begins the demo. */
export const headText = ({ colors }: Terminal, about: { readonly systems: number; readonly engine: string }): string =>
  `${colors.bold("Edgetable")} · ${about.systems === 1 ? "one system" : `${about.systems} systems`}, answered by an engine in memory (dynoxide ${about.engine})\n`;

/** The table that ends the demo. */
export const summaryText = (terminal: Terminal, systems: readonly SystemResult[]): string => {
  const { colors, width } = terminal;
  const all = totalsOf(systems);
  const time = systems.reduce((sum, system) => sum + system.milliseconds, 0);
  const rows = systems.map((system) => [system.name, ...figures(totalsOf([system]), system.milliseconds)]);
  const total = systems.length > 1 ? [["total", ...figures(all, time)]] : [];
  const [head = "", ...lines] = tableLines([headings, ...rows, ...total], { width, right: headings.map((_, at) => at > 0) });
  const body = lines.map((line, at) => (at === systems.length ? colors.bold(line) : line));
  return [colors.dim("─".repeat(width)), colors.dim(head), ...body, "", verdict(terminal, all)].join("\n");
};
