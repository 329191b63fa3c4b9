import type { Db } from "../client/db.ts";
import { driverOf } from "../client/driver.ts";
import type { Edges, Nodes, Parts } from "../client/graph-types.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Session } from "../executor/session.ts";
import { checkOptions, checkSignal, listOf, type OptionChecks } from "../util/check-options.ts";
import { abortedSleep } from "../util/time.ts";
import { callHandler, describeError } from "./call-handler.ts";
import { type DeadLetter, deleteLetter, getLetter, letterPages } from "./dead-letters.ts";
import { FACTS_HANDLER, readHandlers, type StreamHandlers } from "./handlers.ts";
import { maintainFacts } from "./maintain-facts.ts";

const PAGE = 100;

/** Which dead letters are listed. */
export interface ListDeadLettersOptions {
  /** At most so many, 1 to 1,000. @default 100 */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

const idsOf = (ids: readonly string[]): readonly string[] => listOf(ids, "ids of dead letters");

/**
 * The records that were put aside, in the order of their changes. One Query of the table, for each megabyte of images.
 *
 * @throws {plan.unsupported} where the table's key has no text that keeps dead letters together
 */
export const listDeadLetters = async (db: object, options: ListDeadLettersOptions = {}): Promise<readonly DeadLetter[]> => {
  const { session } = driverOf(db);
  const { limit = PAGE, signal } = checkOptions<ListDeadLettersOptions>(options, { limit: [1, 1000], signal: checkSignal });
  const letters: DeadLetter[] = [];
  for await (const page of letterPages(session, limit, signal)) {
    letters.push(...page);
    if (letters.length >= limit) break;
  }
  return letters.slice(0, limit);
};

/**
 * Deletes dead letters without replaying them. One write for each.
 *
 * @returns how many of them there were
 */
export const discardDeadLetters = async (db: object, options: { readonly ids: readonly string[] }): Promise<number> => {
  const { session } = driverOf(db);
  const { ids = idsOf(undefined as never) } = checkOptions<{ readonly ids?: readonly string[] }>(options ?? {}, { ids: idsOf });
  let discarded = 0;
  for (const id of idsOf(ids)) if (await deleteLetter(session, id)) discarded++;
  return discarded;
};

/** Which dead letters are replayed, and how. */
export interface ReplayOptions {
  /** The letters' ids. @default all */
  readonly ids?: readonly string[];
  /** Milliseconds for one call of a handler, 1 to 2,147,483,647. @default 30,000 */
  readonly timeout?: number;
  /** Calls of a handler that fails, 1 to 100. @default 1 */
  readonly attempts?: number;
  readonly signal?: AbortSignal;
}

/** What a replay did. */
export interface ReplayReport {
  readonly replayed: number;
  /** The letters that stay, with the reason. */
  readonly failed: readonly { readonly id: string; readonly error: { readonly code: string; readonly message: string } }[];
}

const checks: OptionChecks<ReplayOptions> = { ids: idsOf, timeout: [1, 2_147_483_647], attempts: [1, 100], signal: checkSignal };

async function* chosenLetters(session: Session, ids: readonly string[] | undefined, signal: AbortSignal | undefined) {
  if (!ids) return yield* letterPages(session, PAGE, signal);
  for (const id of ids) yield [(await getLetter(session, id, signal)) ?? id];
}

const bySequence = (one: DeadLetter | string, other: DeadLetter | string): number => {
  if (typeof one === "string" || typeof other === "string") return 0;
  const [a, b] = [one.record, other.record];
  if (a.time !== b.time || a.sequence === undefined || b.sequence === undefined) return a.time - b.time;
  return Number(BigInt(a.sequence) - BigInt(b.sequence));
};

const refusal = (message: string, id: string): EdgetableError => new EdgetableError("stream.notReplayable", message, { details: { id } });

/**
 * Hands dead letters to the handlers that failed, one after the other in the order of their changes, and deletes those that
 * succeed. Their events say `replayed: true`: the row may have changed since. Derived attributes and copies are brought up
 * to date from what is stored.
 *
 * @param handlers those of `createStreamHandler` or of the consumer, under the same names
 * @throws {execute.aborted}
 * @throws {plan.unsupported} without `ids`, where the table's key has no text that keeps dead letters together
 */
export const replayDeadLetters = async <N extends Nodes, E extends Edges, P extends Parts>(
  db: Db<N, E, P>,
  handlers: StreamHandlers<NoInfer<N>, NoInfer<E>, NoInfer<P>>,
  options: ReplayOptions = {},
): Promise<ReplayReport> => {
  const { session } = driverOf(db);
  const { ids, signal, timeout = 30_000, attempts = 1 } = checkOptions(options, checks);
  const named = new Map(readHandlers(session.catalog, handlers).map((handler) => [handler.name, handler]));
  const keepFacts = maintainFacts(session);

  const replay = async ({ id, handler: name, record, complete }: DeadLetter): Promise<unknown> => {
    if (!complete)
      throw refusal(
        `The letter "${id}" lacks its images, which were too large. Look at its item, call refreshFacts(db) if it belongs to the facts, and discard it.`,
        id,
      );
    if (name === FACTS_HANDLER) {
      const [failure] = (await keepFacts?.([record], { signal })) ?? [];
      if (failure) throw failure.error;
      return;
    }
    const handler = named.get(name);
    if (!handler)
      throw refusal(
        `The letter "${id}" belongs to the handler "${name}", which was not passed. Passed: ${[...named.keys()].join(", ") || "none"}.`,
        id,
      );
    const failure = await callHandler(session, handler, { record, replayed: true }, { timeout, attempts, signal });
    if (failure) throw failure.error;
  };

  let replayed = 0;
  const failed: ReplayReport["failed"][number][] = [];
  for await (const page of chosenLetters(session, ids, signal))
    for (const letter of page.toSorted(bySequence)) {
      const id = typeof letter === "string" ? letter : letter.id;
      if (signal?.aborted) throw abortedSleep(signal.reason);
      try {
        if (typeof letter === "string") throw refusal(`There is no dead letter "${id}": it was replayed, discarded or has expired.`, id);
        await replay(letter);
        await deleteLetter(session, id);
        replayed++;
      } catch (error) {
        failed.push({ id, error: describeError(error) });
      }
    }
  return { replayed, failed };
};
