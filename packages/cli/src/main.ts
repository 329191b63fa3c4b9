import { readFileSync } from "node:fs";
import { CommanderError } from "commander";
import { commands } from "./commands/index.ts";
import { exitCode, exitCodeOf, type ExitCode } from "./exit-codes.ts";
import { failureOf, usageError } from "./failure.ts";
import { processIo, type Io } from "./io.ts";
import { shielded } from "./output/visible.ts";
import { createProgram, type Outcome } from "./program.ts";
import { reportFailure } from "./report-failure.ts";
import { unwritable } from "./write-whole.ts";

const version = (): string =>
  (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string }).version;

const sentence = (message: string): string => {
  const text = message
    .replace(/^error: /, "")
    .replaceAll("'", '"')
    .replace(/\n\((.*)\)$/s, ". $1");
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/[.?]?$/, (end) => end || ".")}`;
};

/** What was wrong, and for a missing argument how the command is used. */
const wrongUsage = (error: CommanderError & { readonly usage?: string }): string =>
  error.code === "commander.missingArgument" ? `${sentence(error.message)} Usage: ${error.usage}` : sentence(error.message);

const codeOf = (error: unknown, io: Io, json: boolean): ExitCode => {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCode.ok;
    // A command without its subcommand prints its help.
    if (error.code !== "commander.help") reportFailure(usageError(wrongUsage(error)), io, json);
    return exitCode.usage;
  }
  if (io.signal.aborted) return exitCode.interrupted;
  reportFailure(error, io, json);
  return exitCodeOf(failureOf(error).code);
};

/**
 * Runs the command line.
 *
 * @param argv the arguments, without the program's own name
 * @returns the exit code; never throws
 */
export const main = async (argv: readonly string[], bare: Io): Promise<ExitCode> => {
  const io = shielded(bare);
  const outcome: Outcome = { code: exitCode.ok };
  try {
    await createProgram(commands, { io, outcome, version: version() }).parseAsync([...argv], { from: "user" });
    return io.signal.aborted && outcome.code !== exitCode.ok ? exitCode.interrupted : outcome.code;
  } catch (error) {
    return codeOf(error, io, argv.includes("--json"));
  }
};

/** Runs the command line in this process: Ctrl-C once ends tidily, twice at once. */
export const runProcess = async (): Promise<void> => {
  const argv = process.argv.slice(2);
  const controller = new AbortController();
  const io = processIo(controller.signal);
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(exitCode.interrupted);
    controller.abort();
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  // The reader of a pipe has gone (`| head`): what is left to say interests nobody.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCode.ok);
    reportFailure(unwritable("Standard output", error), shielded(io), argv.includes("--json"));
    process.exit(exitCode.output);
  });
  // Nor does it stop the work: a load goes on although nobody reads how far it is.
  process.stderr.on("error", () => undefined);
  process.exitCode = await main(argv, io);
  process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
};
