import { revive, toJson } from "../output/json.ts";
import { isRow } from "../row.ts";

/** One record of an input file, before it is known what it means. */
export interface FileRecord {
  /** Where it stands: `line 5`, `nodes.student[3]`. */
  readonly place: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** Which of the values may be texts that stand for something else: all, as in CSV, or dates alone, as in JSON. */
  readonly texts: "all" | "dates";
}

/** A record that cannot be read; the file goes on behind it. */
export interface BadRecord {
  readonly place: string;
  readonly problem: string;
}

export const isBad = (record: FileRecord | BadRecord): record is BadRecord => "problem" in record;

/** The record of a parsed line or row of JSON, or what is wrong with it. */
export const recordOf = (place: string, parsed: unknown): FileRecord | BadRecord => {
  try {
    const value = revive(parsed);
    return isRow(value) ? { place, value, texts: "dates" } : { place, problem: `it is no object: ${toJson(value).slice(0, 80)}` };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { place, problem: error.message };
  }
};
