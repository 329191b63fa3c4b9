import { parseArgs } from "node:util";
import { createProject, version } from "./create-project.ts";
import { describeProject } from "./describe-project.ts";

const help = `Usage: npm create edgetable [folder]

Makes a small project with a graph in one DynamoDB table: a model, a script, a test, a function
for AWS Lambda. It runs at once, on an engine that comes along. Files that exist are never overwritten.

Options:
  -v, --version  print the version
  -h, --help     print this help

Examples:
  $ npm create edgetable my-graph   # in a new folder
  $ npm create edgetable            # in this folder
`;

/** What the program touches outside itself. */
export interface Surroundings {
  readonly cwd: string;
  readonly out: { write(text: string): unknown };
  readonly err: { write(text: string): unknown };
}

// A name may hold what controls a terminal.
const visible = (text: string): string =>
  text.replaceAll(/[^\n\P{C}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

/**
 * Runs `create-edgetable`.
 *
 * @returns the exit code: 2 for a wrong usage, and where files are in the way
 */
export const main = (argv: readonly string[], { cwd, out, err }: Surroundings): number => {
  const refuse = (message: string, code: number): number => {
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
    if (positionals.length > 1) return refuse("Give one folder. npm create edgetable -- --help shows examples.", 2);
    const project = createProject(positionals[0] ?? ".", cwd);
    if (!project.created) return refuse(describeProject(project, cwd), 2);
    out.write(visible(describeProject(project, cwd)));
    return 0;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), 2);
  }
};
