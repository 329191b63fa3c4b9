import { AsyncLocalStorage } from "node:async_hooks";
import { EdgetableError, isEdgetableError, type Operation, type Transport } from "edgetable";
import type { SentAttempt } from "@edgetable/studio";

const READS: ReadonlySet<Operation> = new Set<Operation>([
  "GetItem",
  "BatchGetItem",
  "TransactGetItems",
  "Query",
  "Scan",
  "DescribeTable",
  "DescribeTimeToLive",
  "DescribeContinuousBackups",
]);

/** A transport that refuses every write, whatever a model's own code asks for. Closing it leaves the inner one open. */
export const readOnly = (inner: Transport): Transport => ({
  send: async (operation, input, options) => {
    if (READS.has(operation)) return inner.send(operation, input, options);
    throw new EdgetableError("cli.usage", `${operation} was not sent: the studio only reads.`);
  },
  close: () => undefined,
});

interface Answered {
  readonly ConsumedCapacity?: { readonly CapacityUnits?: number } | readonly { readonly CapacityUnits?: number }[];
  readonly Items?: readonly unknown[];
  readonly Count?: number;
  readonly Item?: unknown;
  readonly Responses?: unknown;
}

const unitsOf = ({ ConsumedCapacity: consumed }: Answered): number => {
  const all = consumed === undefined ? [] : Array.isArray(consumed) ? consumed : [consumed];
  return all.reduce((sum: number, one: { readonly CapacityUnits?: number }) => sum + (one.CapacityUnits ?? 0), 0);
};

const itemsOf = ({ Items, Count, Item, Responses }: Answered): number => {
  if (Items) return Items.length;
  if (Item) return 1;
  if (typeof Responses === "object" && Responses !== null)
    return Object.values(Responses).reduce((sum: number, one: unknown) => sum + (Array.isArray(one) ? one.length : 1), 0);
  return Count ?? 0;
};

/** The attempts of one call, and when it began, in milliseconds of `performance.now()`. */
export interface Timeline {
  readonly began: number;
  readonly attempts: SentAttempt[];
}

/** The timeline of the call that a request belongs to: several calls share one connection, as in a program. */
export const timelines: AsyncLocalStorage<Timeline> = new AsyncLocalStorage();

/** A transport that notes each attempt in the timeline of its call. */
export const timed = (inner: Transport): Transport => ({
  send: async (operation, input, options) => {
    const timeline = timelines.getStore();
    if (!timeline) return inner.send(operation, input, options);
    const start = performance.now() - timeline.began;
    const note = (more: Pick<SentAttempt, "readUnits" | "items"> & { readonly error?: string }): void => {
      const { IndexName: index } = input as { readonly IndexName?: string };
      const duration = performance.now() - timeline.began - start;
      timeline.attempts.push({ operation, ...(index === undefined ? {} : { index }), input, start, duration, ...more });
    };
    try {
      const answer = await inner.send(operation, input, options);
      note({ readUnits: unitsOf(answer as Answered), items: itemsOf(answer as Answered) });
      return answer;
    } catch (error) {
      note({ readUnits: 0, items: 0, error: isEdgetableError(error) ? error.code : "error" });
      throw error;
    }
  },
  close: () => inner.close(),
});
