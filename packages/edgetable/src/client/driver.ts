import type { Secrets } from "../requests/cursor.ts";
import type { CallContext, Session } from "../executor/session.ts";
import { Meter, type ReadingOptions, type RunOptions } from "../executor/call.ts";
import type { LogicalPlan } from "../ir/logical-plan.ts";
import type { ReadPlan } from "../ir/physical-plan.ts";
import type { Planners } from "../planner/choose-path.ts";
import { planRead } from "../planner/plan.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { LeanTransportOptions } from "../transport/lean/lean-transport.ts";

const DEFAULT_DEADLINE = 30_000;
const MAX_PLANS = 2000;

/** Everything that the calls of a connection share. */
export interface Driver {
  readonly session: Session;
  readonly catalog: Catalog;
  readonly validates: boolean;
  /** True if a search may read another index in place of an incomplete one. */
  readonly avoidsIndexes: boolean;
  /** True if writes are sent with a token by default. */
  readonly idempotent: boolean;
  /** True if the schemas of some types parse their rows on reads. */
  readonly parses: boolean;
  /** Names of planner rules that are switched off. */
  readonly rulesOff: ReadonlySet<string>;
  /**
   * Returns the plan of a form of call. It is made once and then looked up by the form.
   *
   * @param planners the parts of the planner that this kind of plan needs
   */
  plan(signature: string, logical: () => LogicalPlan, planners?: Planners): ReadPlan;
  /** Returns the context of a call with checked options. */
  context(options: RunOptions): CallContext;
  /** Returns the secret that seals cursors; undefined if there is none yet and none may be created. */
  cursorSecret(context: CallContext, makes: boolean): Promise<Secrets | undefined>;
  /** The maximum number of requests that reading the secret takes; 0 once it is known. */
  secretRequests(): number;
  /** Forgets the secret when its table is deleted. */
  forgetSecret(): void;
  /** The endpoint of the table's stream; undefined if the user passed a transport or client. */
  readonly place: Place | undefined;
}

/** Where a table is. */
export type Place = Pick<LeanTransportOptions, "endpoint" | "region" | "profile" | "credentials" | "allowInsecure">;

export interface DriverOptions {
  readonly session: Session;
  readonly idempotent?: boolean | undefined;
  readonly rulesOff: readonly string[];
  readonly validates: boolean;
  readonly avoidsIndexes?: boolean | undefined;
  readonly deadline: number | undefined;
  /** True if reads return expired items until DynamoDB deletes them. */
  readonly expired?: "hide" | "show" | undefined;
  readonly reading?: ReadingOptions | undefined;
  readonly cursorSecret: Driver["cursorSecret"];
  /** The maximum number of requests that it takes. @default 0 */
  readonly secretRequests?: number | undefined;
  readonly forgetSecret?: Driver["forgetSecret"] | undefined;
  readonly place?: Place | undefined;
}

/** Makes a planner that plans each form of a read once. */
export const plannerOf = (catalog: Catalog, off: ReadonlySet<string>): Driver["plan"] => {
  const plans = new Map<string, ReadPlan>();
  return (signature, logical, planners) => {
    const known = plans.get(signature);
    if (known) return known;
    // A program's source contains few forms of calls. A program that generates new forms must not fill the memory.
    if (plans.size >= MAX_PLANS) plans.clear();
    const plan = planRead(catalog, logical(), { off, ...planners });
    plans.set(signature, plan);
    return plan;
  };
};

/** Makes the driver of a connection. */
export const createDriver = (options: DriverOptions): Driver => {
  const { session } = options;
  const off = new Set(options.rulesOff);
  const { nodes, edges, parts } = session.catalog;
  const most = options.secretRequests ?? 0;
  let secretRequests = most;
  return {
    session,
    catalog: session.catalog,
    validates: options.validates,
    avoidsIndexes: options.avoidsIndexes ?? false,
    idempotent: options.idempotent ?? false,
    parses: [nodes, edges, parts].some((kinds) => Object.values(kinds).some(({ definition }) => definition.reads === "parsed")),
    rulesOff: off,
    place: options.place,
    plan: plannerOf(session.catalog, off),
    context: ({ signal, deadline, expired = options.expired, onStray = options.reading?.onStray, unknown = options.reading?.unknown }) => ({
      meter: new Meter(),
      signal,
      reading: onStray === undefined && unknown === undefined ? undefined : { onStray, unknown },
      deadline: session.effects.now() + (deadline ?? options.deadline ?? DEFAULT_DEADLINE),
      livingAt: session.catalog.ttl === undefined || expired === "show" ? undefined : Math.floor(session.effects.now() / 1000),
    }),
    cursorSecret: async (context, makes) => {
      const secret = await options.cursorSecret(context, makes);
      if (secret !== undefined) secretRequests = 0;
      return secret;
    },
    secretRequests: () => secretRequests,
    forgetSecret: () => {
      options.forgetSecret?.();
      secretRequests = most;
    },
  };
};

// A registered symbol, because a program may load one entry of the package as ESM and another as CommonJS.
const DRIVER = Symbol.for("edgetable.driver");

/** Attaches the driver to a connection, for the other entries of the package. */
export const withDriver = <Connection extends object>(db: Connection, driver: Driver): Connection =>
  Object.defineProperty(db, DRIVER, { value: driver });

/**
 * The driver of a connection.
 *
 * @throws {plan.invalidOption} for anything but a connection
 */
export const driverOf = (db: object): Driver => {
  const driver = (db as { readonly [DRIVER]?: Driver } | null)?.[DRIVER];
  if (driver) return driver;
  throw new EdgetableError("plan.invalidOption", "Expected a connection, such as graph.connect({ … }).", { details: { option: "db" } });
};
