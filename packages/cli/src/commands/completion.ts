import { didYouMean } from "edgetable";
import { candidates, type Names } from "../complete/candidates.ts";
import { scripts, shells, type Shell } from "../complete/scripts.ts";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { defineCommand, type CommandSpec, type Invocation } from "../invocation.ts";
import { loadModel } from "../model/load-model.ts";

const isShell = (name: string): name is Shell => (shells as readonly string[]).includes(name);

export const completionCommand: CommandSpec = defineCommand({
  name: "completion",
  group: "Shell:",
  arguments: "<shell>",
  shells,
  summary: "Print the completion script of bash, zsh or fish",
  description: "It completes commands, options, and the names of the model in the current folder.",
  examples: ["source <(edgetable completion bash)", "source <(edgetable completion zsh)", "edgetable completion fish | source"],
  run: async ({ io, args }) => {
    const shell = args[0] ?? "";
    if (!isShell(shell)) throw usageError(`There is no completion for "${shell}".${didYouMean(shell, shells)}`);
    io.out.write(scripts[shell]);
    return exitCode.ok;
  },
});

const modelWord = (words: readonly string[]): string | undefined => {
  const at = words.indexOf("--model");
  return at < 0 ? undefined : words[at + 1];
};

// A model that cannot be read has no names; this is no moment to say why.
const namesOf = async ({ io, rest }: Invocation): Promise<Names> => {
  try {
    const { graphs, patterns } = await loadModel(modelWord(rest), io.cwd);
    const all = patterns.flatMap(({ value }) => Object.entries(value.patterns));
    const parameters = all.map(([name, { example }]) => [name, Object.keys(typeof example === "object" ? { ...example } : {})] as const);
    return { catalog: graphs[0]?.value.catalog, patterns: Object.fromEntries(parameters) };
  } catch {
    return { catalog: undefined, patterns: {} };
  }
};

/** What the scripts ask. @param all every command; asked for late, because this is one of them */
export const completeCommand = (all: () => readonly CommandSpec[]): CommandSpec =>
  defineCommand({
    name: "__complete",
    hidden: true,
    arguments: "[words...]",
    summary: "What the last of these words may become",
    run: async (call) => {
      const found = await candidates({ words: call.rest, commands: all(), names: () => namesOf(call) });
      call.io.out.write(found.map((one) => `${one}\n`).join(""));
      return exitCode.ok;
    },
  });
