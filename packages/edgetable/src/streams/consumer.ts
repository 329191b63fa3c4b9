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

/** Options of a consumer of the table's stream. */
export interface ConsumerOptions extends ProcessorOptions {
  /**
   * Consumers with the same name share the shards and their positions; consumers with different names each read everything. 1 to
   * 100 letters, digits, dots, hyphens and underscores. @default "default"
   */
  readonly name?: string;
  /**
   * Where the first consumer of a name begins: at the oldest record in the stream, up to 24 hours ago, or with changes from now on.
   * Later consumers continue from the saved positions. @default "trim-horizon"
   */
  readonly from?: StartPosition;
  /** Milliseconds until other consumers take over the shards of a consumer that died, 500 to 600,000. @default 10,000 */
  readonly lease?: number;
  /** Records of each shard that are read and processed together, 1 to 1,000. @default 500 */
  readonly batchSize?: number;
  /** Milliseconds between two requests for a shard without new records, 1 to 600,000. @default 500 */
  readonly pollInterval?: number;
  /**
   * Milliseconds between two searches for new shards, 10 to 600,000. When a shard ends, the consumer immediately searches for its
   * children.
   * @default 10,000
   */
  readonly discovery?: number;
  /**
   * What happens if records were lost before they could be read. `report`: the consumer calls `onGap` and continues. `throw`: it
   * ends with `stream.gap`. @default "report"
   */
  readonly gaps?: "report" | "throw";
  /** Called with records that were lost. It must not throw. */
  readonly onGap?: (gap: StreamGap) => void;
  /**
   * Where the stream is, or a transport of it. @default the place of the connection; required for a connection with a transport or
   * client of its own
   */
  readonly stream?: StreamTransport | LeanTransportOptions;
}

/** Options of running a consumer. */
export interface ConsumeOptions {
  /** Ends the run in an orderly way: records in progress are finished or given back, and the leases are released. */
  readonly signal?: AbortSignal;
  /** Ends the run after this many milliseconds without a record, 1 to 2,147,483,647. @default never */
  readonly idle?: number;
  readonly onProgress?: (progress: StreamProgress) => void;
  /** Milliseconds between two calls of `onProgress`, 10 to 600,000. @default 1,000 */
  readonly progressEvery?: number;
}

/** A consumer of a table's stream. */
export interface StreamConsumer {
  /**
   * Reads the stream until the signal is aborted, the connection is closed, or no record came for `idle` milliseconds. Several
   * consumers with one name, on one or more machines, share the shards. If a consumer dies, others take over its shards when its
   * leases expire. Each record is processed at least once, and those of one item in order.
   *
   * In addition to the requests of the handlers, it costs 1 write unit for each shard in each quarter of the lease, and a Query of
   * the jobs in each third of it. Reading the stream costs no units of the table.
   *
   * @returns what it did
   * @throws {plan.invalidOption} if `stream` is required and missing
   * @throws {stream.notEnabled} {stream.images} if the table has no stream with both images
   * @throws {stream.gap} if records were lost, with `gaps: "throw"`
   * @throws {plan.unsupported} if the table's key has no text attribute that keeps the leases together
   * @throws errors of the service that persist
   */
  run(options?: ConsumeOptions): Promise<StreamProgress>;
}

/**
 * The transport of a table's stream: the given one, or a new one for a place, which is closed at the end.
 *
 * @throws {plan.invalidOption} if neither says where the stream is
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
 * A consumer of the table's stream for any endpoint, without Lambda. It maintains the derived attributes and copies of freshness
 * "stream", and calls your handlers with typed events. Positions and leases are jobs in the table.
 *
 * @param db a connection of the model
 * @param handlers by a name that does not change; `{}` to only maintain derived attributes
 * @throws {plan.invalidOption} for an invalid handler or option
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
  // Checks the handlers immediately, not when the consumer runs.
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
