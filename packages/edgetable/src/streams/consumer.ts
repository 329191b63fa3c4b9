import { driverOf, type Place } from "../client/driver.ts";
import type { Db } from "../client/db.ts";
import type { Edges, Nodes, Parts } from "../client/graph-types.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { createLeanStreamTransport } from "../transport/lean/lean-stream-transport.ts";
import type { LeanTransportOptions } from "../transport/lean/lean-transport.ts";
import type { StreamTransport } from "../transport/stream-operations.ts";
import { checkOptions, checkSignal, namesIn, type OptionChecks } from "../util/check-options.ts";
import { jsonText } from "../util/json-text.ts";
import { type ProcessorReports, type StreamProgress, runConsumer } from "./run-consumer.ts";
import type { StreamHandlers } from "./handlers.ts";
import { createProcessor, processorChecks, type ProcessorOptions } from "./process-records.ts";
import type { StartPosition, StreamGap } from "./read-shard.ts";

/** How a consumer reads the table's stream. */
export interface ConsumerOptions extends ProcessorOptions {
  /**
   * Consumers of one name share the shards and their positions; those of different names each read everything. 1 to 100
   * letters, digits, dots, hyphens and underscores. @default "default"
   */
  readonly name?: string;
  /**
   * Where the first consumer of a name begins: at the oldest record that the stream has, up to 24 hours ago, or with
   * what is written from now on. Later ones go on from the saved positions. @default "trim-horizon"
   */
  readonly from?: StartPosition;
  /** Milliseconds after which the shards of a consumer that died are taken over, 500 to 600,000. @default 10,000 */
  readonly lease?: number;
  /** Records that are read and processed at a time, of each shard, 1 to 1,000. @default 500 */
  readonly batchSize?: number;
  /** Milliseconds between two requests for a shard that has nothing new, 1 to 600,000. @default 500 */
  readonly pollInterval?: number;
  /**
   * Milliseconds between two looks for new shards, 10 to 600,000. When a shard ends, its children are looked for at once.
   * @default 10,000
   */
  readonly discovery?: number;
  /**
   * What happens when records were lost before they could be read: the consumer tells `onGap` and goes on, or it ends with
   * `stream.gap`. @default "report"
   */
  readonly gaps?: "report" | "throw";
  /** Is told of records that were lost. It must not throw. */
  readonly onGap?: (gap: StreamGap) => void;
  /**
   * Where the stream is, or a transport of it. @default the place of the connection; needed for a connection with a
   * transport or client of its own
   */
  readonly stream?: StreamTransport | LeanTransportOptions;
}

/** How a consumer runs. */
export interface ConsumeOptions {
  /** Ends the run tidily: what is under way is finished or given back, and the leases are released. */
  readonly signal?: AbortSignal;
  /** Ends the run after so many milliseconds without a record, 1 to 2,147,483,647. @default never */
  readonly idle?: number;
  readonly onProgress?: (progress: StreamProgress) => void;
  /** Milliseconds between two calls of `onProgress`, 10 to 600,000. @default 1,000 */
  readonly progressEvery?: number;
}

/** A consumer of a table's stream. */
export interface StreamConsumer {
  /**
   * Reads the stream until the signal is aborted, the connection is closed, or nothing came for `idle` milliseconds.
   * Several consumers of one name, on one machine or many, share the shards; the shards of one that dies are taken over
   * when its lease expires. Each record is processed at least once, those of one item in order.
   *
   * Costs, beside the requests of the handlers: 1 write unit for each shard and quarter of the lease, and a Query of the
   * jobs for each third of it. Reading the stream costs no units of the table.
   *
   * @returns what it did
   * @throws {plan.invalidOption} when `stream` is needed, and is not given
   * @throws {stream.notEnabled} {stream.images} when the table has no stream with both images
   * @throws {stream.gap} when records were lost, with `gaps: "throw"`
   * @throws {plan.unsupported} when the table's key has no text attribute that keeps the leases together
   * @throws errors of the service that do not pass
   */
  run(options?: ConsumeOptions): Promise<StreamProgress>;
}

/**
 * The transport of a table's stream: the given one, or one of its own for a place, which is closed in the end.
 *
 * @throws {plan.invalidOption} when neither tells where the stream is
 */
export const openTransport = (
  stream: StreamTransport | LeanTransportOptions | undefined,
  place: Place | undefined,
): { readonly transport: StreamTransport; readonly close: () => Promise<void> } => {
  if (stream !== undefined && "send" in stream) return { transport: stream, close: async () => undefined };
  const given = stream ?? place;
  if (!given)
    throw new EdgetableError(
      "plan.invalidOption",
      'The connection has a transport or client of its own, which does not say where the stream is: give `stream`, such as { region: "eu-central-1" } or { endpoint }.',
      { details: { option: "stream" } },
    );
  const transport = createLeanStreamTransport(given);
  return { transport, close: async () => transport.close() };
};

const checkName = (name: unknown): void => {
  if (typeof name === "string" && /^[\w.-]{1,100}$/.test(name)) return;
  throw new EdgetableError(
    "plan.invalidOption",
    `name is ${jsonText(name)}: give 1 to 100 letters, digits, dots, hyphens and underscores.`,
    {
      details: { option: "name", value: name },
    },
  );
};

const consumerChecks: OptionChecks<ConsumerOptions> = {
  ...processorChecks,
  name: checkName,
  from: ["trim-horizon", "latest"],
  lease: [500, 600_000],
  batchSize: [1, 1000],
  pollInterval: [1, 600_000],
  discovery: [10, 600_000],
  gaps: ["report", "throw"],
  onGap: "function",
  stream: namesIn,
};

const runChecks: OptionChecks<ConsumeOptions> = {
  signal: checkSignal,
  idle: [1, 2_147_483_647],
  onProgress: "function",
  progressEvery: [10, 600_000],
};

/**
 * A consumer of the table's stream for any endpoint, without Lambda: it keeps the derived attributes and copies that are
 * fresh by the stream, and calls your handlers with typed events. Positions and leases are jobs in the table.
 *
 * @param db a connection of the model
 * @param handlers by a name that stays the same; `{}` for the upkeep alone
 * @throws {plan.invalidOption} for a handler or an option that is not one
 */
export const createStreamConsumer = <N extends Nodes, E extends Edges, P extends Parts>(
  db: Db<N, E, P>,
  handlers: StreamHandlers<NoInfer<N>, NoInfer<E>, NoInfer<P>>,
  options: ConsumerOptions = {},
): StreamConsumer => {
  const { session, place } = driverOf(db);
  const {
    name = "default",
    from = "trim-horizon",
    lease = 10_000,
    batchSize = 500,
    pollInterval = 500,
    ...rest
  } = checkOptions(options, consumerChecks);
  const { discovery = 10_000, gaps = "report", onGap, stream, onDeadLetter, onRefreshed, onStale, ...processing } = rest;
  const settings = { group: name, from, lease, batchSize, pollInterval, discovery, gaps, onGap };
  // Checks the handlers at once, and not when the consumer runs.
  const processorFor = (counts: ProcessorReports) =>
    createProcessor(session, handlers, {
      ...processing,
      onDeadLetter: (letter) => {
        counts.onDeadLetter();
        onDeadLetter?.(letter);
      },
      onRefreshed: (refreshed) => {
        counts.onRefreshed(refreshed);
        onRefreshed?.(refreshed);
      },
      onStale: (stale) => {
        counts.onStale();
        onStale?.(stale);
      },
    });
  createProcessor(session, handlers, processing);
  return {
    run: async (given = {}) => {
      const { signal, ...running } = checkOptions(given, runChecks);
      const { transport, close } = openTransport(stream, place);
      try {
        return await runConsumer({ session, transport, processorFor, settings, running, signal });
      } finally {
        await close();
      }
    },
  };
};
