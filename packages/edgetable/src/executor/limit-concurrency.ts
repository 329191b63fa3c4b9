/** Runs at most `limit` tasks at a time, in the order in which they were asked for. */
export const limitConcurrency = (limit: number): (<T>(task: () => Promise<T>) => Promise<T>) => {
  let running = 0;
  const waiting: (() => void)[] = [];
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else running--;
  };
  return async (task) => {
    if (running >= limit) await new Promise<void>((enter) => waiting.push(enter));
    else running++;
    try {
      return await task();
    } finally {
      leave();
    }
  };
};
