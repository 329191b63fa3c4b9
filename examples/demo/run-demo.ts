import type { WriteStream } from "node:tty";
import { startEngine } from "@edgetable/local";
import { createLeanTransport } from "edgetable";
import type { System } from "../system.ts";
import { readArguments, type Command } from "./arguments.ts";
import { helpText } from "./help.ts";
import { jsonReporter, jsonText } from "./json-report.ts";
import { progressOn } from "./progress.ts";
import { totalsOf, type SystemResult } from "./results.ts";
import { runSystem } from "./run-system.ts";
import { headText, summaryText } from "./summary-text.ts";
import { terminalOf, type Environment } from "./terminal.ts";
import { textReporter } from "./text-reporter.ts";

const FAILED = 1;
const MISUSE = 2;
const INTERRUPTED = 130;

/** What the demo needs of its process. */
export interface Surroundings {
  readonly systems: readonly System[];
  readonly output: WriteStream;
  readonly errors: WriteStream;
  readonly environment: Environment;
  /** Ends the demo when it is aborted. */
  readonly signal: AbortSignal;
}

type Run = Extract<Command, { kind: "run" }>;

const run = async (command: Run, { output, errors, environment, signal }: Surroundings): Promise<number> => {
  const terminal = terminalOf(output, environment);
  const progress = progressOn(errors);
  const reporter = command.json ? jsonReporter(progress) : textReporter(terminal, progress);
  const engine = await startEngine({ signal });
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  const results: SystemResult[] = [];
  if (!command.json) terminal.write(headText(terminal, { systems: command.systems.length, engine: engine.version }));
  try {
    for (const system of command.systems)
      results.push(await runSystem(system, { transport, reporter, signal, argument: command.argument }));
  } finally {
    progress.clear();
    await transport.close();
    await engine.stop();
  }
  terminal.write(command.json ? jsonText(results, engine.version) : summaryText(terminal, results));
  return totalsOf(results).failed.length === 0 ? 0 : FAILED;
};

/** Runs the demo and gives its exit code: 0, 1 for a wrong answer or a failed run, 2 for wrong use, 130 when interrupted. */
export const runDemo = async (given: readonly string[], surroundings: Surroundings): Promise<number> => {
  const { systems, output, errors, signal } = surroundings;
  const command = readArguments(given, systems);
  if (command.kind === "help") {
    output.write(helpText(systems));
    return 0;
  }
  if (command.kind === "misuse") {
    errors.write(`${command.message}\nSee npm run demo -- --help.\n`);
    return MISUSE;
  }
  try {
    return await run(command, surroundings);
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    errors.write(`The demo stopped: ${error instanceof Error ? error.message : String(error)}\n`);
    return FAILED;
  }
};
