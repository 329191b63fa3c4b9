import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Key } from "../../transport/operations.ts";
import { bookkeeping } from "../jobs/bookkeeping.ts";
import { giveBack, startHeartbeat } from "../jobs/heartbeat.ts";
import type { JobFacts } from "../jobs/job-item.ts";
import { checkLease, endJob, takeLease, type Lease } from "../jobs/lease.ts";
import { addCosts, Meter, NO_COST, type Cost } from "../call.ts";
import { hexHashOf } from "../../util/hash-text.ts";
import type { Session } from "../session.ts";
import { moveItems, readPlace } from "./move-items.ts";
import { oldPlaces, type OldPlace, type ReshardProgress, type ReshardSettings } from "./resharding.ts";

const REQUEST_DEADLINE = 60_000;
const MOST_BEHIND = 1000;

/** What a resharding did. */
export interface ReshardReport extends ReshardProgress {
  /** Of this run alone. */
  readonly cost: Cost;
}

/** One run, and where it is: a place of the list, and a key in it. */
interface Run {
  readonly session: Session;
  readonly settings: ReshardSettings;
  readonly places: readonly OldPlace[];
  /** Tells the places from those of another model. */
  readonly list: string;
  lease: Lease | undefined;
  at: number;
  start: Key | undefined;
  moved: number;
  seen: number;
  passes: number;
  /** Items moved in this pass. */
  fresh: number;
  cost: Cost;
  /** When the rate allows the next item to be moved. */
  due: number;
}

// Another list of places is another model: the pass then begins anew, which costs reads and does no harm.
// As a hash, for every renewal of the lease writes it, and a list of a thousand places would cost it 20 units.
const nameOfList = (places: readonly OldPlace[]): string =>
  hexHashOf(places.map(({ index, partition }) => `${index.name} ${partition ?? "*"}`).join());

const factsOf = (run: Run): JobFacts => ({
  list: run.list,
  at: run.at,
  start: run.start ? JSON.stringify(run.start) : "",
  moved: run.moved,
  seen: run.seen,
  passes: run.passes,
  fresh: run.fresh,
});

const goOn = (run: Run, facts: JobFacts): void => {
  run.moved = Number(facts["moved"] ?? 0);
  run.seen = Number(facts["seen"] ?? 0);
  run.passes = Number(facts["passes"] ?? 1);
  if (facts["list"] !== run.list) return;
  run.at = Number(facts["at"] ?? 0);
  run.fresh = Number(facts["fresh"] ?? 0);
  run.start = facts["start"] ? (JSON.parse(String(facts["start"])) as Key) : undefined;
};

const progressOf = ({ moved, seen, passes, at, places }: Run): ReshardProgress => ({
  moved,
  seen,
  passes,
  partitions: { done: at, all: places.length },
});

const checkTime = ({ session, settings, lease }: Run): void => {
  if (lease) checkLease(session, lease);
  if (settings.signal?.aborted)
    throw new EdgetableError("execute.aborted", "The resharding was aborted. What was moved stays; begin it again to go on.", {
      cause: settings.signal.reason,
    });
  if (session.effects.now() < settings.deadline) return;
  throw new EdgetableError(
    "execute.timeout",
    "The resharding did not end before its deadline. What was moved stays; begin it again to go on.",
    {
      retryable: true,
    },
  );
};

// Each item that is moved is a write of the table and two of the index. Pages that took long are made up for by a
// second's worth at most; a clock that is set back or forth lets nobody wait for longer, or go faster, than that.
const pace = async (run: Run, moved: number): Promise<void> => {
  const { session, settings } = run;
  const now = session.effects.now();
  const time = (moved / settings.rate) * 1000;
  run.due = Math.min(Math.max(run.due, now - MOST_BEHIND), now) + time;
  if (run.due > now) await session.effects.sleep(run.due - now, settings.signal);
};

const takePage = async (run: Run, place: OldPlace): Promise<void> => {
  const { session, settings, lease } = run;
  checkTime(run);
  const meter = new Meter();
  const deadline = Math.min(settings.deadline, session.effects.now() + REQUEST_DEADLINE);
  const guard = lease && ((): void => checkLease(session, lease));
  const call = { session, context: { meter, signal: settings.signal, deadline, guard } };
  const { Items = [], LastEvaluatedKey } = await readPlace(call, place, run.start);
  const moved = await moveItems(call, place, Items);
  run.cost = addCosts(run.cost, meter.cost);
  run.moved += moved;
  run.fresh += moved;
  run.seen += Items.length;
  run.start = LastEvaluatedKey;
  if (run.start === undefined) run.at++;
  settings.onProgress?.(progressOf(run));
  await pace(run, moved);
};

// What was written before the job began is shown by then. A pass that moved something may have missed
// what came meanwhile: the last one finds nothing.
const passAll = async (run: Run): Promise<void> => {
  const { session, settings, places } = run;
  await session.effects.sleep(settings.indexLag, settings.signal);
  for (;;) {
    for (let place = places[run.at]; place; place = places[run.at]) await takePage(run, place);
    if (run.fresh === 0) return;
    await session.effects.sleep(settings.indexLag, settings.signal);
    Object.assign(run, { at: 0, start: undefined, fresh: 0, passes: run.passes + 1 });
  }
};

const newRun = (session: Session, settings: ReshardSettings, places: readonly OldPlace[]): Run => ({
  session,
  settings,
  places,
  list: nameOfList(places),
  lease: undefined,
  at: 0,
  start: undefined,
  moved: 0,
  seen: 0,
  passes: 1,
  fresh: 0,
  cost: NO_COST,
  due: session.effects.now(),
});

/**
 * Moves items to the shards in which writers put them now. May be cut off and begun again, and run beside
 * writers: each item is changed only if nobody changed it since it was read.
 *
 * @throws {job.busy} while another process is at it
 */
export const runReshard = async (session: Session, settings: ReshardSettings): Promise<ReshardReport> => {
  const run = newRun(session, settings, oldPlaces(session.catalog, settings.index));
  if (run.places.length === 0) return { ...progressOf(run), passes: 0, cost: run.cost };
  const request = { id: settings.job, kind: "reshard", duration: settings.lease, facts: factsOf(run), resumes: false } as const;
  const lease = await takeLease(session, request, { ...bookkeeping(session, REQUEST_DEADLINE), signal: settings.signal });
  run.lease = lease;
  goOn(run, lease.job.facts);
  const heartbeat = startHeartbeat(session, lease, () => factsOf(run));
  try {
    await passAll(run);
    await heartbeat.stop();
    await endJob(session, lease, bookkeeping(session, REQUEST_DEADLINE));
    return { ...progressOf(run), cost: run.cost };
  } catch (error) {
    await heartbeat.stop();
    await giveBack(session, { lease, facts: factsOf(run) });
    throw error;
  }
};
