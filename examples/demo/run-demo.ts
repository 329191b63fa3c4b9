import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import type { WriteStream } from "node:tty";
import { fileURLToPath } from "node:url";
import { startEngine } from "@edgetable/local";
import { createLeanTransport } from "edgetable";
import { type Command, helpText, readArguments } from "./arguments.ts";
import { runSystem, type SystemResult, totalsOf } from "./run-system.ts";
import { type ChapterResult, runFields, runTotals, runTruth, type StoryContext } from "./run-story.ts";
import { type Environment, progressOn, type Terminal, terminalOf } from "./terminal.ts";
import { failuresOf, headText, silentReporter, summaryText, systemInFull, textReporter } from "./text-reporter.ts";
import { chapterText, sectionHead, type SectionName, sectionVerdict } from "./story-text.ts";
import type { System } from "../system.ts";

const bigints = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

type Stories = Readonly<Record<SectionName, readonly ChapterResult[]>>;

const stories: Readonly<Record<SectionName, (context: StoryContext) => Promise<readonly ChapterResult[]>>> = {
  truth: runTruth,
  fields: runFields,
  totals: runTotals,
};

const sectionNames = Object.keys(stories) as readonly SectionName[];

/** The answers of the systems, and the chapters of each section. */
interface Results extends Stories {
  readonly systems: readonly SystemResult[];
}

const isRight = (results: Results): boolean =>
  totalsOf(results.systems).failed.length === 0 && sectionNames.every((name) => results[name].every(({ ok }) => ok));

/** The results as JSON. */
const jsonText = (results: Results, engine: string): string => {
  const result = { ok: isRight(results), engine: `dynoxide ${engine}`, ...results, summary: totalsOf(results.systems) };
  return `${JSON.stringify(result, bigints, 2)}\n`;
};

const FAILED = 1;
const MISUSE = 2;
const INTERRUPTED = 130;

/** The parts of the process that the demo uses. */
export interface Surroundings {
  readonly systems: readonly System[];
  readonly output: WriteStream;
  readonly errors: WriteStream;
  readonly environment: Environment;
  /** Aborting it ends the demo. */
  readonly signal: AbortSignal;
}

type Run = Extract<Command, { kind: "run" }>;

const endText = (terminal: Terminal, results: Results): string =>
  (results.systems.length > 0 ? summaryText(terminal, results.systems) : "") +
  sectionNames.map((name) => (results[name].length > 0 ? sectionVerdict(terminal, name, results[name]) : "")).join("");

/** The system that is shown in full where only a summary was asked for. */
const SHOWN_IN_FULL = "education";

/** The summary, what failed, and one system in full. */
const overviewText = (terminal: Terminal, results: Results): string => {
  const whole = results.systems.find(({ name }) => name === SHOWN_IN_FULL) ?? results.systems.at(0);
  const failures = results.systems.map((system) => failuresOf(terminal, system)).join("");
  return `${endText(terminal, results)}${failures === "" ? "" : `\n${failures}`}${whole ? systemInFull(terminal, whole) : ""}`;
};

const hints = (command: Run): string => {
  const name = command.shown === "summary" ? SHOWN_IN_FULL : (command.systems[0]?.name ?? command.sections[0] ?? SHOWN_IN_FULL);
  const look = `Look at the tables in a browser: npm run demo -- ${name} --studio\n`;
  return command.shown === "summary" ? `Every system and change in full:  npm run demo -- all\n${look}` : look;
};

/** The models that the studio shows of what is no system, and of systems whose patterns are made for their data. */
const studioModels: Readonly<Record<string, string>> = {
  truth: "truth/model#collegeByTeacher",
  fields: "fields/model#byItem",
  totals: "totals/model",
  dependencies: "dependencies/model",
};

/** Serves the studio on the table of a system or section, until the signal aborts or the studio ends. */
const serveStudio = (
  name: string,
  { endpoint, output, errors, signal }: Pick<Surroundings, "output" | "errors" | "signal"> & { readonly endpoint: string },
): Promise<void> => {
  const cli = join(dirname(createRequire(import.meta.url).resolve("@edgetable/cli/package.json")), "bin/edgetable.js");
  const [path = "", exported] = (studioModels[name] ?? `${name}/patterns#patterns`).split("#");
  const file = fileURLToPath(new URL(`../${path}${extname(import.meta.url)}`, import.meta.url));
  const model = exported === undefined ? file : `${file}#${exported}`;
  const child = spawn(process.execPath, [cli, "studio", "--model", model, "--endpoint", endpoint], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.on("data", (text: Buffer) => output.write(text));
  child.stderr.on("data", (text: Buffer) => errors.write(text));
  const stop = (): unknown => child.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
  });
};

const run = async (command: Run, { output, errors, environment, signal }: Surroundings): Promise<number> => {
  const first = command.systems[0]?.name ?? command.sections[0];
  const terminal = terminalOf(output, environment);
  const progress = progressOn(errors);
  const isQuiet = command.json || command.shown === "summary";
  const reporter = isQuiet ? silentReporter(progress) : textReporter(terminal, progress);
  const print = (text: string): void => (isQuiet ? undefined : terminal.write(text));
  const engine = await startEngine({ signal });
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  const systems: SystemResult[] = [];
  const told: Record<SectionName, readonly ChapterResult[]> = { truth: [], fields: [], totals: [] };
  if (!command.json) terminal.write(headText(terminal, { systems: command.systems.length, engine: engine.version }));
  try {
    for (const system of command.systems)
      systems.push(await runSystem(system, { transport, reporter, signal, argument: command.argument }));
    const onChapter = (chapter: ChapterResult, at: number): void => {
      progress.show(chapter.name);
      print(chapterText(terminal, chapter, at));
    };
    for (const name of command.sections) {
      print(sectionHead(terminal, name));
      told[name] = await stories[name]({ transport, signal, onChapter });
    }
    progress.clear();
    if (command.studio && first !== undefined) await serveStudio(first, { endpoint: engine.endpoint, output, errors, signal });
  } finally {
    progress.clear();
    await transport.close();
    await engine.stop();
  }
  const results = { systems, ...told };
  if (command.json) terminal.write(jsonText(results, engine.version));
  else {
    terminal.write(command.shown === "summary" ? overviewText(terminal, results) : endText(terminal, results));
    if (!command.studio) terminal.write(hints(command));
  }
  return isRight(results) ? 0 : FAILED;
};

/** Runs the demo. Returns its exit code: 0, 1 for a wrong answer or a failed run, 2 for incorrect usage, 130 if interrupted. */
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
