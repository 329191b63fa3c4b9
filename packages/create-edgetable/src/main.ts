import { parseArgs } from "node:util";
import { createProject, describeProject, version } from "./create-project.ts";

const help = `Usage: npm create edgetable [folder]

Creates a small project with a graph in one DynamoDB table: a model, a script, a test and an AWS
Lambda function. The project includes a local engine. Existing files are never overwritten.

Options:
  -v, --version  print the version
  -h, --help     print this help

Examples:
  $ npm create edgetable my-graph   # in a new folder
  $ npm create edgetable            # in this folder
`;

/** The side effects of the program. */
export interface Surroundings {
  readonly cwd: string;
  readonly out: { write(text: string): unknown };
  readonly err: { write(text: string): unknown };
}

// A name may contain control characters.
const visible = (text: string): string =>
  text.replaceAll(/[^\n\P{C}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

/**
 * Runs `create-edgetable`.
 *
 * @returns the exit code: 2 for incorrect usage, and if files are in the way
 */
export const main = (argv: readonly string[], { cwd, out, err }: Surroundings): number => {
  const fail = (message: string, code: number): number => {
    err.write(visible(`error: ${message}\n`));
    return code;
  };
  try {
    const options = { help: { type: "boolean", short: "h" }, version: { type: "boolean", short: "v" } } as const;
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
    if (values.help || values.version) {
      out.write(values.help ? help : `${version}\n`);
      return 0;
    }
    if (positionals.length > 1) return fail("Give one folder. For examples, run npm create edgetable -- --help.", 2);
    const project = createProject(positionals[0] ?? ".", cwd);
    if (!project.created) return fail(describeProject(project, cwd), 2);
    out.write(visible(describeProject(project, cwd)));
    return 0;
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error), 2);
  }
};
