import { createProject, describeProject } from "create-edgetable";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { defineCommand, printJson, type CommandSpec } from "../invocation.ts";

export const initCommand: CommandSpec = defineCommand({
  name: "init",
  group: "Develop:",
  arguments: "[folder]",
  summary: "Make a small project that runs: model, script, test, Lambda handler",
  description:
    "In this folder, or in the one that is named, which is made where it is missing. Files that exist are never overwritten: it lists them, writes nothing, and ends with 2. It installs nothing and sends nothing. npm create edgetable does the same.",
  examples: ["edgetable init my-graph", "edgetable init", "npm create edgetable my-graph"],
  run: async (call) => {
    const { io, args, options } = call;
    if (args[0] === "") throw usageError("Give the name of a folder, or none for this one.");
    const project = createProject(args[0] ?? ".", io.cwd);
    if (!project.created) throw usageError(describeProject(project, io.cwd));
    if (options.json) printJson(call, { folder: project.folder, files: project.files });
    else io.out.write(describeProject(project, io.cwd));
    return exitCode.ok;
  },
});
