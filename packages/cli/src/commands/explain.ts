import { didYouMean, explainPatterns, type AnyPattern, type Patterns } from "edgetable";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { collect, defineCommand, printJson, type CommandSpec } from "../invocation.ts";
import { loadModel, type Model } from "../model.ts";
import { renderExplanation } from "../output/explanation.ts";
import { fromJson, isRow, toJson } from "../output/json.ts";
import { wrap } from "../output/terminal.ts";
import { parseAssignments } from "../text/arguments.ts";
import { isoDate } from "../text/fit-texts.ts";

interface Options {
  readonly param?: readonly string[];
}

const findPattern = ({ patterns, file }: Model, name: string): { readonly pattern: AnyPattern; readonly of: Patterns } => {
  const found = patterns.flatMap(({ name: exported, value: of }) => {
    const pattern = Object.hasOwn(of.patterns, name) ? of.patterns[name] : undefined;
    return pattern ? [{ exported, pattern, of }] : [];
  });
  const [first, second] = found;
  if (first && second) {
    const exports = found.map(({ exported }) => exported);
    throw usageError(`There are several patterns "${name}" (in ${exports.join(", ")}). Choose one, such as --model ${file}#${exports[0]}.`);
  }
  if (first) return first;
  const names = patterns.flatMap(({ value }) => Object.keys(value.patterns));
  if (names.length > 0) throw usageError(`There is no pattern "${name}".${didYouMean(name, [...new Set(names)])}`);
  throw usageError(`${file} exports no patterns. Export the result of definePatterns, or name the file that does with --model.`);
};

/** Reads a text as the type of the example's value. @throws {cli.usage} if it is not of that type */
const readAs = (name: string, text: unknown, example: unknown): unknown => {
  if (typeof text !== "string" || typeof example === "string" || example === undefined) return text;
  let value: unknown;
  if (example instanceof Date) value = isoDate(text);
  else if (typeof example === "bigint") value = /^-?\d+$/.test(text) ? BigInt(text) : undefined;
  else {
    try {
      value = fromJson(text);
    } catch {
      // Rejected below.
    }
  }
  if (value !== undefined && typeof value === typeof example) return value;
  const type = example instanceof Date ? "date" : typeof example;
  throw usageError(`The parameter "${name}" must be a ${type}, as in the example (${toJson(example)}); it is "${text}".`);
};

const parametersOf = ({ example }: AnyPattern, given: readonly string[]): unknown => {
  if (given.length === 0) return example;
  if (!isRow(example)) return readAs("--param", given[0], example);
  const { values, texts } = parseAssignments(given, "--param");
  const names = Object.keys(example);
  const parameters: Record<string, unknown> = { ...example };
  for (const [name, value] of Object.entries(values)) {
    if (names.length > 0 && !names.includes(name)) throw usageError(`The pattern has no parameter "${name}".${didYouMean(name, names)}`);
    parameters[name] = texts.has(name) ? readAs(name, value, example[name]) : value;
  }
  return parameters;
};

export const explainCommand: CommandSpec = defineCommand<Options>({
  name: "explain",
  group: "Model:",
  arguments: "<pattern>",
  summary: "Show the exact requests of one pattern, and their cost",
  description: "Sends no requests. Uses the values of the pattern's example, unless you override them with --param.",
  options: [{ flags: "-p, --param <name=value|json>", text: "a parameter, or several as a JSON object; can be repeated", parse: collect }],
  examples: [
    "edgetable explain studentsOfCourse",
    "edgetable explain studentsOfCourse --param courseId=C7",
    `edgetable explain studentsOfCourse --param '{"courseId":"C7"}' --json`,
  ],
  run: async (call) => {
    const { io, style, options } = call;
    const name = call.args[0] ?? "";
    const { pattern, of } = findPattern(await loadModel(options.model, io.cwd), name);
    const parameters = parametersOf(pattern, options.param ?? []);
    const [explained] = await explainPatterns({ ...of, patterns: { [name]: { ...pattern, example: parameters } } });
    if (options.json) {
      printJson(call, { name, question: pattern.question, parameters, ...explained?.explanation });
      return exitCode.ok;
    }
    const lines = (text: string): string => wrap(text, io.out.columns ?? Number.POSITIVE_INFINITY).join("\n");
    const shown = isRow(parameters)
      ? Object.entries(parameters)
          .map(([parameter, value]) => `${parameter} = ${toJson(value)}`)
          .join(", ")
      : toJson(parameters);
    const origin = shown === "" || options.param !== undefined ? "" : "  (the example)";
    io.out.write(`${style.bold(lines(`${name}: ${pattern.question}`))}\n${lines(shown + origin)}\n\n`);
    if (explained) io.out.write(renderExplanation(explained.explanation, style, io.out.columns));
    return exitCode.ok;
  },
});
