const watched = new WeakMap<AbortSignal, Set<() => void>>();

const watch = (signal: AbortSignal): Set<() => void> => {
  const callbacks = new Set<() => void>();
  signal.addEventListener("abort", () => {
    for (const callback of callbacks) callback();
  });
  watched.set(signal, callbacks);
  return callbacks;
};

/**
 * Calls back when a signal is aborted, until what it gives is called. A signal has one listener, however many
 * wait for it: Node warns of a leak where there are more than ten, and a walk has 32 requests under way.
 *
 * @param callback must not throw; a function of its own for each call
 */
export const onAbort = (signal: AbortSignal, callback: () => void): (() => void) => {
  const callbacks = watched.get(signal) ?? watch(signal);
  callbacks.add(callback);
  return () => void callbacks.delete(callback);
};
