import { isEdgetableError } from "../errors/edgetable-error.ts";
import { abortedSleep, onAbort } from "../util/time.ts";
import type { Patience } from "./session.ts";

/** Waits for the result of another call's read, until the own call is aborted. */
const unlessAborted = <T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
  signal === undefined
    ? answer
    : new Promise((resolve, reject) => {
        if (signal.aborted) return reject(abortedSleep(signal.reason));
        const unwatch = onAbort(signal, () => reject(abortedSleep(signal.reason)));
        answer.then(resolve, reject).finally(unwatch);
      });

/** A result that one call reads and other calls of the connection reuse. A failure is not kept. */
export class SharedAnswer<T> {
  #reading: Promise<T> | undefined;

  /**
   * Gives the answer that is known or being read, else reads it. The end of the call that reads it, by its signal, its deadline or
   * its budget, is not the end of those that wait: the next one reads.
   */
  async get(read: () => Promise<T>, { signal }: Patience): Promise<T> {
    for (let other = this.#reading; other; other = this.#reading) {
      try {
        return await unlessAborted(other, signal);
      } catch (error) {
        if (signal?.aborted || !isEdgetableError(error) || !["execute.aborted", "execute.timeout"].includes(error.code)) throw error;
        if (this.#reading === other) this.#reading = undefined;
      }
    }
    const own = read();
    this.#reading = own;
    try {
      return await own;
    } catch (error) {
      if (this.#reading === own) this.#reading = undefined;
      throw error;
    }
  }

  /** The next call reads again. */
  forget(): void {
    this.#reading = undefined;
  }
}
