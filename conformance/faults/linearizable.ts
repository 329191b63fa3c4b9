/**
 * Whether what clients saw of one object can have come about one call after the other, each between
 * its invocation and its response (Wing and Gong's search, with visited states remembered).
 */
export interface Operation {
  readonly invoke: number;
  /** Infinity where no answer ever told. */
  readonly respond: number;
  /** False where it may as well never have happened. */
  readonly certain: boolean;
  /** The state after it; undefined where it cannot have happened in this one. */
  apply(state: string): string | undefined;
}

interface Search {
  readonly operations: readonly Operation[];
  readonly seen: Set<string>;
}

const isDone = (done: bigint, at: number): boolean => ((done >> BigInt(at)) & 1n) === 1n;

/** Whether something that is done was invoked only after this had been answered. */
const isOver = (operations: readonly Operation[], done: bigint, one: Operation): boolean =>
  one.respond !== Infinity && operations.some((other, at) => isDone(done, at) && other.invoke > one.respond);

const search = ({ operations, seen }: Search, done: bigint, state: string): boolean => {
  const id = `${done.toString(36)} ${state}`;
  if (seen.has(id)) return false;
  seen.add(id);
  const left = operations.filter((one, at) => one.certain && !isDone(done, at));
  if (left.length === 0) return true;
  // Whatever comes next was invoked before the first response among those that must still come.
  const latest = Math.min(...left.map(({ respond }) => respond));
  return operations.some((one, at) => {
    if (isDone(done, at) || one.invoke > latest || isOver(operations, done, one)) return false;
    const next = one.apply(state);
    return next !== undefined && search({ operations, seen }, done | (1n << BigInt(at)), next);
  });
};

/** Whether there is an order; operations that are not certain are used where they help. */
export const isLinearizable = (operations: readonly Operation[], initial: string): boolean =>
  search({ operations, seen: new Set() }, 0n, initial);
