import { EdgetableError } from "edgetable";
import type { EngineOptions } from "./engine-options.ts";
import { freePort, host, listTables } from "./loopback.ts";
import { startWatched, type Ending, type WatchedProcess } from "./watched-process.ts";

/** An engine process that answers. */
export interface Launched {
  readonly process: WatchedProcess;
  /** How its end is told, once it has ended. */
  readonly explainEnd: (ending: Ending) => EdgetableError;
  readonly port: number;
  readonly version: string;
}

const portRaces = 20;
const defaultStartTimeout = 10_000;

const describe = ({ code, signal, error }: Ending): string => {
  if (error) return `could not be started (${error.message})`;
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
};

const failure = (
  what: string,
  facts: { readonly binary: string; readonly process: WatchedProcess; readonly cause?: unknown },
): EdgetableError => {
  const output = facts.process.output();
  const said = output === "" ? "It wrote nothing." : `Its last lines:\n${output.split("\n").slice(-10).join("\n")}`;
  return new EdgetableError("local.engineFailed", `The engine ${facts.binary} ${what}. ${said}`, {
    details: { binary: facts.binary, output },
    cause: facts.cause,
  });
};

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });

/** Its own "listening" line, not an answer alone: on a lost race another engine answers on the port. */
const answered = async (process: WatchedProcess, port: number, signal: AbortSignal): Promise<string> => {
  await process.wrote(`listening on http://${host}:${port}\n`);
  return listTables(port, signal);
};

export const aborted = (signal: AbortSignal): EdgetableError =>
  new EdgetableError("execute.aborted", "The start of the engine was aborted.", { cause: signal.reason });

const explain = (
  error: unknown,
  { binary, process, options }: { readonly binary: string; readonly process: WatchedProcess; readonly options: EngineOptions },
): unknown => {
  if (options.signal?.aborted) return aborted(options.signal);
  if ((error as Error | undefined)?.name === "TimeoutError")
    return failure(`did not answer within ${options.startTimeout ?? defaultStartTimeout} ms`, { binary, process });
  return failure(`did not answer a ListTables request`, { binary, process, cause: error });
};

const attempt = async (binary: string, port: number, options: EngineOptions): Promise<Launched | Ended> => {
  const deadline = AbortSignal.timeout(options.startTimeout ?? defaultStartTimeout);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  const file = options.file === undefined ? [] : ["--db-path", options.file];
  const process = startWatched(binary, ["serve", "--host", host, "--port", String(port), ...file]);
  try {
    const first = await Promise.race([answered(process, port, signal), process.ended, rejectOnAbort(signal)]);
    if (typeof first !== "string") return { process, ending: first };
    process.unref();
    return { process, port, version: first, explainEnd: (ending) => failure(describe(ending), { binary, process }) };
  } catch (error) {
    process.kill("SIGKILL");
    await process.ended;
    throw explain(error, { binary, process, options });
  }
};

interface Ended {
  readonly process: WatchedProcess;
  readonly ending: Ending;
}

const lostPort = ({ process }: Ended): boolean => /already in use|address in use/i.test(process.output());

/**
 * Starts the process and waits until it answers. A free port can be lost between choosing and taking
 * it; the engine says so when it ends, and another is tried.
 */
export const launch = async (binary: string, options: EngineOptions): Promise<Launched> => {
  for (let race = 1; ; race++) {
    if (options.signal?.aborted) throw aborted(options.signal);
    const result = await attempt(binary, options.port ?? (await freePort()), options);
    if ("version" in result) return result;
    if (options.port === undefined && lostPort(result) && race < portRaces) continue;
    throw failure(describe(result.ending), { binary, process: result.process });
  }
};
