import type { EdgetableError } from "edgetable";
import { findEngineBinary } from "./binary.ts";
import { checkOptions, type EngineOptions } from "./engine-options.ts";
import { lockFile, type FileLock } from "./file-lock.ts";
import { aborted, launch, type Launched } from "./launch.ts";
import { host } from "./loopback.ts";
import type { WatchedProcess } from "./watched-process.ts";

/** A running engine. It never outlives this process, and it does not keep the process alive. */
export interface LocalEngine {
  /** Such as `http://127.0.0.1:41234`. */
  readonly endpoint: string;
  readonly port: number;
  readonly pid: number;
  /** Such as `1.2.1`. */
  readonly version: string;
  /** Settles once the engine is gone: with how that came, or with nothing where `stop()` or the signal ended it. */
  readonly ended: Promise<EdgetableError | undefined>;
  /** Stops the engine and waits until it is gone; again is fine. A database file is complete then. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const longestStop = 2_000;

const stopper = (process: WatchedProcess, lock: FileLock | undefined): (() => Promise<void>) => {
  const released = process.ended.then(() => lock?.release());
  return async () => {
    // A terminated engine folds its log into the file; memory has nothing to fold.
    process.kill(lock ? "SIGTERM" : "SIGKILL");
    const force = setTimeout(() => process.kill("SIGKILL"), longestStop);
    await process.ended;
    clearTimeout(force);
    await released;
  };
};

/** @throws {execute.aborted} when it is too late to listen. */
const stopOnAbort = (process: WatchedProcess, signal: AbortSignal | undefined, stop: () => Promise<void>): void => {
  if (!signal) return;
  if (signal.aborted) throw aborted(signal);
  const end = (): void => void stop();
  signal.addEventListener("abort", end, { once: true });
  // A signal may outlive many engines.
  void process.ended.then(() => signal.removeEventListener("abort", end));
};

const run = async (launched: Launched, options: EngineOptions, lock: FileLock | undefined): Promise<LocalEngine> => {
  const { process, port, version, explainEnd } = launched;
  let stopped = false;
  const end = stopper(process, lock);
  const stop = (): Promise<void> => {
    stopped = true;
    return end();
  };
  const ended = process.ended.then((ending) => (stopped ? undefined : explainEnd(ending)));
  try {
    await lock?.record({ pid: process.pid, port });
    stopOnAbort(process, options.signal, stop);
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint: `http://${host}:${port}`, port, pid: process.pid, version, ended, stop, [Symbol.asyncDispose]: stop };
};

/**
 * Starts the embedded engine on 127.0.0.1 and waits until it answers a request (about 15 ms).
 *
 * @param options where its data is kept, and when it ends. @default in memory, on a free port
 * @throws {plan.invalidOption} when a number is out of its range or the file has no name.
 * @throws {local.engineNotFound} when no binary is installed.
 * @throws {local.engineFailed} when it dies, does not answer in time, its port is taken, or another
 * engine uses the file; the message carries its last lines.
 * @throws {execute.aborted} when the signal ends the start.
 * @example
 * const engine = await startEngine({ file: ".edgetable/dev.db" });
 * const db = education.connect({ transport: createLocalTransport(engine) });
 * await engine.stop();
 */
export const startEngine = async (options: EngineOptions = {}): Promise<LocalEngine> => {
  checkOptions(options);
  const binary = options.binary ?? findEngineBinary().path;
  const lock = options.file === undefined ? undefined : await lockFile(options.file);
  try {
    return await run(await launch(binary, options), options, lock);
  } catch (error) {
    await lock?.release();
    throw error;
  }
};
