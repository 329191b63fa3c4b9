import type { Cost } from "edgetable";
import type { ChapterResult, DeedResult } from "./run-story.ts";
import { tableLines, type Terminal, wrap } from "./terminal.ts";
import { answerSections, answerText, count, duration, indent, MARGIN, STEP, units } from "./text-reporter.ts";

const head = ({ colors, width }: Terminal, title: string, [about, note]: readonly [string, string]): string =>
  indent(
    [colors.dim("─".repeat(width)), colors.bold(colors.cyan(title)), ...wrap(about, width), ...wrap(note, width).map(colors.dim), ""],
    0,
  );

/** What a section tells before its chapters, and how it ends. */
interface Section {
  readonly title: string;
  readonly about: readonly [string, string];
  /** What the chapters are, and what became of those that went right and wrong. */
  readonly ends: readonly [what: string, right: string, wrong: string];
}

const sections = {
  truth: {
    title: "Truth over time",
    about: [
      "One table, College: facts that follow from other facts, while data, model and table change.",
      "For each change: who wrote, which items, and what it cost.",
    ],
    ends: ["changes", "left every fact true", "left a fact wrong"],
  },
  fields: {
    title: "Fields that users define",
    about: [
      "Two tables, TrackerFields and TrackerDocuments: 300 issues of a project that adds a column while the program runs.",
      "For each storage: what the column and its values take, and what a page takes that is sorted and filtered by it.",
    ],
    ends: ["storages", "gave the grid as expected", "gave another grid"],
  },
  totals: {
    title: "One total, three keepers",
    about: [
      "One table, Totals: sums of the billing lab, roll-ups of the tracker and counts of education.",
      "Each is declared three times: kept in the write's transaction, by the stream, and by a batch job in DuckDB.",
    ],
    ends: ["systems", "have equal totals by transaction, stream and batch", "have a total that differs"],
  },
} as const satisfies Record<string, Section>;

/** The sections of the demo that are no systems, by name. */
export type SectionName = keyof typeof sections;

/** The beginning of a section. */
export const sectionHead = (terminal: Terminal, name: SectionName): string => head(terminal, sections[name].title, sections[name].about);

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

/** The last line about a section. */
export const sectionVerdict = ({ colors }: Terminal, name: SectionName, chapters: readonly ChapterResult[]): string => {
  const [what, right, wrong] = sections[name].ends;
  const failed = chapters.filter(({ ok }) => !ok).map((chapter) => chapter.name);
  if (failed.length === 0) return `${colors.green("✓")} ${chapters.length} of ${chapters.length} ${what} ${right}\n`;
  return `${colors.red("✗")} ${failed.length} of ${chapters.length} ${what} ${wrong}: ${colors.bold(failed.join(", "))}\n`;
};
