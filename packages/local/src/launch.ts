import { setTimeout as sleep } from "node:timers/promises";
import { EdgetableError } from "edgetable";
import type { EngineOptions } from "./engine-options.ts";
import { hiddenAddress, listTables, type Address } from "./loopback.ts";
import { startWatched, type Ending, type WatchedProcess } from "./watched-process.ts";

/** A program that serves DynamoDB's API. */
export interface Program {
  /** As messages name it, such as its path. */
  readonly name: string;
  readonly path: string;
  readonly args: (address: Address) => readonly string[];
  /** Whether it writes "listening on http://…" once it listens; one that does not is asked until it answers. */
  readonly saysWhenReady: boolean;
  /** Milliseconds that its start may take. */
  readonly startTimeout: number;
  /** @default what it answers itself */
  readonly version?: string;
  /** @default an address that no web page finds */
  readonly chooseAddress?: () => Promise<Address>;
  /** Whether its standard input stays open while the parent lives. @default false */
  readonly keepsInput?: boolean;
  /** Removes what only the start needed; called once it is over. */
  readonly cleanUp?: () => Promise<void>;
}

/** An engine process that answers. */
export interface Launched {
  readonly process: WatchedProcess;
  /** How its end is told, once it has ended. */
  readonly explainEnd: (ending: Ending) => EdgetableError;
  readonly address: Address;
  readonly version: string;
}

const portRaces = 20;

const describe = ({ code, signal, error }: Ending): string => {
  if (error) return `could not be started (${error.message})`;
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
};

const failure = (
  what: string,
  facts: { readonly program: Program; readonly process: WatchedProcess; readonly cause?: unknown },
): EdgetableError => {
  const output = facts.process.output();
  const said = output === "" ? "It wrote nothing." : `Its last lines:\n${output.split("\n").slice(-10).join("\n")}`;
  return new EdgetableError("local.engineFailed", `The engine ${facts.program.name} ${what}. ${said}`, {
    details: { binary: facts.program.path, output },
    cause: facts.cause,
  });
};

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });

const askUntilAnswered = async (address: Address, signal: AbortSignal): Promise<string> => {
  for (;;) {
    const version = await listTables(address, signal).catch(() => undefined);
    if (version !== undefined) return version;
    await sleep(200, undefined, { signal });
  }
};

/** Its own "listening" line, not an answer alone: on a lost race another engine answers on the port. */
const answered = async ({ program, process, address }: Starting, signal: AbortSignal): Promise<string> => {
  if (!program.saysWhenReady) return askUntilAnswered(address, signal);
  await process.wrote(`listening on http://${address.host}:${address.port}\n`);
  return listTables(address, signal);
};

export const aborted = (signal: AbortSignal): EdgetableError =>
  new EdgetableError("execute.aborted", "The start of the engine was aborted.", { cause: signal.reason });

interface Starting {
  readonly program: Program;
  readonly process: WatchedProcess;
  readonly address: Address;
}

interface Ended extends Starting {
  readonly ending: Ending;
}

const attempt = async (program: Program, options: EngineOptions): Promise<Launched | Ended> => {
  const address = await (program.chooseAddress ?? hiddenAddress)();
  const timeout = options.startTimeout ?? program.startTimeout;
  // Not AbortSignal.timeout(): in Deno its timer keeps the process alive until it has run out, long after the start.
  const late = new AbortController();
  const deadline = late.signal;
  const timer = setTimeout(() => late.abort(), timeout);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  const process = startWatched(program.path, program.args(address), program.keepsInput);
  const starting = { program, process, address };
  try {
    const first = await Promise.race([answered(starting, signal), process.ended, rejectOnAbort(signal)]);
    if (typeof first !== "string") return { ...starting, ending: first };
    process.unref();
    return { process, address, version: program.version ?? first, explainEnd: (ending) => failure(describe(ending), { program, process }) };
  } catch (error) {
    process.kill("SIGKILL");
    await process.ended;
    if (options.signal?.aborted) throw aborted(options.signal);
    if (deadline.aborted) throw failure(`did not answer within ${timeout} ms`, { program, process });
    throw failure("did not answer a ListTables request", { program, process, cause: error });
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Starts the process and waits until it answers. A free port can be lost between choosing and taking
 * it; the engine says so when it ends, and another is tried.
 */
export const launch = async (program: Program, options: EngineOptions): Promise<Launched> => {
  try {
    for (let race = 1; ; race++) {
      if (options.signal?.aborted) throw aborted(options.signal);
      const result = await attempt(program, options);
      if ("version" in result) return result;
      if (/already in use|address in use/i.test(result.process.output()) && race < portRaces) continue;
      throw failure(describe(result.ending), result);
    }
  } finally {
    await program.cleanUp?.();
  }
};
