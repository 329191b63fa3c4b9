import type { Catalog } from "edgetable";
import { commonOptions } from "../common-options.ts";
import type { CommandSpec, OptionSpec } from "../invocation.ts";

/** What a model has to offer to completion. */
export interface Names {
  readonly catalog: Catalog | undefined;
  /** The parameters of each pattern's example. */
  readonly patterns: Readonly<Record<string, readonly string[]>>;
}

/** The words behind `edgetable`, the last one unfinished. */
export interface Line {
  readonly words: readonly string[];
  readonly commands: readonly CommandSpec[];
  /** Reads the model only when its names are wanted. */
  readonly names: () => Promise<Names>;
}

const longOf = ({ flags }: Pick<OptionSpec, "flags">): string => /--[\w-]+/.exec(flags)?.[0] ?? "";
const takesValue = ({ flags }: OptionSpec): boolean => flags.includes("<");
const isCalled = (option: OptionSpec, word: string): boolean => option.flags.split(/[ ,]+/).includes(word);

interface Place {
  readonly command: CommandSpec | undefined;
  /** Commands that may stand here. */
  readonly below: readonly CommandSpec[];
  readonly options: readonly OptionSpec[];
  /** Positional arguments so far. */
  readonly given: readonly string[];
  /** The option whose value is being typed. */
  readonly option: OptionSpec | undefined;
}

const step = (place: Place, word: string): Place => {
  if (place.option) return { ...place, option: undefined };
  if (word.startsWith("-")) return { ...place, option: place.options.find((one) => isCalled(one, word) && takesValue(one)) };
  const command = place.below.find((one) => one.name === word);
  if (command)
    return {
      command,
      below: command.commands ?? [],
      options: [...(command.options ?? []), ...commonOptions],
      given: [],
      option: undefined,
    };
  return { ...place, given: [...place.given, word] };
};

const namesFor = (what: string, { catalog, patterns }: Names): readonly string[] => {
  switch (what) {
    case "pattern":
      return Object.keys(patterns);
    case "node":
      return Object.keys(catalog?.nodes ?? {});
    case "kind":
      return [catalog?.nodes, catalog?.edges, catalog?.parts].flatMap((group) => Object.keys(group ?? {}));
    case "part":
      return Object.keys(catalog?.parts ?? {});
    case "edge":
      return Object.keys(catalog?.edges ?? {});
    case "index":
      return (catalog?.indexes ?? []).flatMap(({ name }) => name ?? []);
    default:
      return [];
  }
};

// Options whose placeholder does not say what they take.
const namedBy: Readonly<Record<string, string>> = { "--node": "node", "--edge": "edge", "--part": "part", "--only": "kind" };

// Where a neighbour is asked for, the node that was named stands at these ends of the edge.
const nearEnds: Readonly<Record<string, readonly ("from" | "to")[]>> = { "--out": ["from"], "--in": ["to"], "--both": ["from", "to"] };

const edgesOf = ({ catalog }: Names, node: string, ends: readonly ("from" | "to")[]): readonly string[] =>
  Object.values(catalog?.edges ?? {})
    .filter((edge) => ends.every((end) => edge[end].includes(node)))
    .map(({ name }) => name);

const optionValues = async ({ flags, choices }: OptionSpec, given: readonly string[], { names }: Line): Promise<readonly string[]> => {
  if (choices) return choices;
  const [option, first] = [longOf({ flags }), given[0] ?? ""];
  if (option === "--param") return ((await names()).patterns[first] ?? []).map((name) => `${name}=`);
  const ends = nearEnds[option];
  if (ends) return edgesOf(await names(), first, ends);
  const placeholder = namedBy[option] ?? /<(edge|index)>/.exec(flags)?.[1];
  return placeholder === undefined ? [] : namesFor(placeholder, await names());
};

const positional = async ({ command, below, given }: Place, { names }: Line): Promise<readonly string[]> => {
  if (below.length > 0) return below.filter(({ hidden }) => !hidden).map(({ name }) => name);
  const argument = /<(\w+)>/.exec(command?.arguments?.split(" ")[given.length] ?? "")?.[1];
  if (argument === "shell") return command?.shells ?? [];
  if (argument !== undefined) return namesFor(argument, await names());
  if (!command?.arguments?.endsWith("[id...]")) return [];
  const fields = (await names()).catalog?.nodes[given[0] ?? ""]?.idFields ?? [];
  return fields.map((field) => `${field}=`).filter((field) => !given.some((one) => one.startsWith(field)));
};

/** What the last word may become; nothing where that is a file's name. */
export const candidates = async (line: Line): Promise<readonly string[]> => {
  const last = line.words.at(-1) ?? "";
  const start: Place = { command: undefined, below: line.commands, options: commonOptions, given: [], option: undefined };
  const place = line.words.slice(0, -1).reduce(step, start);
  const all = place.option
    ? await optionValues(place.option, place.given, line)
    : last.startsWith("-")
      ? [...place.options.map(longOf), "--help"]
      : await positional(place, line);
  return all.filter((one) => one.startsWith(last));
};
