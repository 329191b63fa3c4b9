import type { Random } from "@edgetable/testing";
import type { Transport } from "edgetable";
import { createSession, type Session, systemEffects } from "../../packages/edgetable/src/executor/session.ts";
import { maintainFacts, type TimedRecord } from "../../packages/edgetable/src/streams/maintain-facts.ts";

/** How records are delivered, and what is broken about it on purpose. */
export interface Delivery {
  readonly random: Random;
  readonly catalog: Session["catalog"];
  readonly transport: Transport;
  /** Takes the records that are new. */
  take(): Promise<readonly TimedRecord[]>;
  /** Settles when the last user has written. */
  readonly users: Promise<unknown>;
  /** Whether a record reaches the processors at all. */
  readonly reaches?: (record: TimedRecord) => boolean;
  /** Whether half of the processors are killed at once, and what they were given is lost. */
  readonly forgetsKilled?: boolean;
}

const PROCESSORS = 4;
/** Milliseconds after which a history is taken to go on for ever. */
const LONGEST = 30_000;
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Sends through another transport: some requests late, and none any more after the process is killed. */
const mortal = (transport: Transport, random: Random, requests: number): { readonly transport: Transport; isDead(): boolean } => {
  let left = requests;
  const send: Transport["send"] = async (operation, input, options) => {
    if (random() < 0.2) await pause(random() * (random() < 0.1 ? 150 : 8));
    if (left-- <= 0) throw new Error("killed");
    const output = await transport.send(operation, input, options);
    // Killed between the request and its answer.
    if (left <= 0) throw new Error("killed");
    return output;
  };
  return { transport: { ...transport, send }, isDead: () => left <= 0 };
};

/**
 * Delivers every record at least once to several processors at the same time: in random batches and any order, some again
 * and again, some late. Some processors are killed between two requests, and what they were given is delivered again. Ends
 * when the processors' own writes bring nothing new. Gives every record, and whether it ended.
 */
export const deliver = async (delivery: Delivery): Promise<{ readonly records: readonly TimedRecord[]; readonly ended: boolean }> => {
  const { random, catalog, reaches = () => true } = delivery;
  const all: TimedRecord[] = [];
  const waiting: TimedRecord[] = [];
  const below = (end: number): number => Math.floor(random() * end);
  let [busy, isOver, hasNews] = [0, false, true];
  const over = (): void => void (isOver = true);
  delivery.users.then(over, over);
  const effects = { ...systemEffects, sleep: (time: number, signal?: AbortSignal) => systemEffects.sleep(time / 20, signal) };

  const process = async (): Promise<void> => {
    const batch: TimedRecord[] = [];
    for (let size = 1 + below(12); size > 0 && waiting.length > 0; size--) batch.push(...waiting.splice(below(waiting.length), 1));
    if (batch.length === 0) return pause(2);
    for (let more = below(3); more > 0; more--) batch.splice(below(batch.length), 0, all[below(all.length)] as TimedRecord);
    busy++;
    const requests = delivery.forgetsKilled ? 1 : 1 + below(12);
    const isKilled = random() < (delivery.forgetsKilled ? 0.5 : 0.15);
    const { transport, isDead } = mortal(delivery.transport, random, isKilled ? requests : Infinity);
    const handle = maintainFacts(createSession({ catalog, transport, effects }), { indexLag: 0 });
    // A read that fails rejects, and all of the batch is handed in again.
    const failed = await (handle ? handle(batch) : Promise.resolve([])).catch(() => batch.map((record) => ({ record })));
    if (!isDead()) waiting.push(...failed.map(({ record }) => record));
    else if (!delivery.forgetsKilled) waiting.push(...batch);
    busy--;
  };

  const started = Date.now();
  const isQuiet = (): boolean => isOver && !hasNews && waiting.length === 0 && busy === 0;
  const isDone = (): boolean => isQuiet() || Date.now() - started > LONGEST;
  const pump = async (): Promise<void> => {
    while (!isDone()) {
      const [wasOver, wasBusy] = [isOver, busy];
      const news = (await delivery.take()).filter(reaches);
      all.push(...news);
      waiting.push(...news);
      // Nothing can come if everybody was at rest before the records were taken.
      hasNews = news.length > 0 || !wasOver || wasBusy > 0;
      await pause(3);
    }
  };
  const processor = async (): Promise<void> => {
    while (!isDone()) {
      if (random() < 0.3) await pause(random() * 20);
      await process();
    }
  };
  await Promise.all([pump(), ...Array.from({ length: PROCESSORS }, processor)]);
  return { records: all, ended: isQuiet() };
};
