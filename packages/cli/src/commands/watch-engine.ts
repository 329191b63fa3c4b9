import { statSync } from "node:fs";
import type { LocalEngine } from "@edgetable/local";
import { EdgetableError } from "edgetable";

const often = 500;

/** What a file is, whatever its path; undefined where there is none. */
const identity = (file: string): string | undefined => {
  const state = statSync(file, { throwIfNoEntry: false });
  return state && `${state.dev} ${state.ino}`;
};

const gone = (file: string): EdgetableError =>
  new EdgetableError(
    "local.engineFailed",
    `${file} is gone, or another file is in its place: what was written is lost with it. Start again, and load the data again.`,
    { details: { file } },
  );

/**
 * Settles when the person has had enough. The engine alone does not keep this process alive, and a database whose
 * file is taken away goes on answering as if nothing had happened.
 *
 * @throws {local.engineFailed} when the engine ends, or its file is gone
 */
export const untilInterrupted = (engine: LocalEngine, file: string | undefined, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const before = file === undefined ? undefined : identity(file);
    const look = (): void => {
      if (file !== undefined && identity(file) !== before) end(gone(file));
    };
    const awake = setInterval(look, often);
    const end = (failure: EdgetableError | undefined): void => {
      clearInterval(awake);
      signal.removeEventListener("abort", enough);
      if (failure) reject(failure);
      else resolve();
    };
    const enough = (): void => end(undefined);
    if (signal.aborted) return enough();
    signal.addEventListener("abort", enough, { once: true });
    void engine.ended.then(end);
  });
