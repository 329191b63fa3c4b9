import type { ExampleTable, System } from "../system.ts";
import { answerSections, type Section } from "./answer-sections.ts";
import type { Progress } from "./progress.ts";
import type { LoadResult, PatternResult, RequestResult } from "./results.ts";
import type { Reporter } from "./run-system.ts";
import type { Terminal } from "./terminal.ts";
import { cut, tableLines, wrap } from "./text-table.ts";

const MARGIN = 6;
const STEP = 2;
const indent = (lines: readonly string[], by = MARGIN): string => lines.map((line) => `${" ".repeat(by)}${line}\n`).join("");

const count = (number: number, unit: string): string => `${number.toLocaleString("en")} ${unit}${number === 1 ? "" : "s"}`;
const units = (number: number): string => number.toLocaleString("en", { maximumFractionDigits: 1 });
const duration = (milliseconds: number): string =>
  milliseconds < 1000 ? `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

const MOST_LINES = 12;

const sectionLines = ({ colors, width }: Terminal, section: Section): readonly string[] => {
  if (section.columns.length === 0) {
    const room = width - MARGIN - STEP;
    const lines = section.rows.slice(0, MOST_LINES).flatMap((row) => wrap(row.join(" "), room).map((line) => cut(line, room)));
    const more = section.rows.length - MOST_LINES;
    return more > 0 ? [...lines, colors.dim(`… and ${more} more`)] : lines;
  }
  const [head = "", ...rows] = tableLines([section.columns, ...section.rows], { width: width - MARGIN - STEP, right: section.numeric });
  return [colors.dim(head), ...rows];
};

const answerText = (terminal: Terminal, section: Section): string => {
  const lines = sectionLines(terminal, section);
  return section.title === undefined ? indent(lines) : indent([terminal.colors.italic(section.title)]) + indent(lines, MARGIN + STEP);
};

const ARROW = "→ ";

const requestText = ({ colors, width }: Terminal, request: RequestResult): string => {
  const place = request.index === undefined ? "" : `${request.index}: `;
  const lead = `${request.operation} `;
  const [first = "", ...more] = wrap(`${place}${request.terms}`, width - MARGIN - ARROW.length - lead.length);
  const hanging = " ".repeat(ARROW.length + lead.length);
  return indent([`${colors.dim(ARROW)}${colors.cyan(request.operation)} ${first}`, ...more.map((line) => hanging + line)]);
};

const callText = ({ name, example }: PatternResult): string => {
  const given = Object.entries(example).map(([field, value]) => `${field} = ${Array.isArray(value) ? value.join(", ") : String(value)}`);
  return [name, ...given].join(" · ");
};

const figures = (pattern: PatternResult, consistency: string): string =>
  [
    consistency,
    `${count(pattern.itemsRead, "item")} read`,
    `${units(pattern.predictedUnits)} RCU predicted, ${units(pattern.consumedUnits)} consumed`,
    duration(pattern.milliseconds),
  ].join(" · ");

const verdict = ({ colors, width }: Terminal, pattern: PatternResult): string => {
  if (pattern.ok) {
    const room = width - MARGIN - STEP;
    const isStrong = pattern.consistency === "strong";
    const whole = figures(pattern, isStrong ? "strongly consistent" : "eventually consistent");
    const [first = "", ...more] = wrap(whole.length <= room ? whole : figures(pattern, isStrong ? "strong" : "eventual"), room);
    return indent([`${colors.green("✓")} ${colors.dim(first)}`]) + indent(more.map(colors.dim), MARGIN + STEP);
  }
  const why = pattern.error === undefined ? `expected ${JSON.stringify(pattern.expected)}` : pattern.error;
  return indent([`${colors.red("✗")} ${colors.bold(pattern.name)}: ${why}`]);
};

// A walk asks the same of many nodes.
const MOST_REQUESTS = 6;

const patternText = (terminal: Terminal, pattern: PatternResult, at: number): string => {
  const { colors, width } = terminal;
  const number = String(at + 1).padStart(4);
  const [question = "", ...further] = wrap(pattern.question, width - MARGIN);
  const more = pattern.requests.length - MOST_REQUESTS;
  const answer =
    pattern.error === undefined ? answerSections(pattern.answer, pattern.expected).map((section) => answerText(terminal, section)) : [];
  return [
    `${colors.dim(number)}  ${colors.bold(question)}\n`,
    indent(further.map(colors.bold)),
    indent(wrap(callText(pattern), width - MARGIN).map(colors.dim)),
    ...answer,
    ...pattern.requests.slice(0, MOST_REQUESTS).map((request) => requestText(terminal, request)),
    ...(more > 0 ? [indent([colors.dim(`… and ${more} more like these`)], MARGIN)] : []),
    verdict(terminal, pattern),
    "\n",
  ].join("");
};

const systemText = ({ colors, width }: Terminal, { name, title, source }: System): string =>
  indent(
    [colors.dim("─".repeat(width)), colors.bold(colors.cyan(name)), ...wrap(title, width), ...wrap(source, width).map(colors.dim), ""],
    0,
  );

const loadText = ({ colors, width }: Terminal, { table, variant }: ExampleTable, load: LoadResult): string => {
  const took = `rows written in ${count(load.requests, "request")}, ${units(load.writeUnits)} WCU, ${duration(load.milliseconds)}`;
  return indent([`Table ${table}${variant === undefined ? "" : `, ${variant}`}`, ...wrap(took, width).map(colors.dim), ""], 0);
};

/** Prints for people, pattern by pattern. */
export const textReporter = (terminal: Terminal, progress: Progress): Reporter => {
  const print = (text: string): void => {
    progress.clear();
    terminal.write(text);
  };
  return {
    system: (system) => print(systemText(terminal, system)),
    loading: (table, requests) => progress.show(`writing the rows of ${table.table}: ${count(requests, "request")}`),
    loaded: (table, load) => print(loadText(terminal, table, load)),
    pattern: (pattern, at) => print(patternText(terminal, pattern, at)),
  };
};
