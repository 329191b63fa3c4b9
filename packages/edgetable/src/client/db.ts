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

/** One part at the ends of edges, by its id with that of its node, not yet read. */
type PartHandle<N extends Nodes, E extends Edges, P extends Parts, Name extends keyof N & string> = Pick<
  NodeHandle<N, E, P, Name>,
  "get" | "out" | "in" | "both" | "has"
> &
  Walks<N, E, Name>;

/** What `db.<part>` is beside its calls: a function that gives handles, where edges lead to the part. */
type PartHandles<N extends Nodes, E extends Edges, P extends Parts, Name> = Name extends keyof N & E[keyof E]["~from" | "~to"]
  ? (id: N[Name]["~types"]["id"]) => PartHandle<N, E, P, Name & string>
  : unknown;

/** The members of a connection that are of the model. */
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
     * Loads rows in bulk, from any iterable, as a resumable job where it is given a name: 25 puts a request, and
     * what guards a unique value or a limit in transactions. A row that does not fit is named in the report, and the
     * rest goes on.
     */
    readonly load: Load<LoadRow<N, E, P>>;
    /** Reads the whole table, in rows that `load` takes. The one call that scans the table. */
    readonly scan: ScanTable<ScanRow<N, E, P>>;
    /** Finds nodes, edges or parts by their values, in a declared index. */
    readonly find: Find<N, E, P, Indexed>;
    readonly as: As<N, E, P, Indexed>;
  };

// What a tenant's program leaves out: its connection fills it in.
type Without<Types, Field extends PropertyKey> = {
  readonly [Member in keyof Types]: Member extends "id" | "input" | "changes" ? Omit<Types[Member], Field> : Types[Member];
};
/** The definitions of a model as a tenant's program meets them. */
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

/** The calls of a tenant's connection: those of a connection without the ones for the whole table. */
type TenantCalls<N extends Nodes, E extends Edges, P extends Parts, Indexed extends string> = DbKinds<N, E, P> &
  Pick<DbMembers, "catalog" | "transact" | "batch" | "jobs"> & {
    readonly load: Load<LoadRow<N, E, P>>;
    readonly find: Find<N, E, P, Indexed>;
  };

/** A connection that is one tenant's, from `db.as`. */
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
   * A connection that is one tenant's, over this one's sockets: it fills the given id fields in, and refuses each request
   * that names a partition of another tenant before it is sent. Its searches read indexes that begin with the tenant only.
   * It has no call for the whole table, and it ends with this connection. See docs/tenancy.md.
   *
   * @param tenant id fields by which partition keys begin, and their values
   * @throws {plan.unsupported} from a call, when a key that it needs does not begin with the tenant
   * @throws {request.otherTenant} from a call that names another tenant's item
   * @throws {plan.invalidOption} from a call, when no node's id has the field
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

/** Makes connections of tenants, each of whose requests is checked. Programs ask for one with each call: the last ones are kept. */
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
    // Only the connection that it was made from closes the sockets.
    const close = async (): Promise<void> => undefined;
    // Plans have no values: all tenants share them.
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
