import {
  type AnyGraph,
  type Call,
  type Catalog,
  configuredEndpoint,
  type Grid,
  type ConnectOptions,
  didYouMean,
  type Explanation,
  type Jobs,
  type Load,
  type Migrations,
  offline,
  type Reshard,
  type ScanTable,
  type TableAdmin,
} from "edgetable";
import { usageError } from "./failure.ts";
import type { Invocation } from "./invocation.ts";
import { loadModel, theGraph } from "./model.ts";
import type { Row } from "./output/json.ts";

export type AnyRead<T = unknown> = Call<T, Explanation>;

/** Neighbours in a model whose types are unknown at compile time. */
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

/** A search in a model whose types are unknown at compile time. */
export interface UntypedSearch {
  where(filter: Row): UntypedSearch;
  reverse(): UntypedSearch;
  limit(max: number): UntypedSearch;
  using(index: string): UntypedSearch;
  count(): AnyRead<number>;
  sources(): AnyRead<readonly Row[]>;
  targets(): AnyRead<readonly Row[]>;
  page(options: { readonly limit?: number; readonly cursor?: string | undefined }): AnyRead<UntypedPage>;
}

/** The grid of a node type whose types are unknown at compile time. */
export type UntypedGrid = Grid<Row>;

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

/** A connection to a model whose types are unknown at compile time. */
export interface UntypedDb {
  readonly catalog: Catalog;
  readonly table: TableAdmin;
  readonly scan: ScanTable<Row>;
  readonly load: Load<Row>;
  readonly reshard: Reshard;
  readonly jobs: Jobs;
  readonly migrations: Migrations;
  find(kinds: string | readonly string[]): UntypedSearch;
  close(): Promise<void>;
}

// A person is waiting: give up on a refused connection before ten seconds.
const attempts = 6;

// Seals the cursors that this command prints, so that reading a page never writes a secret to the table.
// Anyone who can use such a cursor has credentials to read the table anyway.
const cursorSecret = Buffer.from("edgetable command line cursors, version 1");

/** The endpoint of the option, else of the environment; undefined for DynamoDB in the region. */
export const endpointOf = ({ options: { endpoint, profile }, io }: Invocation): string | undefined =>
  endpoint ?? configuredEndpoint(profile, io.env)?.url;

/** Where a command's table is. */
export const placeOf = (call: Invocation): Pick<ConnectOptions, "endpoint" | "region" | "profile" | "allowInsecure"> => {
  const { region, profile, allowInsecure } = call.options;
  const endpoint = endpointOf(call);
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(profile === undefined ? {} : { profile }),
    ...(allowInsecure === undefined ? {} : { allowInsecure }),
  };
};

/** The options of every connection of the command line, wherever its table is. */
export const callOptions: Pick<ConnectOptions, "retry" | "cursorSecret"> = { retry: { attempts }, cursorSecret };

/** The connection options of a command. */
export const connectOptions = (call: Invocation): ConnectOptions => ({ ...placeOf(call), ...callOptions });

/** Runs a function with a connection, and closes it. */
export const withDb = async <T>(graph: AnyGraph, options: ConnectOptions, use: (db: UntypedDb) => Promise<T>): Promise<T> => {
  const db = graph.connect(options) as unknown as UntypedDb;
  try {
    return await use(db);
  } finally {
    await db.close();
  }
};

/** Runs a function with a connection to the model's only graph. With `--explain`, the connection is offline. */
export const withGraph = async <T>(call: Invocation, use: (db: UntypedDb) => Promise<T>): Promise<T> => {
  const { options, io } = call;
  const { explain } = options as { readonly explain?: boolean };
  return withDb(theGraph(await loadModel(options.model, io.cwd)), explain ? { transport: offline } : connectOptions(call), use);
};

/** `db.<node>` by name, or that of a part that edges may lead to. @throws {cli.usage} if there is neither */
export const endOf = (db: UntypedDb, name: string): UntypedNode => {
  const isPart = Object.hasOwn(db.catalog.parts, name) && Object.hasOwn(db.catalog.ends, name);
  return isPart ? ((db as unknown as Readonly<Record<string, UntypedNode>>)[name] as UntypedNode) : nodeOf(db, name);
};

/** A read of one node, part or edge by its id; the model has one of that name. */
export const readOne = (db: UntypedDb, name: string, id: Row, options: { readonly consistent?: true }): AnyRead<Row | undefined> => {
  const { nodes, parts, edges } = db.catalog;
  const api = (db as unknown as Readonly<Record<string, { get(...given: readonly unknown[]): AnyRead<Row | undefined> }>>)[name]!;
  if (Object.hasOwn(nodes, name)) return nodeOf(db, name)(id).get(options);
  if (Object.hasOwn(parts, name)) {
    const { idFields } = nodes[parts[name]!.definition.of]!;
    const isOwner = ([field]: readonly [string, unknown]): boolean => idFields.includes(field);
    const [owner, own] = [Object.entries(id).filter(isOwner), Object.entries(id).filter((one) => !isOwner(one))];
    return api.get(Object.fromEntries(owner), Object.fromEntries(own), options);
  }
  const { from, to, ...key } = id;
  return api.get(from, to, edges[name]!.key.length > 0 ? { ...options, key } : options);
};

/** `db.<node>` by name. @throws {cli.usage} if there is no such node type */
export const nodeOf = (db: UntypedDb, name: string): UntypedNode => {
  const names = Object.keys(db.catalog.nodes);
  if (!names.includes(name)) throw usageError(`There is no node type "${name}".${didYouMean(name, names)}`);
  return (db as unknown as Readonly<Record<string, UntypedNode>>)[name] as UntypedNode;
};
