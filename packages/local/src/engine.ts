import { createLeanTransport, EdgetableError } from "edgetable";
import { findEngineBinary } from "./binary.ts";
import { findDynamoDBLocal } from "./dynamodb-local.ts";
import { checkOptions, type EngineName, type EngineOptions } from "./engine-options.ts";
import { sweepTables } from "./expired-items.ts";
import { lockFile, type FileLock } from "./file-lock.ts";
import { startGuardServer, type GuardServer } from "./guard-server.ts";
import { aborted, launch, type Launched, type Program } from "./launch.ts";
import { host } from "./loopback.ts";
import type { WatchedProcess } from "./watched-process.ts";

/** A running engine. It never outlives this process, and it does not keep the process alive. */
export interface LocalEngine {
  /** Where clients connect, in any language: such as `http://127.0.0.1:41234`. This process answers there, and corrects the engine. */
  readonly endpoint: string;
  readonly port: number;
  /** The engine itself, with its faults: for benchmarks, and for programs that this process waits for without answering. */
  readonly bareEndpoint: string;
  /** Of the engine's process. */
  readonly pid: number;
  readonly engine: EngineName;
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

const standInFront = async ({ address }: Launched, options: EngineOptions): Promise<GuardServer> => {
  const { port, allowOrigins = [], allowHosts = [], engine = "dynoxide" } = options;
  try {
    return await startGuardServer({
      engine: address,
      port,
      visitors: { origins: allowOrigins, hosts: allowHosts },
      corrects: engine === "dynoxide",
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const what =
      code === "EADDRINUSE"
        ? `The port ${port} is already in use on ${host}: stop what listens there, or give another port`
        : `Port ${port} on ${host} cannot be taken (${message}): give another port, above 1023`;
    throw new EdgetableError("local.engineFailed", `${what}.`, { cause: error, details: { port } });
  }
};

/** Deletes again and again what DynamoDB would have deleted; ends with the engine. */
const keepSweeping = (bareEndpoint: string, every: number, ended: Promise<unknown>): void => {
  const transport = createLeanTransport({ endpoint: bareEndpoint });
  let next: NodeJS.Timeout;
  const sweep = async (): Promise<void> => {
    // What failed now is deleted next time, and an engine that is gone says so itself.
    await sweepTables(transport, Date.now()).catch(() => undefined);
    next = setTimeout(() => void sweep(), every).unref();
  };
  next = setTimeout(() => void sweep(), every).unref();
  void ended.then(() => {
    clearTimeout(next);
    return transport.close();
  });
};

const run = async (launched: Launched, options: EngineOptions, lock: FileLock | undefined): Promise<LocalEngine> => {
  const { process, address, version, explainEnd } = launched;
  let stopped = false;
  let guards: GuardServer | undefined;
  const end = stopper(process, lock);
  const closed = process.ended.then(async (ending) => {
    await guards?.close();
    return ending;
  });
  const stop = async (): Promise<void> => {
    stopped = true;
    await end();
    await closed;
  };
  const ended = closed.then((ending) => (stopped ? undefined : explainEnd(ending)));
  const bareEndpoint = `http://${address.host}:${address.port}`;
  try {
    guards = await standInFront(launched, options);
    const endpoint = `http://${host}:${guards.port}`;
    await lock?.record({ pid: process.pid, bare: address, endpoint });
    stopOnAbort(process, options.signal, stop);
    if (options.sweepEvery !== undefined) keepSweeping(bareEndpoint, options.sweepEvery, ended);
    const { engine = "dynoxide" } = options;
    return { endpoint, port: guards.port, bareEndpoint, pid: process.pid, engine, version, ended, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const dynoxide = ({ file, binary = findEngineBinary().path }: EngineOptions): Program => ({
  name: binary,
  path: binary,
  args: ({ host, port }) => ["serve", "--host", host, "--port", String(port), ...(file === undefined ? [] : ["--db-path", file])],
  saysWhenReady: true,
  startTimeout: 10_000,
});

/**
 * Starts an engine on 127.0.0.1 and waits until it answers a request (about 20 ms).
 *
 * @param options where its data is kept, who may connect, and when it ends. @default in memory, on a free port
 * @throws {plan.invalidOption} when an option is out of its range, or two exclude each other.
 * @throws {local.engineNotFound} when no binary is installed; for DynamoDB Local, when neither Java nor Docker runs it.
 * @throws {local.engineFailed} when it dies, does not answer in time, its port is taken, or another
 * engine uses the file; the message carries its last lines.
 * @throws {execute.aborted} when the signal ends the start.
 * @example
 * const engine = await startEngine({ file: ".edgetable/dev.db" });
 * const db = education.connect({ endpoint: engine.endpoint });
 * await engine.stop();
 */
export const startEngine = async (options: EngineOptions = {}): Promise<LocalEngine> => {
  checkOptions(options);
  const program = options.engine === "dynamodb-local" ? await findDynamoDBLocal(options) : dynoxide(options);
  const lock = options.file === undefined ? undefined : await lockFile(options.file);
  try {
    return await run(await launch(program, options), options, lock);
  } catch (error) {
    await lock?.release();
    throw error;
  }
};
