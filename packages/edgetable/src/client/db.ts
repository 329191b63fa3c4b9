import type { Catalog } from "../schema/catalog.ts";
import { exactText } from "../keys/template.ts";
import { checkId } from "../schema/check-values.ts";
import { namesIn } from "../util/check-options.ts";
import { mapValues, type Row } from "../util/row.ts";
import { batchOf, type Batch } from "./batch.ts";
import { openDriver, type ConnectOptions } from "./connect.ts";
import type { Session } from "../executor/session.ts";
import type * as Guard from "../executor/tenant-guard.ts";
import { type Driver, plannerOf, withDriver } from "./driver.ts";
import { edgeReads } from "./edge-reads.ts";
import { gridsOf } from "./grids.ts";
import { edgeWrites, nodeWrites, partWrites } from "./writes.ts";
import { jobsOf, type Jobs } from "./jobs.ts";
import { loadOf, type Load, type LoadRow } from "./load.ts";
import { migrationsOf, type Migrations } from "./migrations.ts";
import { handlesOf, nodeReads } from "./node-reads.ts";
import type { Edges, EdgesInGraph, Ends, Nodes, PartRow, Parts } from "./graph-types.ts";
import { partReads } from "./part-reads.ts";
import type { PartApi } from "./part-types.ts";
import type { EdgeApi, NodeApi, NodeHandle, ReferenceApi } from "./read-types.ts";
import type { Find } from "./search-types.ts";

import { findOf } from "./find.ts";
import { reshardOf, tableAdmin, type Reshard, type TableAdmin } from "./table.ts";
import { scanOf, type ScanRow, type ScanTable } from "./scan.ts";
import { transactOf } from "./write-call.ts";
import type { Walks } from "./walk-types.ts";
import type { Transact } from "./write-types.ts";

/** The members of a connection other than its nodes, edges and parts. */
export interface DbMembers {
  /** The resolved model, from which every plan is made. */
  readonly catalog: Catalog;
  /** Creates, compares and deletes the table. */
  readonly table: TableAdmin;
  /**
   * Makes several writes in one transaction of at most 100 items: either all of them happen, or nothing. One request, at twice the
   * units. The outcome contains one outcome for each call.
   */
  readonly transact: Transact;
  /** Puts and deletes many items, each by itself and unchecked, 25 per request. */
  readonly batch: Batch;
  /** Jobs whose state is in the table: lists them, and resumes those that a process left behind. */
  readonly jobs: Jobs;
  /** Moves the items of sharded indexes to the shards where writers now put them. */
  readonly reshard: Reshard;
  /** Brings the table in line with a changed model, while programs read and write it. */
  readonly migrations: Migrations;
  /** Stops running jobs as their signals would, so that they release their leases, and then closes the sockets. Later calls fail. */
  close(): Promise<void>;
}

/** A handle on one part at the ends of edges, by its id and that of its node. Nothing is read yet. */
type PartHandle<N extends Nodes, E extends Edges, P extends Parts, Name extends keyof N & string> = Pick<
  NodeHandle<N, E, P, Name>,
  "get" | "out" | "in" | "both" | "has"
> &
  Walks<N, E, Name>;

/** If edges lead to a part, `db.<part>` is also a function that returns handles. */
type PartHandles<N extends Nodes, E extends Edges, P extends Parts, Name> = Name extends keyof N & E[keyof E]["~from" | "~to"]
  ? (id: N[Name]["~types"]["id"]) => PartHandle<N, E, P, Name & string>
  : unknown;

/** The members of a connection for the nodes, edges and parts of the model. */
type DbKinds<N extends Nodes, E extends Edges, P extends Parts, V extends Nodes = Ends<N, P>> = {
  readonly [Name in keyof N & keyof V & string]: NodeApi<V, E, P, Name>;
} & {
  readonly [Name in keyof E & string]: E[Name]["~stored"] extends "reference"
    ? ReferenceApi<EdgesInGraph<V, E>[Name], E[Name]["~types"]>
    : EdgeApi<EdgesInGraph<V, E>[Name], E[Name]["~types"]>;
} & {
  readonly [Name in keyof P & string]: PartApi<N[P[Name]["of"]]["~types"]["id"], P[Name]["~types"], PartRow<N, P[Name]>> &
    PartHandles<V, E, P, Name>;
};

/** A connection: one member for each node, edge and part of the model. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever its indexes hold
export type Db<N extends Nodes, E extends Edges, P extends Parts, Indexed extends string = any> = DbKinds<N, E, P> &
  DbMembers & {
    /**
     * Loads rows in bulk from any iterable, as a resumable job if it has a name: 25 puts per request, and transactions for rows
     * with unique values or limits. The report names rows that do not fit; the load continues with the others.
     */
    readonly load: Load<LoadRow<N, E, P>>;
    /** Reads the whole table, as rows that `load` accepts. No other read scans the table. */
    readonly scan: ScanTable<ScanRow<N, E, P>>;
    /** Finds nodes, edges or parts by their values, in a declared index. */
    readonly find: Find<N, E, P, Indexed>;
    readonly as: As<N, E, P, Indexed>;
  };

// Without the tenant's field, which the connection fills in.
type Without<Types, Field extends PropertyKey> = {
  readonly [Member in keyof Types]: Member extends "id" | "input" | "changes" ? Omit<Types[Member], Field> : Types[Member];
};
/** The definitions of a model as a tenant's program sees them. */
type OfTenant<Definitions, Field extends PropertyKey> = {
  readonly [Name in keyof Definitions]: {
    readonly [Member in keyof Definitions[Name]]: Member extends "~types"
      ? Without<Definitions[Name][Member], Field>
      : Definitions[Name][Member];
  };
};

type IdOf<N extends Nodes> = N[keyof N]["~types"]["id"];
type IdField<Id> = Id extends unknown ? keyof Id : never;
type IdValue<Id, Field> = Id extends unknown ? (Field extends keyof Id ? Id[Field] : never) : never;

/** The calls of a tenant's connection: all calls except those for the whole table. */
type TenantCalls<N extends Nodes, E extends Edges, P extends Parts, Indexed extends string> = DbKinds<N, E, P> &
  Pick<DbMembers, "catalog" | "transact" | "batch" | "jobs"> & {
    readonly load: Load<LoadRow<N, E, P>>;
    readonly find: Find<N, E, P, Indexed>;
  };

/** A connection for one tenant, from `db.as`. */
export type TenantDb<
  N extends Nodes,
  E extends Edges,
  P extends Parts,
  Field extends PropertyKey,
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever its indexes hold
  Indexed extends string = any,
> = TenantCalls<Extract<OfTenant<N, Field>, Nodes>, E, Extract<OfTenant<P, Field>, Parts>, Indexed>;

/** `db.as` of a connection. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever its indexes hold
export interface As<N extends Nodes, E extends Edges, P extends Parts, Indexed extends string = any> {
  /**
   * Returns a connection for one tenant over the sockets of this one. It fills in the given id fields, and refuses each request
   * that names a partition of another tenant before it is sent. Its searches only read indexes whose keys begin with the tenant. It
   * has no calls for the whole table, and it closes with this connection. See docs/tenancy.md.
   *
   * @param tenant id fields by which partition keys begin, and their values
   * @throws {plan.unsupported} from a call, if a key that it needs does not begin with the tenant
   * @throws {request.otherTenant} from a call that names another tenant's item
   * @throws {plan.invalidOption} from a call, if no node's id contains the field
   */
  <Field extends IdField<IdOf<N>>>(tenant: { readonly [One in Field]: IdValue<IdOf<N>, One> }): TenantDb<N, E, P, Field, Indexed>;
}

/** Opens a connection on a catalog. */
export const createDb = <N extends Nodes, E extends Edges, P extends Parts, Indexed extends string>(
  catalog: Catalog,
  options: ConnectOptions,
): Db<N, E, P, Indexed> => {
  const db = dbOf(openDriver(catalog, options)) as unknown as Db<N, E, P, Indexed>;
  const { observer, endpoint, region } = options;
  return observer?.connection?.(db, { table: catalog.table, endpoint, region }) ?? db;
};

/**
 * Makes connections for tenants, and checks each of their requests. Programs call `db.as` before each call, so up to 100
 * connections are kept.
 */
const asOf = (driver: Driver): ((tenant: Row) => object) => {
  const { session, catalog } = driver;
  const known = new Map<string, object>();
  let guard: Promise<typeof Guard> | undefined;
  let plan: Driver["plan"] | undefined;
  return (given) => {
    const tenant = { ...checkId("tenant", namesIn(given), given) };
    const name = exactText(given);
    const send: Session["send"] = async (...request) =>
      (await (guard ??= import("../executor/tenant-guard.ts"))).sendAs(session, tenant, request);
    // Only the original connection closes the sockets.
    const close = async (): Promise<void> => undefined;
    // Plans contain no values, so all tenants share them.
    plan ??= plannerOf({ ...catalog, tenant }, driver.rulesOff);
    const db = known.get(name) ?? dbOf({ ...driver, plan, catalog: { ...catalog, tenant }, session: { ...session, tenant, send, close } });
    if (known.size > 99) known.clear();
    known.set(name, db);
    return db;
  };
};

const dbOf = (driver: Driver): object => {
  const { catalog } = driver;
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
    ...mapValues(catalog.parts, (entry) => {
      const end = catalog.ends[entry.name];
      return Object.assign(end ? handlesOf(driver, end) : {}, partReads(driver, entry), partWrites(driver, entry));
    }),
    ...members,
    load: loadOf(driver),
    scan: scanOf(driver),
    find: findOf(driver),
    as: asOf(driver),
  };
  return withDriver(db, driver);
};
