import { EdgetableError } from "../errors/edgetable-error.ts";
import { createSession, type Effects, type RetryPolicy, type Session, systemEffects } from "../executor/session.ts";
import type { Secrets } from "../requests/cursor.ts";
import { SharedAnswer } from "../executor/shared-answer.ts";
import { DEADLINES, EXPIRED, type FailedRequest, readingChecks, type ReadingOptions, type SentRequest } from "../executor/call.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Credentials } from "../transport/lean/credentials.ts";
import { createLeanTransport } from "../transport/lean/lean-transport.ts";
import { deferTransport, TIMEOUTS, type Transport } from "../transport/transport.ts";
import { ruleNames } from "../planner/rule-names.ts";
import { checkOptions, type OptionChecks, listOf, namesIn, oneOf } from "../util/check-options.ts";
import { createDriver, type Driver, type DriverOptions, type Place } from "./driver.ts";

/** How to reach the table, and how calls behave. */
export interface ConnectOptions extends ReadingOptions {
  /**
   * URL of the endpoint. @default as in the AWS SDK: AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, `endpoint_url` of the profile,
   * else the region's endpoint
   */
  readonly endpoint?: string | undefined;
  /** @default AWS_REGION, AWS_DEFAULT_REGION, or the region of the profile */
  readonly region?: string | undefined;
  /** Name of a profile in the shared AWS configuration. */
  readonly profile?: string | undefined;
  /** @default the environment, else the AWS SDK's provider chain */
  readonly credentials?: (Credentials | (() => Promise<Credentials>)) | undefined;
  /** Allows plain http, without encryption, to another machine, such as an engine in another container. @default false */
  readonly allowInsecure?: boolean | undefined;
  /** Your own `DynamoDBClient` of `@aws-sdk/client-dynamodb`; its retries do not apply, because Edgetable retries requests itself. */
  readonly client?: SdkClient | undefined;
  /** A transport of your own, such as `createSdkTransport(client)` from `edgetable/sdk`. */
  readonly transport?: Transport | undefined;
  /** How failed requests are retried. @default 10 attempts, 25 ms before the second, up to 5 s */
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** Maximum number of requests in flight, 1 to 1,000. @default 32 */
  readonly concurrency?: number | undefined;
  /** Time limit of one attempt in milliseconds, 1 to 600,000. @default 10,000 */
  readonly requestTimeout?: number | undefined;
  /** Time limit of one call, including retries, in milliseconds, 1 to 86,400,000. @default 30,000 */
  readonly deadline?: number | undefined;
  /** Whether reads return items whose `ttl` has passed but which DynamoDB has not deleted yet. @default "hide" */
  readonly expired?: "hide" | "show" | undefined;
  /** Called after each answered request. */
  readonly onRequest?: ((request: SentRequest) => void) | undefined;
  /** Traces and measures what the connection does, such as `openTelemetry()` of `@edgetable/opentelemetry`. */
  readonly observer?: Observer | undefined;
  /**
   * The secret that seals cursors: at least 32 random bytes, raw or as hex or base64 text, or a passphrase of at least 15
   * characters. A passphrase is stretched once, which takes a fraction of a second on another thread. To replace a secret, pass a
   * list: the first secret seals new cursors, and every secret opens existing ones. @default a random secret, stored in the table
   * and read once
   */
  readonly cursorSecret?: CursorSecret | readonly CursorSecret[] | undefined;
  /**
   * What a search does if its index is incomplete because a migration is in progress. `refuse`: it rejects with
   * `plan.indexIncomplete`. `avoid`: it reads another index that finds the rows, at a higher price and in that index's order, and
   * rejects only if there is none. `explain()` shows the best index all the same; iteration always rejects. @default "refuse"
   */
  readonly incompleteIndexes?: "refuse" | "avoid" | undefined;
  /** False to skip the schemas when writing. @default true */
  readonly validate?: boolean | undefined;
  /**
   * True to send writes as transactions with a token, like the option `idempotent` of a call: retries are exact, at twice the write
   * units. @default false
   */
  readonly idempotent?: boolean | undefined;
  /** Settings for tests and benchmarks: clock, randomness, planner rules. */
  readonly advanced?: AdvancedOptions | undefined;
}

/** Settings of a connection for tests and benchmarks. */
export interface AdvancedOptions {
  /** Names of planner rules to switch off. @default none */
  readonly rulesOff?: readonly string[] | undefined;
  /** Clock, randomness and sleep. @default the real ones */
  readonly effects?: Effects | undefined;
}

/** Observes a connection, to trace and measure it. An error that it throws ends the call. */
export interface Observer {
  /**
   * Called once, by `connect()`, which returns its result: the connection, or a wrapper that observes its calls.
   *
   * @param place the table's name, and the endpoint and region if the options name them
   */
  readonly connection?: (<Connection extends object>(db: Connection, place: ObservedPlace) => Connection) | undefined;
  /** Called after each answered request, with its attempts and units. */
  readonly request?: ((request: SentRequest) => void) | undefined;
  /** Called after each request whose last attempt failed. */
  readonly failure?: ((request: FailedRequest) => void) | undefined;
}

/** Where an observed connection reaches its table. */
export interface ObservedPlace {
  readonly table: string;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
}

/** The part of the AWS SDK's client that Edgetable uses. */
export interface SdkClient {
  readonly send: (command: never, options?: never) => Promise<unknown>;
}

/** A secret that seals cursors: random bytes, such bytes as hex or base64 text, or a passphrase. */
export type CursorSecret = string | Uint8Array;

// The minimum length of a random secret in bytes, and of a passphrase in characters (NIST SP 800-63B-4, section 3.1.1.2).
const RANDOM_BYTES = 32;
const PASSPHRASE = 15;
const MAKES_ONE = `node -p 'crypto.randomBytes(32).toString("base64url")'`;

const checkSecrets = (given: unknown): void => {
  const secrets: readonly unknown[] = Array.isArray(given) ? given : [given];
  const refuse = (what: string): never => {
    throw new EdgetableError(
      "plan.invalidOption",
      `cursorSecret ${what}. Give ${RANDOM_BYTES} random bytes or more (\`${MAKES_ONE}\` makes some), or a passphrase of ${PASSPHRASE} characters or more.`,
      { details: { option: "cursorSecret" } },
    );
  };
  if (secrets.length === 0) refuse("is an empty list");
  for (const secret of secrets) {
    if (secret instanceof Uint8Array && secret.length < RANDOM_BYTES) refuse(`has ${secret.length} bytes`);
    else if (typeof secret !== "string" && !(secret instanceof Uint8Array)) refuse("takes text, bytes, or a list of them");
    else if (secret.length < PASSPHRASE) refuse(secret === "" ? "is empty" : `has ${secret.length} characters`);
  }
};

const placeOf = ({ transport, client, ...options }: ConnectOptions): Place | undefined => {
  if (transport || client) return undefined;
  const { endpoint, region, profile, credentials, allowInsecure } = options;
  return { endpoint, region, profile, credentials, allowInsecure };
};

const PLACES = ["transport", "client", "endpoint", "region", "profile", "credentials"] as const;

const transportOf = (options: ConnectOptions): Transport => {
  // If these were ignored, a program for a local engine would write to another table.
  const [given, ignored] = PLACES.filter((name) => options[name] !== undefined);
  if (ignored && (given === "transport" || given === "client"))
    throw new EdgetableError("plan.invalidOption", `${given} and ${ignored} exclude each other. Leave one out.`, {
      details: { option: ignored },
    });
  if (options.transport) return options.transport;
  // The SDK adapter is loaded only if a client is given.
  return options.client
    ? deferTransport(async () => (await import("../transport/sdk/index.ts")).createSdkTransport(options.client as never))
    : createLeanTransport(placeOf(options));
};

// Reads the secret with each call until it is known.
const secretInTable = (session: Session): Pick<DriverOptions, "cursorSecret" | "secretRequests" | "forgetSecret"> => {
  const known = new SharedAnswer<Secrets | undefined>();
  const cursorSecret: Driver["cursorSecret"] = async (context, makes) => {
    const read = async (): Promise<Secrets | undefined> => {
      const { leaveSecret, readSecret } = await import("../executor/cursor-secrets.ts");
      const secret = await (makes ? leaveSecret : readSecret)(session, context);
      return secret === undefined ? undefined : [secret];
    };
    for (;;) {
      const secrets = await known.get(read, context);
      if (secrets) return secrets;
      known.forget();
      // An earlier call found no secret and did not create one; this call has to.
      if (!makes) return undefined;
    }
  };
  // The first connection that needs one in a table reads it there, or creates it.
  return { cursorSecret, secretRequests: 2, forgetSecret: () => known.forget() };
};

const advancedChecks: OptionChecks<AdvancedOptions> = {
  rulesOff: (names: readonly string[]) => {
    for (const name of listOf(names, "rules")) oneOf("planner rule", name, ruleNames);
  },
  effects: namesIn,
};

const sends = (given: { readonly send?: unknown }, name: string): void => {
  namesIn(given, name);
  checkOptions({ [`${name}.send`]: given.send ?? null }, { [`${name}.send`]: "function" });
};

const connectChecks: OptionChecks<ConnectOptions> = {
  endpoint: "string",
  region: "string",
  profile: "string",
  credentials: undefined,
  allowInsecure: "boolean",
  client: sends,
  transport: sends,
  retry: { attempts: [1, 100], baseDelay: [0, 600_000], maxDelay: [0, 600_000] },
  concurrency: [1, 1000],
  requestTimeout: TIMEOUTS,
  deadline: DEADLINES,
  expired: (given: string) => oneOf("expired", given, EXPIRED),
  onRequest: "function",
  observer: { connection: "function", request: "function", failure: "function" },
  cursorSecret: checkSecrets,
  incompleteIndexes: ["refuse", "avoid"],
  validate: "boolean",
  idempotent: "boolean",
  ...readingChecks,
  advanced: advancedChecks,
};

/**
 * Opens the driver of a connection: everything that its calls share.
 *
 * @throws {plan.invalidOption} when an option is out of its range
 */
export const openDriver = (catalog: Catalog, options: ConnectOptions): Driver => {
  checkOptions(options, connectChecks);
  const { advanced = {} } = options;
  const session = createSession({
    catalog,
    transport: transportOf(options),
    effects: advanced.effects ?? systemEffects,
    retry: options.retry,
    concurrency: options.concurrency,
    requestTimeout: options.requestTimeout,
    onRequest: options.onRequest,
    observer: options.observer,
  });
  const { cursorSecret } = options;
  return createDriver({
    session,
    place: placeOf(options),
    rulesOff: advanced.rulesOff ?? [],
    validates: options.validate ?? true,
    avoidsIndexes: options.incompleteIndexes === "avoid",
    idempotent: options.idempotent,
    deadline: options.deadline,
    expired: options.expired,
    reading: { onStray: options.onStray, unknown: options.unknown },
    ...(cursorSecret === undefined
      ? secretInTable(session)
      : { cursorSecret: async () => (await import("../executor/cursor-secrets.ts")).secretsOf(cursorSecret, catalog.table) }),
  });
};
