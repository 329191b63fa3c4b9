import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EdgetableError } from "../../errors/edgetable-error.ts";
import { onAbort } from "../../util/time.ts";
import { attemptError } from "../attempt-error.ts";
import type { Attempt, AttemptFailure } from "../attempt-error.ts";
import { holdsItems, oddityOf } from "../check-answer.ts";
import type { Operation, OperationInputs, OperationOutputs } from "../operations.ts";
import type { SendOptions, Transport } from "../transport.ts";
import { toSdk, toWire } from "./binary.ts";
import { type Command, createCommand } from "./commands.ts";
import { readSdkError } from "./sdk-error.ts";

/** Ends an attempt from outside: by the caller's signal or by its own timer, whichever comes first. */
interface Limit {
  readonly signal: AbortSignal;
  /** Rejects at once, even if the client's own plugins take their time about the signal. */
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

/** What a successful answer's headers say of who sent it: undefined where the client never shows one, as a test's stand-in. */
interface Sender {
  signed?: boolean;
}

const isSigned = (headers: Readonly<Record<string, string | undefined>>): boolean =>
  headers["x-amzn-requestid"] !== undefined ||
  headers["x-amz-crc32"] !== undefined ||
  headers["content-type"]?.startsWith("application/x-amz-json") === true;

/** Notes who sent the answer to a command: the SDK's output no longer tells. */
const watchSender = (command: Command, sender: Sender): Command => {
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { headers } = result.response as { readonly headers?: Readonly<Record<string, string | undefined>> };
      sender.signed = isSigned(headers ?? {});
      return result;
    },
    { step: "deserialize", name: "edgetableSender" },
  );
  return command;
};

const withoutMetadata = (output: object): object => {
  const { $metadata: _, ...rest } = output as { readonly $metadata?: unknown };
  return rest;
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
      throw new EdgetableError("execute.connection", `${operation}: the transport was closed by close(). Connect anew.`, {
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
      const output = toWire(withoutMetadata(await Promise.race([sent, limit.ended])));
      const oddity = holdsItems(output)
        ? oddityOf({ ...attempt, output, signed: sender.signed ?? true })
        : "an item holds what is not an attribute value";
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

  /** The client is the user's own: it is not destroyed here. */
  close(): void {
    this.#closed = true;
  }

  async #sendCommand(
    attempt: { readonly operation: Operation; readonly input: unknown },
    abortSignal: AbortSignal,
    sender: Sender,
  ): Promise<object> {
    const command = await createCommand(attempt.operation, toSdk(attempt.input));
    return this.#client.send(watchSender(command, sender), { abortSignal });
  }
}

/**
 * A transport around your own `DynamoDBClient`: its region, credentials, endpoint, proxies and
 * middleware apply. Give the client `maxAttempts: 1`: the SDK's retries cannot be set aside for a
 * single request, and with them every attempt of Edgetable's would be up to three of the SDK's.
 * Closing the transport leaves the client open.
 *
 * @param client yours; `@aws-sdk/client-dynamodb` is loaded with the first request
 * @throws {plan.invalidOption} from the first request, when that package cannot be loaded
 * @example
 * const transport = createSdkTransport(new DynamoDBClient({ maxAttempts: 1 }));
 */
export const createSdkTransport = (client: DynamoDBClient): Transport => new SdkTransport(client);
