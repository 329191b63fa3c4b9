import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CommanderError } from "commander";
import { EdgetableError } from "edgetable";
import { commands } from "./commands/index.ts";
import { exitCode, exitCodeOf, type ExitCode } from "./exit-codes.ts";
import { failureOf, usageError, type Failure } from "./failure.ts";
import { processIo, ReaderGone, unwritable, type Io } from "./io.ts";
import { toJson } from "./output/json.ts";
import { shielded, styleOf, wrap } from "./output/terminal.ts";
import { inFlags } from "./text/in-flags.ts";
import { createProgram, type Outcome } from "./program.ts";

/**
 * Command-line remedies, where the library's message refers to code. The first entry whose words match applies, if the
 * command has the options that it names.
 */
const mends: readonly (readonly [code: string, words: RegExp, mend: string])[] = [
  ["execute.connection", /./, "Use --endpoint to connect to another endpoint."],
  ["execute.tableNotFound", /./, "Use --endpoint, --region and --profile to choose where to look."],
  ["execute.expiredCredentials", /./, "Use --profile to choose other credentials."],
  [
    "execute.credentials",
    /./,
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or choose a profile with --profile. For a local engine, pass --endpoint.",
  ],
  ["execute.accessDenied", /./, "Use --profile to choose other credentials."],
  ["grid.invalidCsv", /tell the parser so/, "Use --delimiter to name what separates the columns."],
  ["grid.invalidCsv", /map one with columns/, "Use --columns to map one."],
  ["grid.unfitRows", /unfit: "skip"/, "Use --skip-unfit to leave these rows out, and --dry-run to list them."],
  ["migrate.duplicates", /./, "Use --json to list the first 100, each with the other node."],
  ["migrate.missingSource", /./, "Use --json to list the first 100."],
  ["migrate.invalidKey", /./, "Use --json to list the first 100."],
  ["migrate.notConvertible", /items in/, "Use --json to list the first 100."],
  ["migrate.uncounted", /./, "Use --json to list the first 100."],
  ["analytics.lake", /cannot be read/, "On the command line: edgetable batch extract."],
  ["invariant", /./, "This is a bug in edgetable. Please report it with the output under EDGETABLE_DEBUG=1."],
  ["request.unsupportedValue", /Give a Date/, "On the command line, write all of it as ISO 8601: 2026-05-01, or 2026-05-01T09:30:00Z."],
  ["plan.invalidOption", /^No AWS region/, "On the command line, pass --region NAME, or --endpoint URL for a local engine."],
  ["plan.invalidOption", /allowInsecure/, "On the command line, pass --allow-insecure."],
  ["plan.notConsistent", /unordered\(\)/, "On the command line, omit --consistent or add --unordered."],
  ["plan.noIndex", /using\(/, "On the command line, pass --using INDEX."],
];

const describe = ({ message, code, docs }: Failure, mend: string | undefined, io: Io): string => {
  const style = styleOf(io.err, io.env);
  const width = io.err.columns ?? Number.POSITIVE_INFINITY;
  const lines = [`${style.red("error:")} ${wrap(`error: ${message}`, width).join("\n").slice("error: ".length)}`];
  if (mend !== undefined) for (const line of wrap(mend, width - 2)) lines.push(`  ${line}`);
  lines.push(style.dim(docs === undefined ? `  ${code}` : `  ${code} · ${docs}`));
  return `${lines.join("\n")}\n`;
};

/** Prints an error: message, remedy, code and documentation link. Prints the stack only under EDGETABLE_DEBUG. */
const reportFailure = (
  error: unknown,
  io: Io,
  { json, options = [] }: { readonly json: boolean; readonly options?: readonly string[] },
): void => {
  const failure = failureOf(error);
  const { code, docs, details } = failure;
  const message = code.startsWith("migrate.") ? inFlags(failure.message) : failure.message;
  const remedy = mends.find(([of, words]) => of === code && words.test(message))?.[2];
  const mend = remedy?.match(/--[\w-]+/g)?.every((option) => options.includes(option)) === false ? undefined : remedy;
  io.err.write(json ? `${toJson({ error: { code, message, docs, details, mend } })}\n` : describe({ ...failure, message }, mend, io));
  if (["", "0", undefined].includes(io.env["EDGETABLE_DEBUG"])) return;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) io.err.write(`${cause.stack ?? cause.message}\n`);
};

/** Commander's message as a sentence. Adds the usage for a missing argument, and where the commands are listed for an unknown one. */
const usageMessage = ({
  code,
  message,
  usage,
  command,
}: CommanderError & { readonly usage?: string; readonly command?: string }): string => {
  const text = message
    .replace(/^error: /, "")
    .replaceAll("'", '"')
    .replace(/\n\((.*)\)$/s, ". $1");
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/[.?]?$/, (end) => end || ".")}`;
  if (code === "commander.unknownCommand")
    return `${sentence} To list the commands: edgetable ${command === undefined ? "" : `${command} `}--help`;
  return code === "commander.missingArgument" ? `${sentence} Usage: ${usage}` : sentence;
};

/**
 * Runs the command line.
 *
 * @param argv the arguments, without the program's name
 * @returns the exit code; never throws
 */
export const main = async (argv: readonly string[], bare: Io): Promise<ExitCode> => {
  const io = shielded(bare);
  const outcome: Outcome = { code: exitCode.ok, options: [] };
  const json = argv.includes("--json");
  try {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string };
    const [first, ...rest] = argv;
    const [topic = "-"] = rest;
    const isUnknown = first === "help" && !topic.startsWith("-") && !commands.some(({ name }) => name === topic);
    // Commander's own command takes one name: `help migrate run` is `migrate run --help`. Of an unknown name, it prints the help of all.
    const asked = first === "help" && rest.length > 1 ? [...rest, "--help"] : [...argv];
    await createProgram(commands, { io, outcome, version }).parseAsync(isUnknown ? rest : asked, { from: "user" });
    return io.signal.aborted && outcome.code !== exitCode.ok ? exitCode.interrupted : outcome.code;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCode.ok;
      // A command without its subcommand prints its help.
      if (error.code !== "commander.help") reportFailure(usageError(usageMessage(error)), io, { json });
      return exitCode.usage;
    }
    if (error instanceof ReaderGone) return exitCode.ok;
    if (io.signal.aborted) return exitCode.interrupted;
    reportFailure(error, io, { json, options: outcome.options });
    return exitCodeOf(failureOf(error).code);
  }
};

const packages = fileURLToPath(new URL("../..", import.meta.url));
const isOwn = (file: string): boolean => file.startsWith(packages) || /[\\/]node_modules[\\/](@edgetable[\\/]|edgetable[\\/])/.test(file);

/** An error that nobody catches. It is of the model, or of what the model imports, unless this program threw it. */
const uncaught = (error: unknown): unknown => {
  const { message, stack = "" } = error instanceof Error ? error : { message: String(error) };
  const [, file, line] = /(?:\(|at |file:\/\/)([^()\s]*[\\/][^()\s]*?):(\d+):\d+\)?$/m.exec(stack) ?? [];
  if (file !== undefined && isOwn(file)) return error;
  const place = file === undefined ? "" : ` (${file}:${line})`;
  const text = `The model threw an error that nothing catches, such as in a timer or a promise that nobody awaits: ${message}${place}. Catch it there.`;
  return new EdgetableError("cli.modelUnreadable", text, { details: { file, line }, cause: error });
};

/** Runs the command line in this process. The first Ctrl-C ends it cleanly, the second at once. */
export const runProcess = async (): Promise<void> => {
  const argv = process.argv.slice(2);
  const controller = new AbortController();
  const io = processIo(controller.signal);
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(exitCode.interrupted);
    controller.abort();
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  process.on("uncaughtException", (thrown) => {
    const error = uncaught(thrown);
    reportFailure(error, shielded(io), { json: argv.includes("--json") });
    process.exit(exitCodeOf(failureOf(error).code));
  });
  // Node would end without a word if the command waits for what never comes. A model that never loads is reported where it is loaded.
  const reportStuck = (): void => {
    if (process.listenerCount("beforeExit") > 1) return;
    const text = "The command cannot end: it waits for a promise that never resolves, such as that of an asynchronous schema of the model.";
    reportFailure(new EdgetableError("cli.modelUnreadable", text), shielded(io), { json: argv.includes("--json") });
    process.exit(exitCode.model);
  };
  process.on("beforeExit", reportStuck);
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The reader of a pipe has closed it (`| head`): what the command does besides, and its exit code, do not depend on that.
    if (error.code === "EPIPE") return;
    reportFailure(unwritable("Standard output", error), shielded(io), { json: argv.includes("--json") });
    process.exit(exitCode.output);
  });
  // A command continues even if its progress output cannot be written.
  process.stderr.on("error", () => undefined);
  process.exitCode = await main(argv, io);
  process.off("SIGINT", interrupt).off("SIGTERM", interrupt).off("beforeExit", reportStuck);
};
