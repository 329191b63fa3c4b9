import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { failureOf, hasCode } from "./failure.ts";
import { exitCodeHelp, type ExitCode } from "./exit-codes.ts";
import { commonOptions, type CommandSpec, type CommonOptions, type OptionSpec } from "./invocation.ts";
import type { Io } from "./io.ts";
import { styleOf } from "./output/terminal.ts";

/** What is known of the command that ran. Commander does not return a value from an action. */
export interface Outcome {
  code: ExitCode;
  /** Options that the command takes, such as `--json`. */
  options: readonly string[];
}

interface Context {
  readonly io: Io;
  readonly outcome: Outcome;
}

const optionOf = ({ flags, text, parse, choices }: OptionSpec): Option => {
  const option = new Option(flags, text);
  if (choices) option.choices(choices);
  if (!parse) return option;
  return option.argParser((value: string, before: unknown) => {
    try {
      return parse(value, before as never);
    } catch (error) {
      if (hasCode(error, "cli.usage")) throw new InvalidArgumentError(failureOf(error).message);
      throw error;
    }
  });
};

/** Configures a commander command, and its subcommands, from a spec. */
const build = (command: Command, spec: CommandSpec, context: Context, path = spec.name): void => {
  const { summary, description, group, examples = [], run } = spec;
  command.summary(summary).description(description === undefined ? summary : `${summary}\n\n${description}`);
  if (group !== undefined) command.helpGroup(group);
  for (const argument of spec.arguments?.split(" ") ?? []) command.addArgument(new Argument(argument));
  for (const option of spec.options ?? []) command.addOption(optionOf(option));
  for (const child of spec.commands ?? [])
    build(command.command(child.name).copyInheritedSettings(command), child, context, `${path} ${child.name}`);
  if (examples.length > 0) command.addHelpText("after", `\nExamples:\n${examples.map((one) => `  $ ${one}`).join("\n")}\n`);
  command.exitOverride((error) => {
    throw Object.assign(error, { command: path, usage: `edgetable ${path} ${command.usage()}` });
  });
  if (!run) return;
  command.action(async () => {
    const { io, outcome } = context;
    const args: (string | undefined)[] = [];
    let rest: readonly string[] = [];
    for (const one of command.processedArgs as readonly (string | readonly string[] | undefined)[]) {
      if (typeof one === "object") rest = one;
      else args.push(one);
    }
    outcome.options = [...(spec.options ?? []), ...commonOptions].flatMap(({ flags }) => flags.match(/--[\w-]+/g) ?? []);
    const options = command.optsWithGlobals<CommonOptions>();
    outcome.code = await run({ io, args, rest, options, style: styleOf(io.out, io.env) });
  });
};

const introduction = `A typed property graph in one DynamoDB table: plans, advice, tables and data of a model file.

Start with:
  $ edgetable init my-graph       create a small project
  $ edgetable dev                 run a local engine with the model's tables
  $ edgetable patterns            list the access patterns and their cost
  $ edgetable explain <pattern>   show the exact requests of one pattern`;

const environmentHelp = `Environment:
  AWS_*                  credentials, region and endpoint, as for the AWS SDK
  EDGETABLE_ENGINE       path of the engine's binary
  EDGETABLE_DEBUG=1      print stack traces
  NO_COLOR, FORCE_COLOR  turn colour off or on`;

/** Builds the program; `outcome` receives the exit code of the command that ran. */
export const createProgram = (specs: readonly CommandSpec[], context: Context & { readonly version: string }): Command => {
  const { io, version } = context;
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
    build(program.command(spec.name, { hidden: spec.hidden ?? false }).copyInheritedSettings(program), spec, context);
  return program.addHelpText("after", `\n${exitCodeHelp}\n\n${environmentHelp}`);
};
