import { isEdgetableError } from "../errors/edgetable-error.ts";
import { bookkeeping, endJob, type Job, type Lease, listJobs, releaseLease, renewLease, takeLease } from "../executor/jobs/job-store.ts";
import type { Session } from "../executor/session.ts";
import { factsOf, type ShardState } from "./read-shard.ts";
import type { Shard } from "./stream-source.ts";

/** What the table knows of one shard. */
export interface ShardLease {
  readonly jobId: string;
  readonly state: ShardState;
  /** Whether a consumer is reading it. */
  readonly running: boolean;
}

/** Everything that the consumers of one name have written down. */
export interface Board {
  /** Consumers that are alive, this one included. */
  readonly consumers: number;
  readonly leases: ReadonlyMap<string, ShardLease>;
}

/** The leases of one consumer's group: consumers of one name share the shards. */
export interface ShardLeases {
  /** Makes this consumer known, or keeps it so. */
  attend(): Promise<void>;
  leave(): Promise<void>;
  read(): Promise<Board>;
  /** The lease of a shard, at its saved position; undefined if another consumer was faster. */
  take(
    shard: Shard,
    fresh: ShardState["sequence"],
    ended?: number,
  ): Promise<{ readonly lease: Lease; readonly state: ShardState } | undefined>;
  /** Saves a position and gives the shard back. */
  release(lease: Lease, state: ShardState): Promise<void>;
  /** Forgets a shard for good, unless a consumer is reading it. */
  forget(shardLease: ShardLease): Promise<void>;
  /** Runs once for all consumers of the group, ever: false if it has run. Waits while another consumer runs it. */
  begin(once: () => Promise<void>, signal: AbortSignal): Promise<void>;
}

const PATIENCE = 30_000;
const WAIT = 200;
const CONSUMER = "consumer";
const BEGUN = "begun";

const isText = (value: unknown): value is string => typeof value === "string";

/** The key by which a shard is known on the board: its id may occur in two streams. */
export const shardKey = ({ stream, id }: Pick<Shard, "stream" | "id">): string => `${stream} ${id}`;

const stateOf = ({ facts }: Job): ShardState | undefined => {
  const { group, stream, shard, sequence, ended, since } = facts;
  const numberIn = (value: unknown): number => (typeof value === "number" ? value : 0);
  if (!isText(group) || !isText(stream) || !isText(shard)) return undefined;
  return { group, stream, shard, sequence: isText(sequence) ? sequence : "", ended: numberIn(ended), since: numberIn(since) };
};

/** A job that is a shard's lease or a consumer, of a group. */
export interface GroupMember {
  readonly group: string;
  readonly running: boolean;
  readonly isConsumer: boolean;
  /** Of a shard's lease. */
  readonly state: ShardState | undefined;
}

/** What a job is among consumers; undefined for other jobs. */
export const memberOf = (job: Job): GroupMember | undefined => {
  const { kind, facts, running } = job;
  const { group } = facts;
  if (kind !== "stream" || !isText(group)) return undefined;
  return { group, running, isConsumer: isText(facts[CONSUMER]), state: stateOf(job) };
};

/** The leases of a group of consumers, as jobs in the table. */
export const shardLeases = (
  session: Session,
  group: string,
  { id, duration }: { readonly id: string; readonly duration: number },
): ShardLeases => {
  const named = (...parts: readonly string[]): string => ["stream", group, ...parts].join("/");
  const context = () => bookkeeping(session, PATIENCE);
  let own: Lease | undefined;

  const takeJob = async (jobId: string, facts: Job["facts"]): Promise<Lease | undefined> => {
    try {
      return await takeLease(session, { id: jobId, kind: "stream", duration, facts, resumes: false }, context());
    } catch (error) {
      if (isEdgetableError(error, "job.busy")) return undefined;
      throw error;
    }
  };

  const attend = async (): Promise<void> => {
    const facts = { group, [CONSUMER]: id };
    if (own) await renewLease(session, own, facts, context());
    if (!own || own.until === 0) own = await takeJob(named(CONSUMER, id), facts);
  };

  return {
    attend,
    leave: async () => {
      // What cannot be deleted expires, and another consumer deletes it.
      if (own) await endJob(session, own, bookkeeping(session, 2000)).catch(() => undefined);
      own = undefined;
    },
    read: async () => {
      const jobs = (await listJobs(session, context())).filter(({ kind, facts }) => kind === "stream" && facts["group"] === group);
      const leases = new Map<string, ShardLease>();
      const alive = new Set([id]);
      for (const job of jobs) {
        const state = stateOf(job);
        const consumer = job.facts[CONSUMER];
        if (state) leases.set(shardKey({ stream: state.stream, id: state.shard }), { jobId: job.id, state, running: job.running });
        else if (isText(consumer) && job.running) alive.add(consumer);
        else if (isText(consumer) && consumer !== id) {
          const dead = await takeJob(job.id, {});
          if (dead) await endJob(session, dead, context());
        }
      }
      return { consumers: alive.size, leases };
    },
    take: async (shard, fresh, ended = 0) => {
      const { stream, id: shardId } = shard;
      const since = fresh === "latest" ? session.effects.now() : 0;
      const state: ShardState = { group, stream, shard: shardId, sequence: fresh, ended, since };
      const label = stream.slice(stream.lastIndexOf("/") + 1);
      const lease = await takeJob(named(label, shardId), factsOf(state));
      return lease && { lease, state: stateOf(lease.job) ?? state };
    },
    release: (lease, state) => releaseLease(session, lease, factsOf(state)),
    forget: async ({ jobId }) => {
      const lease = await takeJob(jobId, {});
      if (lease) await endJob(session, lease, context());
    },
    begin: async (once, signal) => {
      for (;;) {
        const lease = await takeJob(named(), { group, [BEGUN]: 0 });
        if (!lease) {
          await session.effects.sleep(WAIT, signal);
          continue;
        }
        try {
          if (lease.job.facts[BEGUN] !== 1) {
            await once();
            // A beginning that is not recorded would be made again: what was written since would count as read.
            await renewLease(session, lease, { group, [BEGUN]: 1 }, context());
          }
        } catch (error) {
          await releaseLease(session, lease);
          throw error;
        }
        // It took longer than the lease, and another consumer begins.
        if (lease.until === 0) continue;
        await releaseLease(session, lease);
        return;
      }
    },
  };
};
