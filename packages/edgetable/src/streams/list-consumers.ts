import { driverOf } from "../client/driver.ts";
import { bookkeeping, listJobs } from "../executor/jobs/job-store.ts";
import type { Catalog } from "../schema/catalog.ts";
import { isSystemItem } from "../schema/system-kinds.ts";
import type { LeanTransportOptions } from "../transport/lean/lean-transport.ts";
import type { StreamTransport } from "../transport/stream-operations.ts";
import { checkOptions, checkSignal, namesIn, type OptionChecks } from "../util/check-options.ts";
import { openTransport } from "./consumer.ts";
import { positionIn, type ShardState } from "./read-shard.ts";
import { readRecord } from "./record.ts";
import { memberOf } from "./shard-leases.ts";
import { isTrimmed, openStreamSource, type Shard, type StreamSource } from "./stream-source.ts";

/** Options of listing consumers. */
export interface ListConsumersOptions {
  readonly signal?: AbortSignal;
  /**
   * Where the stream is, or a transport of it. @default the place of the connection; required for a connection with a transport or
   * client of its own
   */
  readonly stream?: StreamTransport | LeanTransportOptions;
}

/** The consumers of one name, which share the shards of a table's stream. */
export interface ConsumerGroup {
  readonly name: string;
  /** Number of consumers that are alive, according to their leases. */
  readonly consumers: number;
  /** Number of shards that the group has begun to read and not read to their end. */
  readonly shards: number;
  /**
   * Age of the oldest change that the group has not processed, in milliseconds; 0 if there is none. Changes of Edgetable's own
   * items do not count. Undefined if the group has not read anything yet, if records were lost before they could be read, or if the
   * change was not found because too many own items follow.
   */
  readonly lag: number | undefined;
}

const checks: OptionChecks<ListConsumersOptions> = { signal: checkSignal, stream: namesIn };
const PATIENCE = 30_000;
// Records of one request, and requests that look for a change behind a position.
const [LIMIT, READS] = [1000, 10];

/** Milliseconds from the oldest unprocessed change of a shard to now. */
const lagBehind = async (
  {
    source,
    catalog,
    now,
    signal,
  }: { readonly source: StreamSource; readonly catalog: Catalog; readonly now: number; readonly signal: AbortSignal },
  shard: Shard,
  state: Pick<ShardState, "sequence" | "since">,
): Promise<number | undefined> => {
  const after = positionIn(state);
  try {
    let iterator = await source.begin(shard, after === undefined ? "oldest" : { after }, signal);
    for (let reads = 0; iterator !== undefined; reads++) {
      if (reads === READS) return undefined;
      const { records, next } = await source.read(iterator, LIMIT, signal);
      const found = records
        .map((one) => readRecord(one, catalog.table))
        .find((one) => one.time >= state.since && !isSystemItem(catalog, one.after ?? one.before ?? {}));
      if (found) return Math.max(0, now - found.time);
      if (records.length === 0) return 0;
      iterator = next;
    }
    return 0;
  } catch (error) {
    if (isTrimmed(error)) return undefined;
    throw error;
  }
};

/**
 * Lists the consumers of a table's stream, with the lag of each group. A Query of the table for the leases; for each shard that a
 * group reads, one or two requests to the stream, at most eleven. It does not write.
 *
 * @param db a connection of the model
 * @throws {plan.invalidOption} if `stream` is required and missing
 * @throws {plan.unsupported} if the table's key has no text attribute that keeps jobs together
 */
export const listConsumers = async (db: object, options: ListConsumersOptions = {}): Promise<readonly ConsumerGroup[]> => {
  const { session, place } = driverOf(db);
  const { signal = new AbortController().signal, stream } = checkOptions(options, checks);
  const members = (await listJobs(session, { ...bookkeeping(session, PATIENCE), signal })).flatMap((job) => memberOf(job) ?? []);
  if (members.length === 0) return [];
  const { transport, close } = openTransport(stream, place);
  try {
    const source = openStreamSource(session, transport);
    const { catalog, effects } = session;
    const { shards } = await source.list(signal);
    const groups: ConsumerGroup[] = [];
    for (const name of new Set(members.map(({ group }) => group))) {
      const own = members.filter(({ group }) => group === name);
      const states = own.flatMap(({ state }) => (state ? [state] : []));
      const open = states.filter(({ ended }) => ended === 0);
      const reading = { source, catalog, now: effects.now(), signal };
      const lags = await Promise.all(
        open.map(async (state) => {
          const shard = shards.find(({ id, stream: arn }) => id === state.shard && arn === state.stream);
          return shard ? lagBehind(reading, shard, state) : undefined;
        }),
      );
      // Continues a shard that was read, and has not been begun.
      const begun = new Set(states.map(({ shard }) => shard));
      const waiting = shards.filter(({ id, parent }) => !begun.has(id) && parent !== undefined && begun.has(parent));
      lags.push(...(await Promise.all(waiting.map((shard) => lagBehind(reading, shard, { sequence: "", since: 0 })))));
      const isKnown = states.length > 0 && lags.every((lag) => lag !== undefined);
      groups.push({
        name,
        consumers: own.filter(({ isConsumer, running }) => isConsumer && running).length,
        shards: open.length,
        lag: isKnown ? Math.max(0, ...lags) : undefined,
      });
    }
    return groups;
  } finally {
    await close();
  }
};
