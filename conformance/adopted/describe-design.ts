import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AttributeValue, ConnectOptions, ScanReport, TableDifference, Transport } from "edgetable";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";

/** A value as a document client gives it. */
export type Plain =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | ReadonlySet<string>
  | ReadonlySet<number>
  | readonly Plain[]
  | { readonly [name: string]: Plain };

/** The delimiter of an attribute that holds one value and nothing else: the value may hold any other character. */
export const whole = "\u0001";

/** A raw item, written by hand as the publication says. */
export type PlainItem = Readonly<Record<string, Plain>>;

/** The table as the publication creates it. Key attributes are text unless `numbers` names them. */
export interface PublishedTable {
  readonly key: readonly string[];
  readonly indexes?: Readonly<Record<string, PublishedIndex>>;
  readonly numbers?: readonly string[];
  /** The attribute by which DynamoDB deletes items. */
  readonly ttl?: string;
}

export interface PublishedIndex {
  readonly key: readonly string[];
  readonly local?: true;
  /** @default "ALL" */
  readonly projection?: "ALL" | "KEYS_ONLY" | readonly string[];
}

/** A published access pattern. */
export interface AdoptedPattern<Db> {
  readonly question: string;
  readonly ask: (db: Db) => PromiseLike<unknown>;
  readonly answer: unknown;
  /** The requests, one line each, as {@link requestLine} shows them. */
  readonly requests: readonly string[];
  /** True where DynamoDB gives rows or requests in no fixed order. @default false */
  readonly anyOrder?: boolean;
}

/** A write by Edgetable, and the raw items that the publication's code would leave. */
export interface AdoptedWrite<Db> {
  readonly what: string;
  readonly call: (db: Db) => PromiseLike<unknown>;
  /** Items that are new or changed, in full. */
  readonly puts?: readonly PlainItem[];
  /** Keys of the items that are gone. */
  readonly deletes?: readonly PlainItem[];
}

/** What the publication needs and the library cannot do yet: this test fails on the day it can. */
export interface Unsupported<Db> {
  readonly needs: string;
  readonly attempt: (db: Db) => unknown;
  /** A part of the error's message, which must name the obstacle. */
  readonly refusal: string;
}

interface Connection {
  readonly table: { diff(): Promise<readonly TableDifference[] | undefined> };
  readonly scan: (options?: { readonly onStray?: () => void }) => AsyncIterable<unknown> & { report(): ScanReport };
  readonly load: (rows: AsyncIterable<unknown>) => PromiseLike<{ readonly failures: readonly unknown[] }>;
  close(): Promise<void>;
}

/** A published single-table design, adopted by configuration. */
export interface Design<Db> {
  readonly name: string;
  /** Title, author or organisation, and the public repository or page. */
  readonly source: string;
  readonly table: PublishedTable;
  /** The model, over a table of the given name. */
  readonly graph: (table: string) => { connect(options?: ConnectOptions): Db };
  /** Every kind of item that the publication has, with values of our own. */
  readonly items: readonly PlainItem[];
  readonly patterns: readonly AdoptedPattern<Db>[];
  /** Made one after the other, in a table that holds `items`. */
  readonly writes: readonly AdoptedWrite<Db>[];
  readonly cannot?: readonly Unsupported<Db>[];
}

const attribute = (value: Plain): AttributeValue => {
  if (typeof value === "string") return { S: value };
  if (typeof value === "number" || typeof value === "bigint") return { N: String(value) };
  if (typeof value === "boolean") return { BOOL: value };
  if (value === null) return { NULL: true };
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString("base64") };
  if (value instanceof Set) {
    const members = [...value];
    return members.every((member) => typeof member === "number") ? { NS: members.map(String) } : { SS: members.map(String) };
  }
  if (Array.isArray(value)) return { L: value.map(attribute) };
  return { M: marshall(value as PlainItem) };
};

export const marshall = (item: PlainItem): Record<string, AttributeValue> =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, attribute(value)]));

type RawItem = Readonly<Record<string, AttributeValue>>;

// Sets and maps have no order, and DynamoDB writes a number as it likes: both are compared in one form.
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => {
    if (name === "SS" || name === "NS") return [name, (one as string[]).toSorted()] as const;
    return [name, name === "N" && typeof one === "string" ? String(Number(one)) : canonical(one)] as const;
  });
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

export const inOneOrder = (items: readonly RawItem[]): readonly string[] => items.map((item) => JSON.stringify(canonical(item))).toSorted();

export const createTable = async (
  transport: Transport,
  name: string,
  { key, indexes = {}, numbers = [], ttl }: PublishedTable,
): Promise<void> => {
  const schema = (names: readonly string[]) =>
    names.map((one, at) => ({ AttributeName: one, KeyType: at === 0 ? ("HASH" as const) : ("RANGE" as const) }));
  const described = ([index, { key: names, projection = "ALL" }]: readonly [string, PublishedIndex]) => ({
    IndexName: index,
    KeySchema: schema(names),
    Projection:
      typeof projection === "string"
        ? { ProjectionType: projection }
        : { ProjectionType: "INCLUDE" as const, NonKeyAttributes: [...projection] },
  });
  const all = Object.entries(indexes);
  const [local, global] = [all.filter(([, { local: is }]) => is).map(described), all.filter(([, { local: is }]) => !is).map(described)];
  const names = new Set([key, ...all.map(([, index]) => index.key)].flat());
  const input = {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: schema(key),
    AttributeDefinitions: [...names].map((one) => ({ AttributeName: one, AttributeType: numbers.includes(one) ? "N" : "S" })),
    ...(global.length > 0 ? { GlobalSecondaryIndexes: global } : {}),
    ...(local.length > 0 ? { LocalSecondaryIndexes: local } : {}),
  };
  await transport.send("CreateTable", input as never);
  if (ttl === undefined) return;
  await transport.send("UpdateTimeToLive", { TableName: name, TimeToLiveSpecification: { AttributeName: ttl, Enabled: true } });
};

export const scanTable = async (transport: Transport, name: string): Promise<readonly RawItem[]> => {
  const items: RawItem[] = [];
  let start: RawItem | undefined;
  do {
    const page = await transport.send("Scan", { TableName: name, ...(start ? { ExclusiveStartKey: start } : {}) });
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
};

export const putItems = async (transport: Transport, name: string, items: readonly PlainItem[]): Promise<void> => {
  for (const item of items) await transport.send("PutItem", { TableName: name, Item: marshall(item) });
};

interface Sent {
  readonly IndexName?: string;
  readonly Key?: RawItem;
  readonly RequestItems?: Readonly<Record<string, { readonly Keys: readonly RawItem[] }>>;
  readonly KeyConditionExpression?: string;
  readonly FilterExpression?: string;
  readonly ScanIndexForward?: boolean;
  readonly Limit?: number;
  readonly Select?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: RawItem;
}

const shown = (value: AttributeValue | undefined): string => {
  const [type, content] = Object.entries(value ?? {})[0] ?? [];
  return type === "S" ? `'${String(content)}'` : String(content);
};

const shownKey = (key: RawItem): string => Object.values(key).map(shown).join(" / ");

/** A read in one line, such as `Query GSI1: GSI1PK = 'USER#1' (descending)`. */
const requestLine = (operation: string, input: Sent): string => {
  const place = `${operation}${input.IndexName === undefined ? "" : ` ${input.IndexName}`}: `;
  const { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = input;
  const fill = (expression: string): string => expression.replace(/[#:]\w+/g, (token) => names[token] ?? shown(values[token]));
  if (input.Key) return place + shownKey(input.Key);
  if (input.RequestItems) {
    const keys = Object.values(input.RequestItems).flatMap(({ Keys }) => Keys);
    return place + keys.map(shownKey).toSorted().join(", ");
  }
  // Reads of what may expire leave out what has expired by now: the same of every such line.
  const filter = fill(input.FilterExpression ?? "").replace(/(?: AND )?NOT \(\w+ < \d+\)/, "");
  const notes = [
    ...(input.Select === "COUNT" ? ["count"] : []),
    ...(input.ScanIndexForward === false ? ["descending"] : []),
    ...(input.Limit === undefined ? [] : [`limit ${input.Limit}`]),
    ...(filter === "" ? [] : [`filter ${filter}`]),
  ];
  return place + fill(input.KeyConditionExpression ?? "") + (notes.length > 0 ? ` (${notes.join(", ")})` : "");
};

const reads = ["GetItem", "BatchGetItem", "Query"];

/** A transport that keeps a line of each request that passes. */
const recording = (transport: Transport, lines: string[]): Transport => ({
  ...transport,
  send: (operation, input, options) => {
    const line = reads.includes(operation) ? requestLine(operation, input as Sent) : operation;
    // Whether the indexes are complete is asked once for each connection, and is no part of a pattern.
    if (!line.startsWith("GetItem: '~model'")) lines.push(line);
    return transport.send(operation, input, options);
  },
});

interface Lab<Db> {
  readonly engine: TestEngine;
  /** A table of its own that holds the given items, and a connection to it. */
  open(items: readonly PlainItem[]): Promise<{ readonly name: string; readonly db: Db; readonly lines: string[] }>;
  stop(): Promise<void>;
}

const secret = "00".repeat(32);

const openLab = async <Db>({ name: label, table, graph }: Design<Db>): Promise<Lab<Db>> => {
  const engine = await openEngine();
  const { transport } = engine;
  return {
    engine,
    open: async (items) => {
      const name = engine.freshTableName(label);
      await createTable(transport, name, table);
      await putItems(transport, name, items);
      const lines: string[] = [];
      const db = graph(name).connect({ transport: recording(transport, lines), cursorSecret: secret });
      return { name, db, lines };
    },
    stop: () => engine.close(),
  };
};

const connection = (db: unknown): Connection => db as Connection;

const sortedBy = (rows: readonly unknown[]): readonly unknown[] =>
  rows.toSorted((a, b) => (JSON.stringify(canonical(a)) < JSON.stringify(canonical(b)) ? -1 : 1));
const inAnyOrder = (value: unknown): unknown => (Array.isArray(value) ? sortedBy(value) : value);

const keyOf = (key: readonly string[], item: RawItem): RawItem => Object.fromEntries(key.map((name) => [name, item[name]!]));

/** What changed between two states of a table. */
const changes = (key: readonly string[], before: readonly RawItem[], after: readonly RawItem[]) => {
  const was = new Set(inOneOrder(before));
  const is = new Set(inOneOrder(after.map((item) => keyOf(key, item))));
  return {
    puts: inOneOrder(after).filter((item) => !was.has(item)),
    deletes: inOneOrder(before.map((item) => keyOf(key, item))).filter((item) => !is.has(item)),
  };
};

const refusalOf = async (attempt: () => unknown): Promise<string> => {
  try {
    const value = await attempt();
    return `(no refusal: ${JSON.stringify(value)})`;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
};

/** The suite that every adopted design passes. */
export const describeDesign = <Db extends object>(design: Design<Db>): void => {
  const { name, table, items, patterns, writes, cannot = [] } = design;
  describe(name, () => {
    let lab: Lab<Db>;
    beforeAll(async () => {
      lab = await openLab(design);
    });
    afterAll(() => lab.stop());

    test("the model fits the published table", async () => {
      const { db } = await lab.open([]);
      expect(await connection(db).table.diff()).toEqual([]);
    });

    test("every published item is a row, and the rows make the same items", async () => {
      const [first, second] = [await lab.open(items), await lab.open([])];
      const scan = connection(first.db).scan();
      const { failures } = await connection(second.db).load(scan);
      expect(failures).toEqual([]);
      expect(scan.report()).toMatchObject({ items: items.length, stray: 0, uneven: 0 });
      expect(inOneOrder(await scanTable(lab.engine.transport, second.name))).toEqual(inOneOrder(items.map(marshall)));
    });

    test("every published pattern gives its rows by its requests", async () => {
      const { db, lines } = await lab.open(items);
      for (const { question, ask, answer, requests, anyOrder = false } of patterns) {
        lines.length = 0;
        const [given, sent] = [await ask(db), [...lines]];
        expect.soft(anyOrder ? inAnyOrder(given) : given, question).toEqual(anyOrder ? inAnyOrder(answer) : answer);
        expect.soft(anyOrder ? sent.toSorted() : sent, `requests: ${question}`).toEqual(anyOrder ? requests.toSorted() : requests);
      }
    });

    test("writes leave the items that the published code would leave", async () => {
      const { name: tableName, db } = await lab.open(items);
      for (const { what, call, puts = [], deletes = [] } of writes) {
        const before = await scanTable(lab.engine.transport, tableName);
        await call(db);
        const after = await scanTable(lab.engine.transport, tableName);
        expect
          .soft(changes(table.key, before, after), what)
          .toEqual({ puts: inOneOrder(puts.map(marshall)), deletes: inOneOrder(deletes.map(marshall)) });
      }
    });

    test.each(cannot)("not yet: $needs", async ({ attempt, refusal }) => {
      const { db } = await lab.open(items);
      expect(await refusalOf(() => attempt(db))).toContain(refusal);
    });
  });
};
