/** What is asked of a grid: a page sorted by a column, filtered by two. */
export interface Ask {
  /** `num`, or the id of a field. */
  readonly sort: string;
  /** The values that pass, by column: `state`, or the id of a choice field. */
  readonly filters: Readonly<Record<string, readonly string[]>>;
  /** Fields that are shown. */
  readonly shown: readonly string[];
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface Page {
  /** Ids of the rows. */
  readonly rows: readonly string[];
  /** Rows in the order of the column up to the last one of the page, whether they pass or not; 0 if the reader does not tell. */
  readonly examined: number;
  readonly requests: number;
  readonly readUnits: number;
  readonly next: string | undefined;
}

/** One way to read pages. */
export interface Reader {
  page(ask: Ask): Promise<Page>;
  close(): Promise<void>;
}
