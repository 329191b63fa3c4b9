import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * A child process that cannot outlive its parent.
 *
 * Law: however the parent ends (return, signal, uncaught error, `kill -9`), the child is killed. The
 * kernel closes the parent's end of a pipe then, and only then; a shell of 0.6 MB reads the other end
 * and kills at end of file. The shell forks that reader *before* it turns into the child by `exec`, so
 * there is no moment without it, and the child's pid and exit code are the real ones. Windows needs
 * none of this: libuv puts every child into a job object that dies with its parent.
 */
export interface WatchedProcess {
  readonly pid: number;
  /** Settles once the process is gone, with how it ended; never rejects. */
  readonly ended: Promise<Ending>;
  /** What it wrote last to standard error and output, 4 KB at most. */
  output(): string;
  /** Settles when the output contains the text; stays pending when the process ends without it. */
  wrote(text: string): Promise<void>;
  /** Sends a signal; from then on the parent does not end before the process has. */
  kill(signal: NodeJS.Signals): void;
  /** Lets the parent end although the process still runs. */
  unref(): void;
}

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not even be started. */
  readonly error?: Error;
}

const mostOutput = 4096;
const watchdogPipe = 3;

// A line on the pipe sends the reader away: the child is gone and its pid may be another's by now.
// What the child writes, such as a database and its logs, is for this account alone.
const script = `umask 077; (read _ <&${watchdogPipe} || kill -9 $$) >/dev/null 2>&1 & exec "$@" ${watchdogPipe}<&-`;

const start = (path: string, args: readonly string[], input: "ignore" | "pipe"): ChildProcess =>
  process.platform === "win32"
    ? spawn(path, args, { stdio: [input, "pipe", "pipe"], windowsHide: true })
    : // A session of its own: Ctrl-C reaches the parent alone, which may still need the engine to finish.
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

const dismissWatchdog = (pipe: Socket | undefined): void => {
  pipe?.on("error", () => pipe.destroy());
  pipe?.end("\n");
};

/**
 * Starts a program that dies with this process.
 *
 * @param path of the program; its arguments follow
 * @param keepsInput whether its standard input ends with this process. @default false: it has none
 */
export const startWatched = (path: string, args: readonly string[], keepsInput = false): WatchedProcess => {
  const child = start(path, args, keepsInput ? "pipe" : "ignore");
  const pipe = child.stdio[watchdogPipe] as Socket | undefined;
  const ended = new Promise<Ending>((resolve) => {
    child.once("error", (error) => resolve({ code: null, signal: null, error }));
    child.once("close", (code, signal) => resolve({ code, signal }));
    child.once("exit", () => dismissWatchdog(pipe));
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
