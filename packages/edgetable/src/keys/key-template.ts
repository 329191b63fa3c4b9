import type { FieldFormat, KeyDialect } from "./field-format.ts";

/** A fixed text of a template. */
export interface LiteralPart {
  readonly kind: "literal";
  readonly text: string;
}

/** A place of a template that a row's value fills. */
export interface FieldPart {
  readonly kind: "field";
  /** Where the value stands in the row: `studentId`, `to.courseId`. */
  readonly path: string;
  readonly format: FieldFormat;
  /** `path`, split at its dots. */
  readonly steps: readonly string[];
  /** Whether every key begins with it. */
  readonly leads?: true;
}

/** One piece of a template. A literal that follows a field always begins with the delimiter. */
export type TemplatePart = LiteralPart | FieldPart;

/** A parsed key template: data only, frozen. */
export interface Template extends KeyDialect {
  readonly kind: "template";
  readonly type: "S" | "N";
  /** What it was parsed from, such as `STUDENT#{studentId}`. */
  readonly source: string;
  readonly parts: readonly TemplatePart[];
  /** The distinct paths that it depends on, in order of appearance. */
  readonly fields: readonly string[];
  /** Those of them that may be missing: they only decide over the number of shards. */
  readonly optional: readonly string[];
  /** Whether one path stands in several places that read back, which then must agree. */
  readonly repeats: boolean;
}

/** The fixed text with which every key of a template begins; empty where a field comes first. */
export const leadOf = (template: Template | undefined): string => {
  const first = template?.parts[0];
  return first?.kind === "literal" ? first.text : "";
};
