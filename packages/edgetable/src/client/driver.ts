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

/** What every part of a connection shares. */
export interface Driver {
  readonly session: Session;
  readonly catalog: Catalog;
  readonly validates: boolean;
  /** Whether a search may read another index than one that is not complete. */
  readonly avoidsIndexes: boolean;
  /** Whether writes that do not say otherwise are sent with a token. */
  readonly idempotent: boolean;
  /** Whether rows of some types are parsed by their schemas where they are read. */
  readonly parses: boolean;
  /** Names of planner rules that are switched off. */
  readonly rulesOff: ReadonlySet<string>;
  /**
   * The plan of a form of call: made once, then looked up by its signature.
   *
   * @param planners what plans of this kind need
   */
  plan(signature: string, logical: () => LogicalPlan, planners?: Planners): ReadPlan;
  /** What a call with checked options brings along. */
  context(options: RunOptions): CallContext;
  /** The secret that seals cursors; undefined where there is none yet, and none is to be made. */
  cursorSecret(context: CallContext, makes: boolean): Promise<Secrets | undefined>;
  /** The most requests that the secret will take: none once it is known. */
  secretRequests(): number;
  /** Lets go of a secret that went with its table. */
  forgetSecret(): void;
  /** Where the table's stream is reached; undefined for a transport or client of the user's own. */
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
  /** Whether items that have expired are shown until DynamoDB removes them. */
  readonly expired?: "hide" | "show" | undefined;
  readonly reading?: ReadingOptions | undefined;
  readonly cursorSecret: Driver["cursorSecret"];
  /** The most requests that it takes. @default 0 */
  readonly secretRequests?: number | undefined;
  readonly forgetSecret?: Driver["forgetSecret"] | undefined;
  readonly place?: Place | undefined;
}

/** Plans reads, each form of a call once. */
export const plannerOf = (catalog: Catalog, off: ReadonlySet<string>): Driver["plan"] => {
  const plans = new Map<string, ReadPlan>();
  return (signature, logical, planners) => {
    const known = plans.get(signature);
    if (known) return known;
    // Forms of calls stand in the program's text and are few; a program that makes them up must not fill the memory.
    if (plans.size >= MAX_PLANS) plans.clear();
    const plan = planRead(catalog, logical(), { off, ...planners });
    plans.set(signature, plan);
    return plan;
  };
};

/** The shared middle of one connection. */
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

// Registered, because a program may load one entry of the package as ESM and another one as CommonJS.
const DRIVER = Symbol.for("edgetable.driver");

/** Gives a connection its shared middle, for the other entries of the package. */
export const withDriver = <Connection extends object>(db: Connection, driver: Driver): Connection =>
  Object.defineProperty(db, DRIVER, { value: driver });

/**
 * The shared middle of a connection.
 *
 * @throws {plan.invalidOption} for anything else than a connection
 */
export const driverOf = (db: object): Driver => {
  const driver = (db as { readonly [DRIVER]?: Driver } | null)?.[DRIVER];
  if (driver) return driver;
  throw new EdgetableError("plan.invalidOption", "Expected a connection, such as graph.connect({ … }).", { details: { option: "db" } });
};
