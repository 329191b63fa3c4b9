import type { Catalog } from "../schema/catalog.ts";
import { mapValues } from "../util/row.ts";
import { batchOf, type Batch } from "./batch.ts";
import { openDriver, type ConnectOptions } from "./connect.ts";
import { withDriver } from "./driver.ts";
import { edgeReads } from "./edge-reads.ts";
import { gridsOf } from "./grids.ts";
import { edgeWrites, nodeWrites, partWrites } from "./writes.ts";
import { jobsOf, type Jobs } from "./jobs.ts";
import { loadOf, type Load, type LoadRow } from "./load.ts";
import { migrationsOf, type Migrations } from "./migrations.ts";
import { nodeReads } from "./node-reads.ts";
import type { Edges, EdgesInGraph, Nodes, PartRow, Parts } from "./graph-types.ts";
import { partReads } from "./part-reads.ts";
import type { PartApi } from "./part-types.ts";
import type { EdgeApi, Find, NodeApi } from "./read-types.ts";

import { findOf } from "./search.ts";
import { reshardOf, tableAdmin, type Reshard, type TableAdmin } from "./table.ts";
import { scanOf, type ScanRow, type ScanTable } from "./scan.ts";
import { transactOf } from "./write-call.ts";
import type { Transact } from "./write-types.ts";

/** Members of a connection that are no node, edge or part. */
export interface DbMembers {
  /** The model, resolved: what every plan is made from. */
  readonly catalog: Catalog;
  /** Creates, compares and deletes the table. */
  readonly table: TableAdmin;
  /**
   * Makes several writes in one transaction of at most 100 items: all of them, or none. One request, at twice the
   * units; the outcome has one of its own for each call.
   */
  readonly transact: Transact;
  /** Puts and deletes many things, each alone and unchecked, 25 a request. */
  readonly batch: Batch;
  /** Jobs whose state is in the table: what a process left behind is found and resumed here. */
  readonly jobs: Jobs;
  /** Moves the items of sharded indexes to where writers put them now. */
  readonly reshard: Reshard;
  /** Brings the table to follow a changed model, while programs read and write it. */
  readonly migrations: Migrations;
  /** Stops jobs that are under way as their signals do, so that they give back their leases, then gives back sockets. Calls after it fail. */
  close(): Promise<void>;
}

/** A connection: one member for each node, edge and part of the model. */
export type Db<N extends Nodes, E extends Edges, P extends Parts> = {
  readonly [Name in keyof N & string]: NodeApi<N, E, P, Name>;
} & { readonly [Name in keyof E & string]: EdgeApi<EdgesInGraph<N, E>[Name], E[Name]["~types"]> } & {
  readonly [Name in keyof P & string]: PartApi<N[P[Name]["of"]]["~types"]["id"], P[Name]["~types"], PartRow<N, P[Name]>>;
} & DbMembers & {
    /**
     * Loads rows in bulk, from any iterable, as a resumable job where it is given a name: 25 puts a request, and
     * what guards a unique value or a limit in transactions. A row that does not fit is named in the report, and the
     * rest goes on.
     */
    readonly load: Load<LoadRow<N, E, P>>;
    /** Reads the whole table, in rows that `load` takes. The one call that scans the table. */
    readonly scan: ScanTable<ScanRow<N, E, P>>;
    /** Finds nodes, edges or parts by their values, in a declared index. */
    readonly find: Find<N, E, P>;
  };

/** Opens a connection on a catalog. */
export const createDb = <N extends Nodes, E extends Edges, P extends Parts>(catalog: Catalog, options: ConnectOptions): Db<N, E, P> => {
  const driver = openDriver(catalog, options);
  const members: DbMembers = {
    catalog,
    table: tableAdmin(driver),
    transact: transactOf(driver),
    batch: batchOf(driver),
    jobs: jobsOf(driver),
    reshard: reshardOf(driver),
    migrations: migrationsOf(driver),
    close: () => driver.session.close(),
  };
  const db = {
    ...mapValues(catalog.nodes, (entry) => Object.assign(nodeReads(driver, entry), nodeWrites(driver, entry), gridsOf(driver, entry.name))),
    ...mapValues(catalog.edges, (entry) => ({ ...edgeReads(driver, entry), ...edgeWrites(driver, entry) })),
    ...mapValues(catalog.parts, (entry) => ({ ...partReads(driver, entry), ...partWrites(driver, entry) })),
    ...members,
    load: loadOf(driver),
    scan: scanOf(driver),
    find: findOf(driver),
  };
  return withDriver(db, driver) as unknown as Db<N, E, P>;
};
