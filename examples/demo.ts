import { createLocalTransport, startEngine } from "@edgetable/local";
import { readArguments, type Command } from "./demo/arguments.ts";
import { helpText } from "./demo/help.ts";
import { jsonReporter, jsonText } from "./demo/json-reporter.ts";
import { progressOn } from "./demo/progress.ts";
import { totalsOf, type SystemResult } from "./demo/results.ts";
import { runSystem } from "./demo/run-system.ts";
import { summaryText } from "./demo/summary-text.ts";
import { terminalOf } from "./demo/terminal.ts";
import { textReporter } from "./demo/text-reporter.ts";
import { systems } from "./systems.ts";

const FAILED = 1;
const MISUSE = 2;
const INTERRUPTED = 130;

type Run = Extract<Command, { kind: "run" }>;

const runAll = async (command: Run, signal: AbortSignal): Promise<number> => {
  const terminal = terminalOf(process.stdout, process.env);
  const progress = progressOn(process.stderr);
  const reporter = command.json ? jsonReporter(progress) : textReporter(terminal, progress);
  const engine = await startEngine({ signal });
  const transport = createLocalTransport(engine);
  const results: SystemResult[] = [];
  try {
    for (const system of command.systems)
      results.push(await runSystem(system, { transport, reporter, signal, argument: command.argument }));
  } finally {
    progress.clear();
    await transport.close();
    await engine.stop();
  }
  terminal.write(command.json ? jsonText(results) : summaryText(terminal, results));
  return totalsOf(results).failed.length === 0 ? 0 : FAILED;
};

const run = async (command: Run): Promise<number> => {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new Error("interrupted"));
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    return await runAll(command, interruption.signal);
  } catch (error) {
    if (interruption.signal.aborted) return INTERRUPTED;
    process.stderr.write(`The demo stopped: ${error instanceof Error ? error.message : String(error)}\n`);
    return FAILED;
  }
};

const main = async (given: readonly string[]): Promise<number> => {
  const command = readArguments(given, systems);
  if (command.kind === "run") return run(command);
  if (command.kind === "help") {
    process.stdout.write(helpText(systems));
    return 0;
  }
  process.stderr.write(`${command.message}\nSee npm run demo -- --help.\n`);
  return MISUSE;
};

process.exitCode = await main(process.argv.slice(2));
