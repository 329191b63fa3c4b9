import {
  configuredEndpoint,
  didYouMean,
  offline,
  type AnyGraph,
  type Catalog,
  type Call,
  type ConnectOptions,
  type Explanation,
  type Load,
  type Reshard,
  type ScanTable,
  type TableAdmin,
} from "edgetable";
import { usageError } from "./failure.ts";
import type { Invocation } from "./invocation.ts";
import { loadModel, theGraph } from "./model/load-model.ts";
import type { Row } from "./row.ts";

export type AnyRead<T = unknown> = Call<T, Explanation>;

/** Neighbours of a model that is not known to the compiler. */
export interface UntypedNeighbours {
  where(filter: Row): UntypedNeighbours;
  reverse(): UntypedNeighbours;
  unordered(): UntypedNeighbours;
  consistent(): UntypedNeighbours;
  using(index: string): UntypedNeighbours;
  count(): AnyRead<number>;
  page(options: { readonly limit?: number; readonly cursor?: string | undefined; readonly of?: string }): AnyRead<UntypedPage>;
}

export interface UntypedPage {
  readonly items: readonly unknown[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
}

/** A search over a model that is not known to the compiler. */
export interface UntypedSearch {
  where(filter: Row): UntypedSearch;
  reverse(): UntypedSearch;
  limit(most: number): UntypedSearch;
  using(index: string): UntypedSearch;
  count(): AnyRead<number>;
  sources(): AnyRead<readonly Row[]>;
  targets(): AnyRead<readonly Row[]>;
  page(options: { readonly limit?: number; readonly cursor?: string | undefined }): AnyRead<UntypedPage>;
}

export interface UntypedCollection {
  readonly node: Row | undefined;
  readonly edges: Readonly<Record<string, readonly Row[]>>;
  readonly parts: Readonly<Record<string, readonly Row[]>>;
}

export interface UntypedHandle {
  get(options?: { readonly consistent?: boolean }): AnyRead<Row | undefined>;
  collection(options?: { readonly consistent?: boolean }): AnyRead<UntypedCollection>;
  out(edge: string): UntypedNeighbours;
  in(edge: string): UntypedNeighbours;
  both(edge: string): UntypedNeighbours;
}

export type UntypedNode = ((id: Row) => UntypedHandle) & { within(id: Row): UntypedHandle };

/** A connection of a model that is not known to the compiler. */
export interface UntypedDb {
  readonly catalog: Catalog;
  readonly table: TableAdmin;
  readonly scan: ScanTable<Row>;
  readonly load: Load<Row>;
  readonly reshard: Reshard;
  find(kinds: string | readonly string[]): UntypedSearch;
  close(): Promise<void>;
}

// A person waits: a connection that is refused is not tried for ten seconds.
const attempts = 6;

// Seals the cursors that this command prints, so that reading a page never writes a secret into the
// table. Whoever can use the cursor has the credentials to read the table anyway.
const cursorSecret = Buffer.from("edgetable command line cursors, version 1");

/** Where a command goes: the endpoint of the option, else of the surroundings; undefined for DynamoDB in the region. */
export const endpointOf = ({ options: { endpoint, profile }, io }: Invocation): string | undefined =>
  endpoint ?? configuredEndpoint(profile, io.env)?.url;

/** How the command line connects. */
export const connectOptions = (call: Invocation): ConnectOptions => {
  const { region, profile } = call.options;
  const endpoint = endpointOf(call);
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(profile === undefined ? {} : { profile }),
    retry: { attempts },
    cursorSecret,
  };
};

/** Opens a connection for the time of a function. */
export const withDb = async <T>(graph: AnyGraph, options: ConnectOptions, use: (db: UntypedDb) => Promise<T>): Promise<T> => {
  const db = graph.connect(options) as unknown as UntypedDb;
  try {
    return await use(db);
  } finally {
    await db.close();
  }
};

/** The model's one graph, connected, for the time of a function; to nothing where requests are only shown. */
export const withGraph = async <T>(call: Invocation, use: (db: UntypedDb) => Promise<T>): Promise<T> => {
  const { options, io } = call;
  const { explain } = options as { readonly explain?: boolean };
  return withDb(theGraph(await loadModel(options.model, io.cwd)), explain ? { transport: offline } : connectOptions(call), use);
};

/** `db.<node>` by name. @throws {cli.usage} when there is no such node type. */
export const nodeOf = (db: UntypedDb, name: string): UntypedNode => {
  const names = Object.keys(db.catalog.nodes);
  if (!names.includes(name)) throw usageError(`There is no node type "${name}".${didYouMean(name, names)}`);
  return (db as unknown as Readonly<Record<string, UntypedNode>>)[name] as UntypedNode;
};
