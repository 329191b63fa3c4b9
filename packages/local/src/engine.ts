import { createLeanTransport, EdgetableError } from "edgetable";
import { findEngineBinary } from "./binary.ts";
import { findDynamoDBLocal } from "./dynamodb-local.ts";
import { checkOptions, type EngineName, type EngineOptions } from "./engine-options.ts";
import { sweepTables } from "./expired-items.ts";
import { lockFile, type FileLock } from "./file-lock.ts";
import { startGuardServer, type GuardServer } from "./guard-server.ts";
import { aborted, host, launch, type Launched, type Program } from "./launch.ts";

/** A running engine. It never outlives this process, and it does not keep the process alive. */
export interface LocalEngine {
  /** The URL for clients in any language, such as `http://127.0.0.1:41234`. This process serves it and corrects the engine. */
  readonly endpoint: string;
  readonly port: number;
  /** The engine itself, with its faults: for benchmarks, and while this process is blocked. */
  readonly bareEndpoint: string;
  /** Of the engine's process. */
  readonly pid: number;
  readonly engine: EngineName;
  /** Such as `1.2.1`. */
  readonly version: string;
  /** Resolves when the engine has ended: with an error, or with undefined after `stop()` or the signal. */
  readonly ended: Promise<EdgetableError | undefined>;
  /** Stops the engine and waits until it has ended. A database file is complete then. May be called again. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const longestStop = 2_000;

const startGuards = async ({ address }: Launched, options: EngineOptions): Promise<GuardServer> => {
  const { port, allowOrigins = [], allowHosts = [], engine = "dynoxide" } = options;
  try {
    const visitors = { origins: allowOrigins, hosts: allowHosts };
    return await startGuardServer({ engine: address, port, visitors, corrects: engine === "dynoxide" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const what =
      code === "EADDRINUSE"
        ? `The port ${port} is already in use on ${host}: stop what listens there, or give another port`
        : `Port ${port} on ${host} cannot be taken (${message}): give another port, above 1023`;
    throw new EdgetableError("local.engineFailed", `${what}.`, { cause: error, details: { port } });
  }
};

/** Deletes expired items at intervals, as DynamoDB does, until the engine ends. */
const keepSweeping = (endpoint: string, every: number, ended: Promise<unknown>): void => {
  const transport = createLeanTransport({ endpoint });
  let next: NodeJS.Timeout;
  const sweep = async (): Promise<void> => {
    // The next sweep deletes what this one could not. The end of the engine is reported elsewhere.
    await sweepTables(transport, Date.now()).catch(() => undefined);
    next = setTimeout(() => void sweep(), every).unref();
  };
  next = setTimeout(() => void sweep(), every).unref();
  void ended.then(() => {
    clearTimeout(next);
    return transport.close();
  });
};

const openEngine = async (launched: Launched, options: EngineOptions, lock: FileLock | undefined): Promise<LocalEngine> => {
  const { process, address, version, explainEnd } = launched;
  const { engine = "dynoxide", signal, sweepEvery } = options;
  let stopped = false;
  let guards: GuardServer | undefined;
  const released = process.ended.then(() => lock?.release());
  const closed = process.ended.then(async (ending) => {
    await guards?.close();
    return ending;
  });
  const ended = closed.then((ending) => (stopped ? undefined : explainEnd(ending)));
  const stop = async (): Promise<void> => {
    stopped = true;
    // On SIGTERM, the engine writes its log into the database file. In memory there is nothing to write.
    process.kill(lock ? "SIGTERM" : "SIGKILL");
    const force = setTimeout(() => process.kill("SIGKILL"), longestStop);
    await process.ended;
    clearTimeout(force);
    await released;
    await closed;
  };
  const bareEndpoint = `http://${address.host}:${address.port}`;
  try {
    guards = await startGuards(launched, options);
    const endpoint = `http://${host}:${guards.port}`;
    await lock?.record({ pid: process.pid, bare: address, endpoint });
    if (signal?.aborted) throw aborted(signal);
    const abort = (): void => void stop();
    signal?.addEventListener("abort", abort, { once: true });
    // One signal may outlive many engines.
    void process.ended.then(() => signal?.removeEventListener("abort", abort));
    if (sweepEvery !== undefined) keepSweeping(endpoint, sweepEvery, ended);
    return { endpoint, port: guards.port, bareEndpoint, pid: process.pid, engine, version, ended, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const dynoxide = ({ file, binary = findEngineBinary().path }: EngineOptions): Program => ({
  name: binary,
  path: binary,
  args: ({ host: hostname, port }) => [
    "serve",
    "--host",
    hostname,
    "--port",
    String(port),
    ...(file === undefined ? [] : ["--db-path", file]),
  ],
  saysWhenReady: true,
  startTimeout: 10_000,
});

/**
 * Starts an engine on 127.0.0.1 and waits until it answers a request (about 20 ms).
 *
 * @param options where its data is kept, who may connect, and when it ends. @default in memory, on a free port
 * @throws {plan.invalidOption} if an option is out of range, or two options exclude each other
 * @throws {local.engineNotFound} if no binary is installed; for DynamoDB Local, if neither Java nor Docker can run it
 * @throws {local.engineFailed} if it dies, does not answer in time, its port is taken, or another engine uses the file; the
 * message has its last lines
 * @throws {execute.aborted} if the signal aborts the start
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
    return await openEngine(await launch(program, options), options, lock);
  } catch (error) {
    await lock?.release();
    throw error;
  }
};
