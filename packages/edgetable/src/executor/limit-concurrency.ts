/** Lets at most so many in at a time, in the order in which they asked. */
export interface Gate {
  /** A promise where one has to wait, else nothing: most requests need not. */
  enter(): Promise<void> | undefined;
  leave(): void;
}

/** A gate for at most `limit` at a time. */
export const limitConcurrency = (limit: number): Gate => {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    enter: () => {
      if (running >= limit) return new Promise<void>((enter) => waiting.push(enter));
      running++;
      return undefined;
    },
    leave: () => {
      const next = waiting.shift();
      if (next) next();
      else running--;
    },
  };
};
