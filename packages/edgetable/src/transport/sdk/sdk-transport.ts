import type * as Sdk from "@aws-sdk/client-dynamodb";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import { onAbort } from "../../util/time.ts";
import type { Operation, OperationInputs, OperationOutputs } from "../operations.ts";
import { type Attempt, type AttemptFailure, attemptError, serviceError } from "../transport-error.ts";
import { holdsItems, oddityOf, type SendOptions, type Transport } from "../transport.ts";

/**
 * Converts attribute values between the wire's form (`{ B: base64 text }`) and the SDK's (`{ B: Uint8Array }`) at any depth
 * of an input or output. Only attribute values can have a text or bytes in a field called `B` or `BS`: table and index names
 * have at least 3 characters, and an attribute of that name has an object as its value. Parts without binary are not copied.
 */
const replaceIn = (value: unknown, convert: (value: Binary) => object | undefined): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (const [index, before] of value.entries()) {
      const after = replaceIn(before, convert);
      if (after !== before) (copy ??= [...(value as unknown[])])[index] = after;
    }
    return copy ?? value;
  }
  const converted = convert(value);
  if (converted) return converted;
  let copy: Record<string, unknown> | undefined;
  for (const [name, before] of Object.entries(value)) {
    const after = replaceIn(before, convert);
    if (after !== before) (copy ??= { ...value })[name] = after;
  }
  return copy ?? value;
};

interface Binary {
  readonly B?: unknown;
  readonly BS?: unknown;
}

const toBytes = (text: string): Uint8Array => Buffer.from(text, "base64");
const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

/** Converts an input to the SDK's form. */
export const toSdk = (input: unknown): unknown =>
  replaceIn(input, ({ B, BS }) => {
    if (typeof B === "string") return { B: toBytes(B) };
    return Array.isArray(BS) && BS.every((one) => typeof one === "string") ? { BS: BS.map(toBytes) } : undefined;
  });

/** Converts an output, or a part of an error, to the wire's form. */
export const toWire = (output: unknown): unknown =>
  replaceIn(output, ({ B, BS }) => {
    if (B instanceof Uint8Array) return { B: toBase64(B) };
    return Array.isArray(BS) && BS.length > 0 && BS.every((one) => one instanceof Uint8Array) ? { BS: BS.map(toBase64) } : undefined;
  });

/** The fields that tell the SDK's and Node's errors apart. */
interface SdkError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
  readonly $fault?: string;
  readonly $response?: { readonly statusCode?: number };
  readonly CancellationReasons?: unknown;
  readonly Item?: unknown;
  readonly errors?: readonly { readonly message?: string }[];
}

// Nothing was sent: the name did not resolve, or the connection was not established.
const neverConnected: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_HAS_EXPIRED",
]);

const connectionError = (error: SdkError, attempt: Attempt): EdgetableError => {
  const message = error.message || error.errors?.[0]?.message || error.code || "no answer came";
  return attemptError(attempt, { code: "execute.connection", message, ambiguous: !neverConnected.has(error.code ?? ""), cause: error });
};

// The SDK's names for an answer without an exception's name.
const nameless: ReadonlySet<string> = new Set(["Error", "SyntaxError", "Unknown", "UnknownError"]);

const answeredError = (error: SdkError, status: number, attempt: Attempt): EdgetableError => {
  const request = error.$metadata?.requestId;
  const { name = "Error" } = error;
  const isNameless = nameless.has(name);
  if (isNameless && (status < 400 || (status < 500 && request === undefined)))
    return attemptError(attempt, {
      code: "execute.connection",
      message: `HTTP ${status}, not DynamoDB's JSON: ${error.message ?? ""}. Is there a proxy, or another server, at the endpoint?`,
      ambiguous: true,
      cause: error,
    });
  return serviceError(
    {
      name: isNameless ? `Http${status}` : name,
      message: `${error.message || "(no message)"}${request === undefined ? "" : ` (request ${request})`}`,
      status,
      item: toWire(error.Item),
      reasons: toWire(error.CancellationReasons),
    },
    { operation: attempt.operation, input: attempt.input },
  );
};

/** The error for whatever the SDK's client rejects with. */
export const readSdkError = (cause: unknown, attempt: Attempt): EdgetableError => {
  if (isEdgetableError(cause)) return cause;
  const error = (typeof cause === "object" && cause !== null ? cause : { message: String(cause) }) as SdkError;
  const { code, name, message } = error;
  if (name === "TimeoutError" && error.$fault === undefined) {
    // @smithy/node-http-handler uses this name also for a reset, and for a socket that was never connected.
    if (code === "ECONNRESET" || code === "EPIPE") return connectionError(error, attempt);
    const ambiguous = !/did not establish a connection/i.test(message ?? "");
    return attemptError(attempt, { code: "execute.timeout", message: message ?? "no answer in time", ambiguous, cause });
  }
  const status = error.$metadata?.httpStatusCode ?? error.$response?.statusCode;
  if (status === 200)
    return attemptError(attempt, {
      code: "execute.connection",
      message: `the answer is not DynamoDB's JSON: ${message ?? ""}`,
      ambiguous: true,
      cause,
    });
  if (status !== undefined) return answeredError(error, status, attempt);
  if (code !== undefined) return connectionError(error, attempt);
  if (name === "CredentialsProviderError" || name === "TokenProviderError" || /credential/i.test(message ?? ""))
    return new EdgetableError("execute.credentials", `${attempt.operation}: ${message ?? name}`, { cause, request: attempt });
  return new EdgetableError("execute.rejected", `${attempt.operation}: the DynamoDBClient failed: ${message ?? name}`, {
    cause,
    request: attempt,
    details: { ambiguous: true },
  });
};

type CommandName = Extract<keyof typeof Sdk, `${Operation}Command`>;

type Command = Parameters<Sdk.DynamoDBClient["send"]>[0];

let loaded: Promise<typeof Sdk> | undefined;

// In a `try`, so that webpack and Turbopack build applications without the package.
const importSdk = async (): Promise<typeof Sdk> => {
  try {
    return await import("@aws-sdk/client-dynamodb");
  } catch (cause) {
    throw new EdgetableError(
      "plan.invalidOption",
      "A DynamoDBClient was given but @aws-sdk/client-dynamodb cannot be loaded: npm install @aws-sdk/client-dynamodb",
      { cause, details: { install: "@aws-sdk/client-dynamodb" } },
    );
  }
};

/** Makes the command of an operation from an input in the SDK's form. Loads the SDK's package on first use. */
const createCommand = async (operation: Operation, input: unknown): Promise<Command> => {
  loaded ??= importSdk();
  const sdk = await loaded;
  const name: CommandName = `${operation}Command`;
  // TypeScript sees a union of constructors with different inputs. `OperationInputs` has paired them already.
  const SdkCommand = sdk[name] as unknown as new (input: unknown) => Command;
  return new SdkCommand(input);
};

/** Ends an attempt by the caller's signal or by its timeout, whichever comes first. */
interface Limit {
  readonly signal: AbortSignal;
  /** Rejects at once, even if the client reacts late to the signal. */
  readonly ended: Promise<never>;
  release(): void;
}

const limitAttempt = (attempt: Attempt, { signal, timeout }: SendOptions): Limit => {
  const controller = new AbortController();
  let reject: (error: unknown) => void;
  const ended = new Promise<never>((_, refuse) => (reject = refuse));
  const end = (failure: Omit<AttemptFailure, "ambiguous">): void => {
    reject(attemptError(attempt, { ...failure, ambiguous: true }));
    controller.abort();
  };
  const abort = (): void => end({ code: "execute.aborted", message: "aborted by the caller's signal", cause: signal?.reason });
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(() => end({ code: "execute.timeout", message: `no answer within ${timeout} ms` }), timeout);
  const unwatch = signal && onAbort(signal, abort);
  return {
    signal: controller.signal,
    ended,
    release() {
      clearTimeout(timer);
      unwatch?.();
    },
  };
};

/** Whether a successful answer is an object with DynamoDB's headers; undefined if the client shows no answer, as a stub. */
interface Sender {
  signed?: boolean;
}

// The SDK gives no body, `null` and `[1]` as an object without members, which only `{}` is.
const MAY_BE_EMPTY: ReadonlySet<string | undefined> = new Set(["2", undefined]);

interface Answer {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
}

const isStream = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === "object" && body !== null && Symbol.asyncIterator in body;

/** True if an answer without members may be an object. Reads its body, which the SDK takes as bytes too. */
const holdsObject = async (answer: Answer): Promise<boolean> => {
  const { body, headers } = answer;
  if (!isStream(body) || headers?.["content-encoding"] !== undefined) return true;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  answer.body = bytes;
  return bytes.toString().trimStart().startsWith("{");
};

/** Looks at an answer before the SDK reads it: its output no longer tells. */
const watchSender = (command: Command, sender: Sender): void => {
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const answer = result.response as Answer;
      const { headers } = answer;
      const isSigned =
        headers?.["x-amzn-requestid"] !== undefined ||
        headers?.["x-amz-crc32"] !== undefined ||
        headers?.["content-type"]?.startsWith("application/x-amz-json") === true;
      sender.signed = isSigned && MAY_BE_EMPTY.has(headers?.["content-length"]) && (await holdsObject(answer));
      return result;
    },
    { step: "deserialize", name: "edgetableSender", priority: "low" },
  );
};

/** Carries an error past the client's retries, which repeat only errors that they know. */
class PastRetries extends Error {
  readonly error: unknown;

  constructor(error: unknown) {
    super("not to be repeated");
    this.error = error;
  }
}

/** A middleware that rejects with another error. */
const changeError =
  (change: (error: unknown) => unknown) =>
  <Args, Output>(next: (args: Args) => Promise<Output>) =>
  async (args: Args): Promise<Output> => {
    try {
      return await next(args);
    } catch (error) {
      throw change(error);
    }
  };

const hide = changeError((error) => new PastRetries(error));
const show = changeError((error) => (error instanceof PastRetries ? error.error : error));

const RETRIES = "retryMiddleware";

/** Makes one attempt of a command, whatever the client's `maxAttempts`: a repeated `add` would add twice. */
const sendOnce = ({ middlewareStack: own }: Command, { middlewareStack }: Partial<Pick<DynamoDBClient, "middlewareStack">>): void => {
  // A stub has none, and a client of the user's may be without retries.
  if (!middlewareStack?.identify().some((one) => one.startsWith(RETRIES))) return;
  own.addRelativeTo(hide, { relation: "after", toMiddleware: RETRIES, name: "edgetableHide" });
  own.addRelativeTo(show, { relation: "before", toMiddleware: RETRIES, name: "edgetableShow" });
};

class SdkTransport implements Transport {
  readonly #client: DynamoDBClient;
  #closed = false;

  constructor(client: DynamoDBClient) {
    this.#client = client;
  }

  async send<O extends Operation>(operation: O, input: OperationInputs[O], options: SendOptions = {}): Promise<OperationOutputs[O]> {
    const attempt = { operation, input };
    if (this.#closed)
      throw new EdgetableError("execute.connection", `${operation}: the transport was closed by close(). Connect again.`, {
        details: { ambiguous: false },
      });
    if (options.signal?.aborted)
      throw attemptError(attempt, {
        code: "execute.aborted",
        message: "aborted before it was sent",
        ambiguous: false,
        cause: options.signal.reason,
      });
    const limit = limitAttempt(attempt, options);
    try {
      const sender: Sender = {};
      const sent = this.#sendCommand(attempt, limit.signal, sender);
      const { $metadata: _, ...rest } = (await Promise.race([sent, limit.ended])) as { readonly $metadata?: unknown };
      const output = toWire(rest);
      const oddity = holdsItems(output) ? oddityOf({ ...attempt, output, signed: sender.signed ?? true }) : "an item has a malformed value";
      if (oddity === undefined) return output as OperationOutputs[O];
      throw attemptError(attempt, {
        code: "execute.connection",
        message: `the answer is not DynamoDB's, ${oddity}. Is there a proxy, or another server, at the endpoint?`,
        ambiguous: true,
      });
    } catch (error) {
      throw readSdkError(error, attempt);
    } finally {
      limit.release();
    }
  }

  /** Leaves the client open: it belongs to the user. */
  close(): void {
    this.#closed = true;
  }

  async #sendCommand(
    attempt: { readonly operation: Operation; readonly input: unknown },
    abortSignal: AbortSignal,
    sender: Sender,
  ): Promise<object> {
    const command = await createCommand(attempt.operation, toSdk(attempt.input));
    watchSender(command, sender);
    sendOnce(command, this.#client);
    return this.#client.send(command, { abortSignal });
  }
}

/**
 * A transport around your own `DynamoDBClient`: its region, credentials, endpoint, proxies and middleware apply. Its retries
 * do not, because Edgetable repeats requests by itself. Closing the transport leaves the client open.
 *
 * @param client yours; `@aws-sdk/client-dynamodb` is loaded with the first request
 * @throws {plan.invalidOption} from the first request, if that package cannot be loaded
 * @example
 * const transport = createSdkTransport(new DynamoDBClient({}));
 */
export const createSdkTransport = (client: DynamoDBClient): Transport => new SdkTransport(client);
