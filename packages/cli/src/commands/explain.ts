import { didYouMean, offline, type AnyPattern, type Patterns, type Explanation } from "edgetable";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { collect, defineCommand, printJson, type CommandSpec } from "../invocation.ts";
import { loadModel, type Model } from "../model/load-model.ts";
import { renderExplanation } from "../output/explanation.ts";
import { fromJson, toJson } from "../output/json.ts";
import { wrap } from "../output/width.ts";
import { parseAssignments, type Given } from "../text/assignments.ts";
import { isoDate } from "../text/iso-date.ts";
import { isRow, type Row } from "../row.ts";

interface Options {
  readonly param?: readonly string[];
}

const findPattern = ({ patterns, file }: Model, name: string): { readonly pattern: AnyPattern; readonly of: Patterns } => {
  const found = patterns.flatMap(({ name: exported, value }) => {
    const pattern = Object.hasOwn(value.patterns, name) ? value.patterns[name] : undefined;
    return pattern ? [{ exported, pattern, of: value }] : [];
  });
  const [first, second] = found;
  if (first && second) {
    const exports = found.map(({ exported }) => exported);
    throw usageError(`There are several patterns "${name}" (in ${exports.join(", ")}): say which, such as --model ${file}#${exports[0]}.`);
  }
  if (first) return first;
  const names = patterns.flatMap(({ value }) => Object.keys(value.patterns));
  if (names.length > 0) throw usageError(`There is no pattern "${name}".${didYouMean(name, [...new Set(names)])}`);
  throw usageError(`${file} names no patterns: export what definePatterns gives, or name the file that does with --model.`);
};

/** A text read as the example's type; undefined where it is no such value. */
const readAs = (text: string, example: unknown): unknown => {
  if (example instanceof Date) return isoDate(text);
  if (typeof example === "bigint") return /^-?\d+$/.test(text) ? BigInt(text) : undefined;
  try {
    const value = fromJson(text);
    return typeof value === typeof example ? value : undefined;
  } catch {
    return undefined;
  }
};

/** A text as the type that stands in the example. */
const asExample = (name: string, text: unknown, example: unknown): unknown => {
  if (typeof text !== "string" || typeof example === "string" || example === undefined) return text;
  const value = readAs(text, example);
  if (value !== undefined) return value;
  const type = example instanceof Date ? "date" : typeof example;
  throw usageError(`The parameter "${name}" must be a ${type}, as in the example (${toJson(example)}); it is "${text}".`);
};

const merged = (example: Row, { values, texts }: Given): Row => {
  const names = Object.keys(example);
  const stranger = Object.keys(values).find((name) => !names.includes(name));
  if (stranger !== undefined && names.length > 0)
    throw usageError(`The pattern has no parameter "${stranger}".${didYouMean(stranger, names)}`);
  const given = Object.entries(values).map(([name, value]) => [name, texts.has(name) ? asExample(name, value, example[name]) : value]);
  return { ...example, ...(Object.fromEntries(given) as Row) };
};

const parametersOf = ({ example }: AnyPattern, given: readonly string[]): unknown => {
  if (given.length === 0) return example;
  if (isRow(example)) return merged(example, parseAssignments(given, "--param"));
  return asExample("--param", given[0], example);
};

const showParameters = (parameters: unknown, given: boolean): string => {
  const shown = isRow(parameters)
    ? Object.entries(parameters)
        .map(([name, value]) => `${name} = ${toJson(value)}`)
        .join(", ")
    : toJson(parameters);
  return shown === "" || given ? shown : `${shown}  (the example)`;
};

export const explainCommand: CommandSpec = defineCommand<Options>({
  name: "explain",
  group: "Model:",
  arguments: "<pattern>",
  summary: "Show the exact requests of one pattern, and their price",
  description: "Nothing is sent. Values come from the pattern's example, unless --param gives others.",
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
    const explanation: Explanation = await pattern.ask(of.graph.connect({ transport: offline }), parameters).explain();
    if (options.json) printJson(call, { name, question: pattern.question, parameters, ...explanation });
    else {
      const lines = (text: string): string => wrap(text, io.out.columns ?? Number.POSITIVE_INFINITY).join("\n");
      io.out.write(
        `${style.bold(lines(`${name}: ${pattern.question}`))}\n${lines(showParameters(parameters, options.param !== undefined))}\n\n`,
      );
      io.out.write(renderExplanation(explanation, style, io.out.columns));
    }
    return exitCode.ok;
  },
});
