import { EdgetableError } from "../../errors/edgetable-error.ts";
import { onAbort } from "../../util/time.ts";

/** How a load ends by its signal. */
export const abortedLoad = (signal: AbortSignal): EdgetableError =>
  new EdgetableError("execute.aborted", "The load was aborted.", { cause: signal.reason });

// A race with one promise for all rows would keep a reaction of each row for as long as the load takes.
const nextOf = <T>(iterator: AsyncIterator<T>, signal: AbortSignal): Promise<IteratorResult<T>> =>
  new Promise((resolve, reject) => {
    const unwatch = onAbort(signal, () => reject(abortedLoad(signal)));
    void iterator
      .next()
      .then(resolve, reject)
      .finally(() => unwatch());
    if (signal.aborted) reject(abortedLoad(signal));
  });

/**
 * The rows of a source; the signal ends them also while the source keeps silent.
 *
 * @throws {execute.aborted} when the signal is aborted
 */
export async function* readSource<T>(rows: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = rows[Symbol.asyncIterator]();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await nextOf(iterator, signal);
      ended = done ?? false;
      if (done) return;
      yield value;
    }
  } finally {
    // A source that keeps silent answers a request to close no sooner than the next row.
    const closed = ended ? undefined : iterator.return?.();
    if (signal.aborted) closed?.catch(() => undefined);
    else await closed;
  }
}
