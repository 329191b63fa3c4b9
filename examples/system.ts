import type { AnyPattern, Call, ConnectOptions, Load, LoadReport, Patterns, Explanation, ScanTable, TableAdmin } from "edgetable";

/** What a pattern's example must answer. */
export interface Expected {
  /** The answer, to the last attribute; {@link someCursor} stands for any cursor. */
  readonly answer: unknown;
  /** True where DynamoDB promises no order: an index without a sort key. @default false */
  readonly anyOrder?: boolean;
  /** True for walks, whose requests go out side by side, in no fixed order. @default false */
  readonly sideBySide?: boolean;
  /** The requests, one line each, as the demo prints them. */
  readonly requests: readonly string[];
}

/** Stands for any cursor in an expected answer. */
export const someCursor = "(a cursor)";

/** A named pattern, bound to a connection and to its own example. */
export interface BoundPattern {
  readonly name: string;
  readonly question: string;
  readonly example: Readonly<Record<string, unknown>>;
  readonly expected: Expected;
  /** The call as the model's file has it. */
  readonly source: string;
  readonly call: Call<unknown, Explanation>;
}

/** A connection to an example's table, with its types left behind. */
export interface OpenTable {
  readonly admin: TableAdmin;
  /** Writes the example's rows. */
  load(): Promise<void>;
  /** Every row of the table, and the report on them. */
  readonly scan: ScanTable<unknown>;
  /** Writes rows that a scan gave. */
  restore(rows: AsyncIterable<unknown>): Promise<LoadReport>;
  readonly patterns: readonly BoundPattern[];
  close(): Promise<void>;
}

/** One table of a system: its model, its rows, its questions and their answers. */
export interface ExampleTable {
  readonly table: string;
  /** What tells this table from the system's others, such as a key format. */
  readonly variant?: string;
  readonly open: (options: ConnectOptions) => OpenTable;
}

/** A system of the demo: one table, or the same data in several. */
export interface System {
  /** Its folder, and what `npm run demo -- <name>` calls it. */
  readonly name: string;
  readonly title: string;
  readonly source: string;
  /** What may follow the name on the command line, such as a file. */
  readonly argument?: { readonly name: string; readonly about: string };
  /** Its tables; takes what followed the name. */
  readonly tables: (argument?: string) => Promise<readonly ExampleTable[]>;
}

interface Connection {
  readonly table: TableAdmin;
  readonly scan: ScanTable<unknown>;
  readonly load: Load<unknown>;
  close(): Promise<void>;
}

interface TableParts<Db> {
  readonly graph: { readonly catalog: { readonly table: string }; connect(options?: ConnectOptions): Db };
  readonly variant?: string;
  readonly load: (db: Db) => Promise<void>;
  readonly patterns: Patterns;
  readonly expected: Readonly<Record<string, Expected>>;
}

/** The body of a pattern's `ask` in one line. */
const sourceOf = (ask: AnyPattern["ask"]): string =>
  String(ask)
    .replace(/^.*?=>\s*/s, "")
    .replaceAll(/\s*\n\s*(?=[.)\]])/g, "")
    .replaceAll(/(?<=[([])\s*\n\s*/g, "")
    .replaceAll(/\s+/g, " ");

const bind = (db: unknown, [name, pattern]: readonly [string, AnyPattern], expected: Expected | undefined): BoundPattern => {
  if (!expected) throw new Error(`The pattern "${name}" has no expected answer.`);
  const { question, example, ask } = pattern;
  return { name, question, example: example as BoundPattern["example"], expected, source: sourceOf(ask), call: ask(db, example) };
};

/** Puts a table's parts together, checked against each other by their types. */
export const exampleTable = <Db extends object>(parts: TableParts<Db>): ExampleTable => ({
  table: parts.graph.catalog.table,
  ...(parts.variant === undefined ? {} : { variant: parts.variant }),
  open: (options) => {
    const db = parts.graph.connect(options);
    const connection = db as unknown as Connection;
    return {
      admin: connection.table,
      load: () => parts.load(db),
      scan: connection.scan,
      restore: connection.load,
      patterns: Object.entries(parts.patterns.patterns).map((entry) => bind(db, entry, parts.expected[entry[0]])),
      close: () => connection.close(),
    };
  },
});

/** Answers by name, with none missing and none of another pattern. */
export type ExpectedOf<Named extends Patterns> = { readonly [Name in keyof Named["patterns"]]: Expected };
