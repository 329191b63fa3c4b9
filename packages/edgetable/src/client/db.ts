import type { Catalog } from "../schema/catalog.ts";
import { openDriver, type ConnectOptions } from "./connect.ts";
import { edgeReads } from "./edge-reads.ts";
import { tableAdmin, type TableAdmin } from "./table.ts";
import { nodeReads } from "./node-reads.ts";
import type { EdgeReads, Edges, NodeReads, Nodes, Parts } from "./read-types.ts";

/** Members of a connection that are no node, edge or part. */
export interface DbMembers {
  readonly catalog: Catalog;
  readonly table: TableAdmin;
  /** Gives back sockets. Calls after it fail. */
  close(): Promise<void>;
}

/** A connection: one member for each node, edge and part of the model. */
export type Db<N extends Nodes, E extends Edges, P extends Parts> = {
  readonly [Name in keyof N & string]: NodeReads<N, E, P, Name>;
} & { readonly [Name in keyof E & string]: EdgeReads<N, E[Name]> } & DbMembers;

const mapEntries = <From, To>(record: Readonly<Record<string, From>>, map: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));

/** Opens a connection on a catalog. */
export const createDb = <N extends Nodes, E extends Edges, P extends Parts>(catalog: Catalog, options: ConnectOptions): Db<N, E, P> => {
  const driver = openDriver(catalog, options);
  const members: DbMembers = { catalog, table: tableAdmin(driver), close: () => driver.session.close() };
  return {
    ...mapEntries(catalog.nodes, (entry) => nodeReads(driver, entry)),
    ...mapEntries(catalog.edges, (entry) => edgeReads(driver, entry)),
    ...members,
  } as unknown as Db<N, E, P>;
};
