import { didYouMean, type Catalog } from "edgetable";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { commonOptions, defineCommand, type CommandSpec, type OptionSpec } from "../invocation.ts";
import { idPaths } from "../text/arguments.ts";
import { loadModel } from "../model.ts";

// Each script asks `edgetable __complete`, so that all shells share one implementation.
const scripts = {
  bash: `# edgetable completion for bash: source <(edgetable completion bash)
_edgetable() {
  local IFS=$'\\n'
  COMPREPLY=($(edgetable __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _edgetable edgetable
`,
  zsh: `#compdef edgetable
# edgetable completion for zsh: source <(edgetable completion zsh)
_edgetable() {
  local -a found fields
  found=("\${(@f)$(edgetable __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  if (( \${#found} == 0 )); then _files; return; fi
  fields=(\${(M)found:#*=})
  found=(\${found:#*=})
  (( \${#fields} )) && compadd -S '' -- $fields
  (( \${#found} )) && compadd -- $found
}
compdef _edgetable edgetable
`,
  fish: `# edgetable completion for fish: edgetable completion fish | source
complete -c edgetable -f -a '(edgetable __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
complete -c edgetable -F -n '__fish_seen_subcommand_from load'
complete -c edgetable -l model -r -F
complete -c edgetable -l map -r -F
complete -c edgetable -l data -r -F
`,
} as const;

const shells = Object.keys(scripts);

export const completionCommand: CommandSpec = defineCommand({
  name: "completion",
  group: "Shell:",
  arguments: "<shell>",
  shells,
  summary: "Print the completion script for bash, zsh or fish",
  description: "Completes commands, options, and the names of the model in the current folder.",
  examples: ["source <(edgetable completion bash)", "source <(edgetable completion zsh)", "edgetable completion fish | source"],
  run: async ({ io, args }) => {
    const shell = args[0] ?? "";
    if (!Object.hasOwn(scripts, shell)) throw usageError(`There is no completion for "${shell}".${didYouMean(shell, shells)}`);
    io.out.write(scripts[shell as keyof typeof scripts]);
    return exitCode.ok;
  },
});

/** The names of a model. */
interface Names {
  readonly catalog: Catalog | undefined;
  /** The parameters of each pattern's example. */
  readonly patterns: Readonly<Record<string, readonly string[]>>;
}

const namesOf = async (words: readonly string[], cwd: string): Promise<Names> => {
  const at = words.indexOf("--model");
  const parameters: Record<string, readonly string[]> = {};
  try {
    const { graphs, patterns } = await loadModel(at < 0 ? undefined : words[at + 1], cwd);
    for (const { value } of patterns)
      for (const [name, { example }] of Object.entries(value.patterns))
        parameters[name] = Object.keys(typeof example === "object" ? { ...example } : {});
    return { catalog: graphs[0]?.value.catalog, patterns: parameters };
  } catch {
    // Completion is not the place to report that the model cannot be read.
    return { catalog: undefined, patterns: {} };
  }
};

/** The names that an argument or option placeholder stands for. */
const namesFor = (placeholder: string | undefined, { catalog, patterns }: Names): readonly string[] => {
  const { nodes = {}, edges = {}, parts = {}, indexes = [] } = catalog ?? {};
  switch (placeholder) {
    case "pattern":
      return Object.keys(patterns);
    case "node":
      return Object.keys(nodes);
    case "kind":
      return Object.keys({ ...nodes, ...edges, ...parts });
    case "part":
      return Object.keys(parts);
    case "edge":
      return Object.keys(edges);
    case "index":
      return indexes.flatMap(({ name }) => name ?? []);
    default:
      return [];
  }
};

/** Where the cursor is: the command, its positional arguments so far, and the option whose value comes next. */
interface Place {
  readonly command: CommandSpec | undefined;
  readonly below: readonly CommandSpec[];
  readonly options: readonly OptionSpec[];
  readonly given: readonly string[];
  readonly option: OptionSpec | undefined;
}

const placeAfter = (words: readonly string[], commands: readonly CommandSpec[]): Place => {
  let command: CommandSpec | undefined;
  let below = commands;
  let options = commonOptions;
  let given: string[] = [];
  let option: OptionSpec | undefined;
  for (const word of words) {
    const next = below.find((one) => one.name === word);
    if (option) option = undefined;
    else if (word.startsWith("-")) option = options.find(({ flags }) => flags.split(/[ ,]+/).includes(word) && flags.includes("<"));
    else if (next) {
      command = next;
      below = next.commands ?? [];
      options = [...(next.options ?? []), ...commonOptions];
      given = [];
    } else given.push(word);
  }
  return { command, below, options, given, option };
};

const longFlag = ({ flags }: OptionSpec): string => /--[\w-]+/.exec(flags)?.[0] ?? "";

// Options whose placeholder does not name what they take.
const placeholders: Readonly<Record<string, string>> = { "--node": "node", "--edge": "edge", "--part": "part", "--only": "kind" };

// With these options, the named node is at these ends of the edge.
const nodeEnds: Readonly<Record<string, readonly ("from" | "to")[]>> = { "--out": ["from"], "--in": ["to"], "--both": ["from", "to"] };

const optionValues = async (option: OptionSpec, node: string, names: () => Promise<Names>): Promise<readonly string[]> => {
  if (option.choices) return option.choices;
  const flag = longFlag(option);
  if (flag === "--param") return ((await names()).patterns[node] ?? []).map((name) => `${name}=`);
  const ends = nodeEnds[flag];
  if (!ends) return namesFor(placeholders[flag] ?? /<(edge|index)>/.exec(option.flags)?.[1], await names());
  const edges = Object.values((await names()).catalog?.edges ?? {});
  return edges.filter((edge) => ends.every((end) => edge[end].includes(node))).map(({ name }) => name);
};

const argumentValues = async ({ command, below, given }: Place, names: () => Promise<Names>): Promise<readonly string[]> => {
  if (below.length > 0) return below.filter(({ hidden }) => !hidden).map(({ name }) => name);
  const argument = /<(\w+)>/.exec(command?.arguments?.split(" ")[given.length] ?? "")?.[1];
  if (argument === "shell") return command?.shells ?? [];
  if (argument !== undefined) return namesFor(argument, await names());
  if (!command?.arguments?.endsWith("[id...]")) return [];
  const { catalog } = await names();
  const fields = catalog ? idPaths(catalog, given[0] ?? "") : [];
  return fields.map((field) => `${field}=`).filter((field) => !given.some((one) => one.startsWith(field)));
};

/** The command behind the scripts. @param all every command; a function, because this command is one of them */
export const completeCommand = (all: () => readonly CommandSpec[]): CommandSpec =>
  defineCommand({
    name: "__complete",
    hidden: true,
    arguments: "[words...]",
    summary: "Print completions of the last of these words",
    run: async ({ rest: words, io }) => {
      const last = words.at(-1) ?? "";
      const place = placeAfter(words.slice(0, -1), all());
      // Most completions do not need the model, so it is loaded on demand.
      const names = () => namesOf(words, io.cwd);
      let values: readonly string[];
      if (place.option) values = await optionValues(place.option, place.given[0] ?? "", names);
      else values = last.startsWith("-") ? [...place.options.map(longFlag), "--help"] : await argumentValues(place, names);
      for (const value of values) if (value.startsWith(last)) io.out.write(`${value}\n`);
      return exitCode.ok;
    },
  });
