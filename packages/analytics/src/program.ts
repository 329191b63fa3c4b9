/** One step of a batch program. Statements are SELECTs that mean the same in DuckDB and Spark. */
export type Step =
  /** Keeps the rows of a SELECT under a name; the same name again replaces them, also where the SELECT reads them. */
  | { readonly kind: "table"; readonly name: string; readonly select: string }
  /** Repeats steps, at most so many times; ends after the round in which `until`, a SELECT of one number, gives 0. */
  | { readonly kind: "repeat"; readonly atMost: number; readonly until?: string; readonly steps: readonly Step[] };

/** A batch job as data: every engine interprets the same program. */
export interface Program {
  readonly job: string;
  /** What it computes, in one sentence. */
  readonly what: string;
  readonly steps: readonly Step[];
  /** The table that holds the answer, and its order. */
  readonly result: { readonly table: string; readonly orderBy: string };
}
