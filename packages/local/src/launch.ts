import { EdgetableError } from "edgetable";
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { request } from "node:http";
import { type Socket, connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { EngineOptions } from "./engine-options.ts";

export const host = "127.0.0.1";

/** Where something listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

const freePort = (host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

/** 127.0.0.1, with a port that was just free. */
export const freeAddress = async (): Promise<Address> => ({ host, port: await freePort(host) });

/**
 * An address for the bare engine, which answers every web page: one of the 16 million of loopback, so that no page can find
 * it. macOS has only 127.0.0.1. The port was just free; another process may take it first.
 */
const hiddenAddress = async (): Promise<Address> => {
  const hidden = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
  try {
    return { host: hidden, port: await freePort(hidden) };
  } catch {
    return freeAddress();
  }
};

/** True if something accepts connections at a loopback address. */
export const accepts = (address: Address): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ ...address, timeout: 500 });
    const settle = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
    // If this process was stopped meanwhile, the timeout fires before the connect event, which comes in the next turn.
    socket.once("timeout", () => void setImmediate(settle, false));
  });

// The engine checks neither signature nor date, but wants both headers well formed (docs/engines.md).
const headers = {
  "content-type": "application/x-amz-json-1.0",
  "x-amz-target": "DynamoDB_20120810.ListTables",
  "x-amz-date": "20260101T000000Z",
  authorization: "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0",
};

/** Sends a ListTables and returns the version that the engine states, or "unknown". */
const listTables = (address: Address, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const call = request({ ...address, method: "POST", path: "/", headers, agent: false, signal }, (answer) => {
      answer.resume();
      const version = answer.headers["x-dynoxide-version"] ?? answer.headers.server ?? "unknown";
      if (answer.statusCode === 200) answer.once("end", () => resolve(String(version)));
      else reject(new EdgetableError("local.engineFailed", `The engine answered ListTables with status ${answer.statusCode}.`));
      answer.once("error", reject);
    });
    call.once("error", reject);
    call.end('{"Limit":1}');
  });

/**
 * A child process that cannot outlive its parent.
 *
 * However the parent ends (return, signal, uncaught error, `kill -9`), the child is killed. Only then does the kernel close
 * the parent's end of a pipe; a 0.6 MB shell reads the other end and kills the child at end of file. The shell forks that
 * reader *before* it becomes the child by `exec`, so the child is always watched, and has its own pid and exit code. On
 * Windows, libuv does this with a job object.
 */
export interface WatchedProcess {
  readonly pid: number;
  /** Resolves when the process has ended; never rejects. */
  readonly ended: Promise<Ending>;
  /** The last 4 KB of its standard output and error. */
  output(): string;
  /** Resolves when the output contains the text; stays pending if the process ends without it. */
  wrote(text: string): Promise<void>;
  /** Sends a signal. From then on the parent waits for the process to end. */
  kill(signal: NodeJS.Signals): void;
  /** Lets the parent end while the process runs. */
  unref(): void;
}

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started. */
  readonly error?: Error;
}

const mostOutput = 4096;
const watchdogPipe = 3;

// A line on the pipe ends the reader: the child has ended, and its pid may be reused.
// umask: the child's files, such as a database and its logs, are private to this account.
const script = `umask 077; (read _ <&${watchdogPipe} || kill -9 $$) >/dev/null 2>&1 & exec "$@" ${watchdogPipe}<&-`;

const start = (path: string, args: readonly string[], input: "ignore" | "pipe"): ChildProcess =>
  process.platform === "win32"
    ? spawn(path, args, { stdio: [input, "pipe", "pipe"], windowsHide: true })
    : // In a new session: Ctrl-C reaches only the parent, which may still need the engine.
      spawn("/bin/sh", ["-c", script, "edgetable-engine", path, ...args], { stdio: [input, "pipe", "pipe", "pipe"], detached: true });

const collectOutput = (child: ChildProcess): Pick<WatchedProcess, "output" | "wrote"> => {
  let text = "";
  let waiting: readonly { readonly for: string; readonly resolve: () => void }[] = [];
  const append = (chunk: Buffer): void => {
    text = (text + chunk.toString("utf8")).slice(-mostOutput);
    for (const one of waiting) if (text.includes(one.for)) one.resolve();
    waiting = waiting.filter((one) => !text.includes(one.for));
  };
  child.stderr?.on("data", append);
  child.stdout?.on("data", append);
  const wrote = (wanted: string): Promise<void> =>
    new Promise((resolve) => {
      if (text.includes(wanted)) resolve();
      else waiting = [...waiting, { for: wanted, resolve }];
    });
  return { output: () => text.trim(), wrote };
};

/**
 * Starts a program that ends with this process.
 *
 * @param path of the program; its arguments follow
 * @param keepsInput whether its standard input ends with this process. @default false: it has none
 */
const startWatched = (path: string, args: readonly string[], keepsInput = false): WatchedProcess => {
  const child = start(path, args, keepsInput ? "pipe" : "ignore");
  const pipe = child.stdio[watchdogPipe] as Socket | undefined;
  const ended = new Promise<Ending>((resolve) => {
    child.once("error", (error) => resolve({ code: null, signal: null, error }));
    child.once("close", (code, signal) => resolve({ code, signal }));
    child.once("exit", () => {
      pipe?.on("error", () => pipe.destroy());
      pipe?.end("\n");
    });
  });
  const handles = [child, child.stdin, child.stdout, child.stderr, pipe] as readonly (Socket | ChildProcess | null | undefined)[];
  return {
    pid: child.pid ?? 0,
    ended,
    ...collectOutput(child),
    kill: (signal) => {
      child.ref();
      child.kill(signal);
    },
    unref: () => {
      for (const handle of handles) handle?.unref();
    },
  };
};

/** A program that serves DynamoDB's API. */
export interface Program {
  /** Its name in messages, such as its path. */
  readonly name: string;
  readonly path: string;
  readonly args: (address: Address) => readonly string[];
  /** True if it writes "listening on http://…" once it listens. Otherwise it is polled until it answers. */
  readonly saysWhenReady: boolean;
  /** Time limit of its start, in milliseconds. */
  readonly startTimeout: number;
  /** @default the version that it states */
  readonly version?: string;
  /** @default an address that web pages cannot find */
  readonly chooseAddress?: () => Promise<Address>;
  /** True if its standard input stays open until the parent ends. @default false */
  readonly keepsInput?: boolean;
  /** Called after the start: removes temporary files. */
  readonly cleanUp?: () => Promise<void>;
}

/** An engine process that answers. */
export interface Launched {
  readonly process: WatchedProcess;
  /** The error for its end. */
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

/** Waits for the engine's "listening" line: after a lost race for the port, another engine answers there. */
const answered = async ({ program, process, address }: Starting, signal: AbortSignal): Promise<string> => {
  if (program.saysWhenReady) {
    await process.wrote(`listening on http://${address.host}:${address.port}\n`);
    return listTables(address, signal);
  }
  for (;;) {
    const version = await listTables(address, signal).catch(() => undefined);
    if (version !== undefined) return version;
    await sleep(200, undefined, { signal });
  }
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
  // Not AbortSignal.timeout(): in Deno its timer keeps the process alive until it fires.
  const late = new AbortController();
  const { signal } = late;
  const stop = (): void => late.abort();
  const timer = setTimeout(stop, timeout);
  options.signal?.addEventListener("abort", stop);
  const process = startWatched(program.path, program.args(address), program.keepsInput);
  const starting = { program, process, address };
  try {
    const abort = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    if (signal.aborted) throw signal.reason;
    const first = await Promise.race([answered(starting, signal), process.ended, abort]);
    if (typeof first !== "string") return { ...starting, ending: first };
    process.unref();
    return { process, address, version: program.version ?? first, explainEnd: (ending) => failure(describe(ending), { program, process }) };
  } catch (error) {
    process.kill("SIGKILL");
    await process.ended;
    if (options.signal?.aborted) throw aborted(options.signal);
    if (signal.aborted) throw failure(`did not answer within ${timeout} ms`, { program, process });
    throw failure("did not answer a ListTables request", { program, process, cause: error });
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", stop);
  }
};

/**
 * Starts the process and waits until it answers. Another process may take the chosen port first; then the engine ends with a
 * message, and another port is tried.
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
