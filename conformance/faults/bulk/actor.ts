import { isEdgetableError } from "edgetable";
import type { Client, Clients } from "../clients.ts";
import type { CallRecord } from "../record.ts";
import type { BulkDb } from "./model.ts";

/** Who performs a command; `next` numbers what is written, so that no two writes are alike. */
export interface Actor {
  readonly client: Client<BulkDb>;
  readonly clock: Clients["clock"];
  readonly next: () => number;
}

/** What became of a command. */
export interface Made extends Pick<CallRecord, "writes" | "observations" | "error"> {
  /** Errors that an outcome or a report named, and those of tries before the last. */
  readonly named: readonly unknown[];
  /** The name of the job, of a load that has one. */
  readonly job?: string;
}

/** For jobs: the lease is short, so that storms outlast it. */
export const jobOptions = { indexLag: 500, lease: 2_000 } as const;
const TRIES = 3;

/** What became of a command, where it is not nothing. */
export const settled = (made: Partial<Made>): Made => ({ writes: [], observations: [], named: [], error: undefined, ...made });

/** What a call that may be made again came to. */
export interface Persisted<Value> {
  readonly value: Value | undefined;
  /** Of the tries that failed. */
  readonly errors: readonly unknown[];
}

/** Makes a call again where its error says that it may help, a few times. */
export const persist = async <Value>({ clock }: Actor, call: () => Promise<Value>, most = TRIES): Promise<Persisted<Value>> => {
  const errors: unknown[] = [];
  for (let tries = 0; tries < most; tries++) {
    if (tries > 0) await clock.sleep(jobOptions.lease + 100);
    try {
      return { value: await call(), errors };
    } catch (error) {
      errors.push(error);
      if (!isEdgetableError(error) || !error.retryable) break;
    }
  }
  return { value: undefined, errors };
};
