import { tableDesign } from "edgetable/check";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { cdk, cloudFormation, terraform, toYaml, type Capacity } from "../infrastructure/infrastructure.ts";
import { workbench } from "../infrastructure/workbench.ts";
import { defineCommand, note, printJson, type CommandSpec } from "../invocation.ts";
import { loadModel, theGraph } from "../model.ts";

const FORMS = ["cloudformation", "cdk", "terraform", "workbench"] as const;

interface Options extends Readonly<Partial<Record<(typeof FORMS)[number], boolean>>> {
  readonly provisioned?: Capacity;
}

// "Read/write capacity units: 40,000 per table in most Regions", ServiceQuotas; a quota can be raised.
const MOST = 1_000_000;

const parseCapacity = (text: string): Capacity => {
  const [read = 0, write = 0, ...more] = text.split(",").map(Number);
  const isUnits = (units: number): boolean => Number.isInteger(units) && units >= 1 && units <= MOST;
  if (more.length > 0 || !isUnits(read) || !isUnits(write))
    throw usageError("It must be two whole numbers from 1: units for reads and writes, such as 10,5.");
  return { read, write };
};

export const modelCommand: CommandSpec = defineCommand<Options>({
  name: "model",
  group: "Model:",
  summary: "Print the model's table for CloudFormation, CDK, Terraform or NoSQL Workbench",
  description:
    "Sends no requests. Prints keys, indexes, expiry (ttl), stream, point-in-time recovery, deletion protection and capacity mode. A stream is printed if the model's settings ask for it, or if the model leaves facts to it. Settings that the model does not name are left out. The table is retained when the stack is deleted. With --json, --cloudformation prints JSON instead of YAML. A file for NoSQL Workbench has example items of each kind; edgetable init --from-workbench reads it.",
  options: [
    { flags: "--cloudformation", text: "a template in YAML" },
    { flags: "--cdk", text: "TypeScript with aws-cdk-lib's TableV2" },
    { flags: "--terraform", text: "a resource of the AWS provider" },
    { flags: "--workbench", text: "a data model of NoSQL Workbench (JSON)" },
    {
      flags: "--provisioned <read,write>",
      text: "units a second of the table and of each index (default: on demand)",
      parse: parseCapacity,
    },
  ],
  examples: [
    "edgetable model --cloudformation > table.yaml",
    "edgetable model --cdk > table.ts",
    "edgetable model --terraform --provisioned 10,5 > table.tf",
    "edgetable model --workbench > model.json",
  ],
  run: async (call) => {
    const { io, options } = call;
    const forms = FORMS.filter((form) => options[form] === true);
    const [form, ...others] = forms;
    if (form === undefined || others.length > 0) throw usageError(`Give one of ${FORMS.map((one) => `--${one}`).join(", ")}.`);
    const { catalog } = theGraph(await loadModel(options.model, io.cwd));
    const printed = { design: tableDesign(catalog), capacity: options.provisioned };
    if (form === "workbench") printJson(call, workbench(catalog, options.provisioned, new Date()));
    else if (form === "cloudformation") {
      if (options.json) printJson(call, cloudFormation(printed));
      else io.out.write(toYaml(cloudFormation(printed)));
    } else {
      const text = form === "cdk" ? cdk(printed) : terraform(printed);
      if (options.json) printJson(call, { text });
      else io.out.write(text);
    }
    const { pointInTimeRecovery, deletionProtection } = printed.design;
    if (form !== "workbench" && (pointInTimeRecovery ?? deletionProtection) === undefined)
      note(call, "The model does not set point-in-time recovery and deletion protection: settings of defineGraph.");
    return exitCode.ok;
  },
});
