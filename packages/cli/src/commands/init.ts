import { createProject, describeProject } from "create-edgetable";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { defineCommand, printJson, type CommandSpec } from "../invocation.ts";

export const initCommand: CommandSpec = defineCommand({
  name: "init",
  group: "Develop:",
  arguments: "[folder]",
  summary: "Create a small project: model, script, test, Lambda handler",
  description:
    "Creates the project in this folder, or in the named folder. Never overwrites a file: if files are in the way, it lists them, writes nothing and exits with 2. Installs nothing and sends nothing. npm create edgetable does the same.",
  examples: ["edgetable init my-graph", "edgetable init", "npm create edgetable my-graph"],
  run: async (call) => {
    const { io, args, options } = call;
    if (args[0] === "") throw usageError("Give the name of a folder, or omit it to use this one.");
    const project = createProject(args[0] ?? ".", io.cwd);
    if (!project.created) throw usageError(describeProject(project, io.cwd));
    if (options.json) printJson(call, { folder: project.folder, files: project.files });
    else io.out.write(describeProject(project, io.cwd));
    return exitCode.ok;
  },
});
