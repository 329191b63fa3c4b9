import type { Catalog } from "edgetable";
import { tableDesign } from "edgetable/check";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { cdk, cloudFormation, terraform, toYaml, type Capacity, type Printed } from "../infrastructure/infrastructure.ts";
import { workbench } from "../infrastructure/workbench.ts";
import { defineCommand, note, printJson, type CommandSpec } from "../invocation.ts";
import { loadModel, theGraph } from "../model.ts";

/** A form in which a table is printed. */
interface Form {
  /** What is printed, for the help. */
  readonly says: string;
  /** As text; without it, data is printed as JSON. */
  readonly text?: (printed: Printed) => string;
  /** What --json prints. @default the text */
  readonly data?: (printed: Printed, catalog: Catalog) => object;
}

const FORMS = {
  cloudformation: { says: "a template in YAML", text: (printed) => toYaml(cloudFormation(printed)), data: cloudFormation },
  cdk: { says: "TypeScript with aws-cdk-lib's TableV2", text: cdk },
  terraform: { says: "a resource of the AWS provider", text: terraform },
  workbench: {
    says: "a data model of NoSQL Workbench (JSON)",
    data: ({ capacity }, catalog) => workbench(catalog, capacity, new Date()),
  },
} as const satisfies Readonly<Record<string, Form>>;

type FormName = keyof typeof FORMS;

const names = Object.keys(FORMS) as readonly FormName[];

interface Options extends Readonly<Partial<Record<FormName, boolean>>> {
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
    "Sends no requests. Prints keys, indexes, expiry (ttl), stream, point-in-time recovery, deletion protection and capacity mode. A stream is printed if the model's settings ask for it, or if the model has facts that the stream maintains. Settings that the model does not name are left out. The table is retained when the stack is deleted. With --json, --cloudformation prints JSON instead of YAML. A file for NoSQL Workbench has example items of each kind; edgetable init --from-workbench reads it.",
  options: [
    ...names.map((name) => ({ flags: `--${name}`, text: FORMS[name].says })),
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
    const [name, ...others] = names.filter((one) => options[one] === true);
    if (name === undefined || others.length > 0) throw usageError(`Give one of ${names.map((one) => `--${one}`).join(", ")}.`);
    const { catalog } = theGraph(await loadModel(options.model, io.cwd));
    const printed = { design: tableDesign(catalog), capacity: options.provisioned };
    const { text, data }: Form = FORMS[name];
    if (text && !options.json) io.out.write(text(printed));
    else printJson(call, data ? data(printed, catalog) : { text: text?.(printed) });
    const { pointInTimeRecovery, deletionProtection } = printed.design;
    if (name !== "workbench" && (pointInTimeRecovery ?? deletionProtection) === undefined)
      note(call, "The model does not set point-in-time recovery and deletion protection: settings of defineGraph.");
    return exitCode.ok;
  },
});
