/** Takes locks on all of the keys at once and resolves, when they are free, to what gives them back. */
export type LockKeys = (keys: readonly string[]) => Promise<() => void>;

/**
 * One writer at a time for each key, first come first served. All keys of a writer queue up in one
 * step, so writers wait for earlier ones only and never for each other.
 */
export const createKeyLocks = (): LockKeys => {
  const last = new Map<string, Promise<void>>();
  return async (keys) => {
    const earlier = keys.map((key) => last.get(key) ?? Promise.resolve());
    let finish = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    for (const key of keys) last.set(key, done);
    await Promise.all(earlier);
    return () => {
      for (const key of keys) if (last.get(key) === done) last.delete(key);
      finish();
    };
  };
};
