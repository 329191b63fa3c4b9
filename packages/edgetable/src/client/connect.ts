import { EdgetableError } from "../errors/edgetable-error.ts";
import type { RetryPolicy } from "../executor/retry.ts";
import { createSession, type Session } from "../executor/session.ts";
import type { SentRequest } from "../executor/meter.ts";
import { systemEffects } from "../executor/system-effects.ts";
import type { Effects } from "../executor/effects.ts";
import type { Catalog } from "../schema/catalog.ts";
import { createLeanTransport, type Credentials } from "../transport/lean/index.ts";
import { deferTransport } from "../transport/defer-transport.ts";
import { TIMEOUTS, type Transport } from "../transport/transport.ts";
import { DEADLINES } from "../executor/call.ts";
import { ruleNames } from "../planner/rule-names.ts";
import { checkOptions, type Kinds } from "../util/check-options.ts";
import { listOf, namesIn, oneOf } from "../util/check-range.ts";
import { createDriver, type Driver, type DriverOptions } from "./driver.ts";

/** How to reach the table, and how calls behave. */
export interface ConnectOptions {
  /** URL of the endpoint. @default the region's own */
  readonly endpoint?: string;
  /** @default AWS_REGION, AWS_DEFAULT_REGION or the profile's */
  readonly region?: string;
  /** Name of a profile in the shared AWS configuration. */
  readonly profile?: string;
  /** @default the environment, else the AWS SDK's provider chain */
  readonly credentials?: Credentials | (() => Promise<Credentials>);
  /** Your own `DynamoDBClient` of `@aws-sdk/client-dynamodb`; give it `maxAttempts: 1`, for Edgetable retries by itself. */
  readonly client?: SdkClient;
  /** A transport of your own, such as `createSdkTransport(client)` from `edgetable/sdk`. */
  readonly transport?: Transport;
  /** How requests that failed are repeated. @default 10 attempts, 25 ms before the second, up to 5 s */
  readonly retry?: Partial<RetryPolicy>;
  /** Requests under way at the same time, 1 to 1,000. @default 32 */
  readonly concurrency?: number;
  /** Milliseconds for one attempt, 1 to 600,000. @default 10,000 */
  readonly requestTimeout?: number;
  /** Milliseconds for one call, retries included, 1 to 86,400,000. @default 30,000 */
  readonly deadline?: number;
  /** Is told of every request that was answered. */
  readonly onRequest?: (request: SentRequest) => void;
  /** Seals cursors; not empty, and as hard to guess as a password. @default a random one that is kept in the table and read once */
  readonly cursorSecret?: string;
  /** False to skip the schemas when writing. @default true */
  readonly validate?: boolean;
  /** Names of planner rules to switch off, for tests and measurements. */
  readonly rulesOff?: readonly string[];
  /** Clock, randomness and sleep. @default the real ones */
  readonly effects?: Effects;
}

/** What is asked of the AWS SDK's client. */
export interface SdkClient {
  readonly send: (command: never, options?: never) => Promise<unknown>;
}

// The SDK's side is loaded by those who use it only.
const sdkTransport = (client: SdkClient): Transport =>
  deferTransport(async () => (await import("../transport/sdk/index.ts")).createSdkTransport(client as never));

const transportOf = (options: ConnectOptions): Transport => {
  if (options.transport) return options.transport;
  if (options.client) return sdkTransport(options.client);
  const { endpoint, region, profile, credentials } = options;
  return createLeanTransport({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(profile === undefined ? {} : { profile }),
    ...(credentials === undefined ? {} : { credentials }),
  });
};

// Asked for until it is known; a failure is not kept.
const secretInTable = (session: Session): Pick<DriverOptions, "cursorSecret" | "secretRequests" | "forgetSecret"> => {
  let known: Promise<string> | undefined;
  const forget = (error: unknown): never => {
    known = undefined;
    throw error;
  };
  const cursorSecret: Driver["cursorSecret"] = async (context, makes) => {
    if (known) return known;
    const { leaveSecret, readSecret } = await import("../executor/cursor-secret.ts");
    if (makes) return (known ??= leaveSecret(session, context).catch(forget));
    const secret = await readSecret(session, context);
    if (secret !== undefined) known ??= Promise.resolve(secret);
    return secret;
  };
  // Whoever is the first to need one in a table looks for it, then leaves it there.
  return { cursorSecret, secretRequests: 2, forgetSecret: () => (known = undefined) };
};

const kinds: Kinds<ConnectOptions> = {
  endpoint: "string",
  region: "string",
  profile: "string",
  credentials: undefined,
  client: namesIn,
  transport: namesIn,
  retry: { attempts: [1, 100], baseDelay: [0, 600_000], maxDelay: [0, 600_000] },
  concurrency: [1, 1000],
  requestTimeout: TIMEOUTS,
  deadline: DEADLINES,
  onRequest: "function",
  cursorSecret: "string",
  validate: "boolean",
  rulesOff: (names: readonly string[]) => {
    for (const name of listOf(names, "rules")) oneOf("planner rule", name, ruleNames);
  },
  effects: namesIn,
};

const check = (options: ConnectOptions): void => {
  checkOptions(options, kinds);
  if (options.cursorSecret === "")
    throw new EdgetableError("plan.invalidOption", "cursorSecret is empty: give a secret, or anybody can forge cursors.", {
      details: { option: "cursorSecret" },
    });
};

/**
 * Opens a connection's shared middle.
 *
 * @throws {plan.invalidOption} when an option is out of its range
 */
export const openDriver = (catalog: Catalog, options: ConnectOptions): Driver => {
  check(options);
  const session = createSession({
    catalog,
    transport: transportOf(options),
    effects: options.effects ?? systemEffects,
    retry: options.retry,
    concurrency: options.concurrency,
    requestTimeout: options.requestTimeout,
    onRequest: options.onRequest,
  });
  const { cursorSecret } = options;
  return createDriver({
    session,
    rulesOff: options.rulesOff ?? [],
    validates: options.validate ?? true,
    deadline: options.deadline,
    ...(cursorSecret === undefined ? secretInTable(session) : { cursorSecret: async () => cursorSecret }),
  });
};
