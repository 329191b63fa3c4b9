import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { commonOptions } from "./common-options.ts";
import { failureOf, hasCode } from "./failure.ts";
import { exitCodeHelp, type ExitCode } from "./exit-codes.ts";
import { invocation, type CommandSpec, type CommonOptions, type OptionSpec } from "./invocation.ts";
import type { Io } from "./io.ts";
import { styleOf } from "./output/style.ts";

/** How a parsed command ended; commander gives no value back from an action. */
export interface Outcome {
  code: ExitCode;
}

interface Building {
  readonly io: Io;
  readonly outcome: Outcome;
}

const parserOf =
  (parse: NonNullable<OptionSpec["parse"]>): ((value: string, before: never) => unknown) =>
  (value, before) => {
    try {
      return parse(value, before);
    } catch (error) {
      if (hasCode(error, "cli.usage")) throw new InvalidArgumentError(failureOf(error).message);
      throw error;
    }
  };

const optionOf = ({ flags, text, parse, choices }: OptionSpec): Option => {
  const option = new Option(flags, text);
  if (parse) option.argParser(parserOf(parse) as (value: string, before: unknown) => unknown);
  return choices ? option.choices(choices) : option;
};

const argumentsOf = (text: string | undefined): readonly Argument[] =>
  text === undefined ? [] : text.split(" ").map((one) => new Argument(one));

const act = (command: Command, spec: CommandSpec, { io, outcome }: Building): void => {
  const { run } = spec;
  if (!run) return;
  command.action(async () => {
    const processed = command.processedArgs as readonly (string | readonly string[] | undefined)[];
    const options = command.optsWithGlobals<CommonOptions>();
    const args = processed.filter((one) => !Array.isArray(one)) as readonly (string | undefined)[];
    const rest = (processed.find((one) => Array.isArray(one)) ?? []) as readonly string[];
    outcome.code = await run(invocation(io, { args, rest, options }));
  });
};

const examplesOf = ({ examples = [] }: CommandSpec): string =>
  examples.length === 0 ? "" : `\nExamples:\n${examples.map((one) => `  $ ${one}`).join("\n")}\n`;

const build = (command: Command, spec: CommandSpec, building: Building): Command => {
  command.summary(spec.summary).description([spec.summary, spec.description].filter((text) => text !== undefined).join("\n\n"));
  if (spec.group !== undefined) command.helpGroup(spec.group);
  for (const argument of argumentsOf(spec.arguments)) command.addArgument(argument);
  for (const option of spec.options ?? []) command.addOption(optionOf(option));
  for (const child of spec.commands ?? []) build(command.command(child.name).copyInheritedSettings(command), child, building);
  command.addHelpText("after", examplesOf(spec));
  command.exitOverride((error) => {
    throw Object.assign(error, { usage: `edgetable ${command.name()} ${command.usage()}` });
  });
  act(command, spec, building);
  return command;
};

const introduction = `A typed property graph in one DynamoDB table: plans, advice, tables and data of a model file.

Start with:
  $ edgetable init my-graph       a small project that runs
  $ edgetable dev                 an engine on this machine, with the model's tables
  $ edgetable patterns            what the model is asked, and what each question costs
  $ edgetable explain <pattern>   the exact requests of one question`;

const environmentHelp = `Environment:
  AWS_*                  credentials, region and endpoint, as for the AWS SDK
  EDGETABLE_ENGINE       path of the engine's binary
  EDGETABLE_DEBUG=1      prints stack traces
  NO_COLOR, FORCE_COLOR  switch colour off or on`;

/** The whole command, ready to parse; `outcome` gets the exit code of whichever command ran. */
export const createProgram = (specs: readonly CommandSpec[], building: Building & { readonly version: string }): Command => {
  const { io, version } = building;
  const program = new Command("edgetable").description(introduction).version(version, "-v, --version", "print the version");
  const style = styleOf(io.out, io.env);
  program
    .exitOverride()
    .helpCommand("help [command]", "Show the help of a command")
    .configureHelp({
      showGlobalOptions: true,
      minWidthToWrap: 20,
      visibleGlobalOptions: (command) => (command === program ? [] : program.options.filter((one) => one.long !== "--version")),
      styleTitle: (text) => style.bold(text),
    })
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => io.out.columns ?? 100,
      getErrHelpWidth: () => io.err.columns ?? 100,
      getOutHasColors: () => style.isColorSupported,
      getErrHasColors: () => styleOf(io.err, io.env).isColorSupported,
    });
  for (const option of commonOptions) program.addOption(optionOf(option));
  for (const spec of specs)
    build(program.command(spec.name, { hidden: spec.hidden ?? false }).copyInheritedSettings(program), spec, building);
  return program.addHelpText("after", `\n${exitCodeHelp}\n\n${environmentHelp}`);
};
