import type { Cost } from "edgetable";
import type { ChapterResult, DeedResult } from "./run-truth.ts";
import { tableLines, type Terminal, wrap } from "./terminal.ts";
import { answerSections, answerText, count, duration, indent, MARGIN, STEP, units } from "./text-reporter.ts";

const head = ({ colors, width }: Terminal, title: string, [about, note]: readonly [string, string]): string =>
  indent(
    [colors.dim("─".repeat(width)), colors.bold(colors.cyan(title)), ...wrap(about, width), ...wrap(note, width).map(colors.dim), ""],
    0,
  );

/** The beginning of the section. */
export const truthHead = (terminal: Terminal): string =>
  head(terminal, "Truth over time", [
    "One table, College: facts that follow from other facts, while data, model and table change.",
    "For each change: who wrote, which items, and what it cost.",
  ]);

/** The beginning of the section about fields of users. */
export const fieldsHead = (terminal: Terminal): string =>
  head(terminal, "Fields that users define", [
    "Two tables, TrackerFields and TrackerDocuments: 300 issues of a project that adds a column while the program runs.",
    "For each storage: what the column and its values take, and what a page takes that is sorted and filtered by it.",
  ]);

const price = (cost: Cost, milliseconds: number): string =>
  `${count(cost.requests, "request")} · ${units(cost.readUnits)} RCU · ${units(cost.writeUnits)} WCU · ${duration(milliseconds)}`;

const MOST_WRITES = 8;

const writeLines = ({ colors, width }: Terminal, { writes }: DeedResult): readonly string[] => {
  if (writes.length === 0) return [];
  const rows = writes.slice(0, MOST_WRITES).map(({ operation, partition, sort, content }) => [operation, partition, sort, content]);
  const [head = "", ...lines] = tableLines([["write", "pk", "sk", "content"], ...rows], { width: width - MARGIN - STEP });
  const more = writes.length - MOST_WRITES;
  return [colors.dim(head), ...lines, ...(more > 0 ? [colors.dim(`… and ${more} more`)] : [])];
};

const ARROW = "→ ";

const callLines = ({ colors, width }: Terminal, call: string): readonly string[] =>
  wrap(call, width - MARGIN - ARROW.length).map(
    (line, at) => (at === 0 ? colors.dim(ARROW) : " ".repeat(ARROW.length)) + colors.cyan(line),
  );

const deedText = (terminal: Terminal, deed: DeedResult): string => {
  const { colors, width } = terminal;
  const who = `by ${deed.by}${deed.isOneTransaction ? ", in one transaction" : ""}: ${price(deed.cost, deed.milliseconds)}`;
  const result = deed.result === undefined ? [] : answerSections(deed.result, deed.expected);
  return [
    indent(deed.calls.flatMap((call) => callLines(terminal, call))),
    indent(wrap(who, width - MARGIN - STEP).map(colors.italic), MARGIN + STEP),
    indent(writeLines(terminal, deed), MARGIN + STEP),
    ...result.map((section) => answerText(terminal, section, STEP)),
  ].join("");
};

const verdict = ({ colors, width }: Terminal, chapter: ChapterResult): string => {
  if (chapter.ok) return indent([`${colors.green("✓")} ${colors.dim(price(chapter.cost, chapter.milliseconds))}`]);
  const wrong = chapter.deeds.find((deed) => !deed.ok)?.expected ?? chapter.expected;
  const why = chapter.error ?? `expected ${JSON.stringify(wrong)}`;
  const [first = "", ...more] = wrap(`${chapter.name}: ${why}`, width - MARGIN - STEP);
  return indent([`${colors.red("✗")} ${first}`]) + indent(more, MARGIN + STEP);
};

/** A chapter: the change, its writers, and the facts as they are read afterwards. */
export const chapterText = (terminal: Terminal, chapter: ChapterResult, at: number): string => {
  const { colors, width } = terminal;
  const [title = "", ...further] = wrap(chapter.title, width - MARGIN);
  const answer = chapter.error === undefined ? answerSections(chapter.answer, chapter.expected) : [];
  return [
    `${colors.dim(String(at + 1).padStart(4))}  ${colors.bold(title)}\n`,
    indent(further.map(colors.bold)),
    ...chapter.deeds.map((deed) => deedText(terminal, deed)),
    indent(callLines(terminal, chapter.call)),
    ...answer.map((section) => answerText(terminal, section, STEP)),
    verdict(terminal, chapter),
    "\n",
  ].join("");
};

/** What became of the fields of users. */
export const fieldsVerdict = ({ colors }: Terminal, chapters: readonly ChapterResult[]): string => {
  const wrong = chapters.filter(({ ok }) => !ok).map(({ name }) => name);
  if (wrong.length === 0) return `${colors.green("✓")} ${chapters.length} of ${chapters.length} storages gave the grid as expected\n`;
  return `${colors.red("✗")} ${wrong.length} of ${chapters.length} storages gave another grid: ${colors.bold(wrong.join(", "))}\n`;
};

/** The last line about the table that changes. */
export const truthVerdict = ({ colors }: Terminal, chapters: readonly ChapterResult[]): string => {
  const wrong = chapters.filter(({ ok }) => !ok).map(({ name }) => name);
  if (wrong.length === 0) return `${colors.green("✓")} ${chapters.length} of ${chapters.length} changes left every fact true\n`;
  return `${colors.red("✗")} ${wrong.length} of ${chapters.length} changes left a fact wrong: ${colors.bold(wrong.join(", "))}\n`;
};
