import { checkGraph, type Advice } from "edgetable/check";
import { exitCode } from "../exit-codes.ts";
import { defineCommand, printJson, type CommandSpec, type Invocation } from "../invocation.ts";
import { loadModel, planPatterns, type Model, type PlannedPattern } from "../model.ts";
import { counted } from "../output/explanation.ts";
import { wrap, type Style } from "../output/terminal.ts";

interface Options {
  readonly strict?: boolean;
}

/** Advice, or a pattern without a plan: its rule is the error's code. */
type Finding = Omit<Advice, "concern"> & {
  readonly table: string;
  readonly concern?: Advice["concern"];
};

const modelFindings = async ({ graphs, patterns }: Model): Promise<Finding[]> => {
  const findings: Finding[] = [];
  for (const { value: graph } of graphs) {
    const { table } = graph.catalog;
    const planned: PlannedPattern[] = [];
    for (const { value } of patterns) if (value.graph === graph) planned.push(...(await planPatterns(value)));
    for (const { name, problem } of planned) {
      if (!problem) continue;
      const mend = `See ${problem.docs ?? "docs/errors.md"}.`;
      findings.push({ rule: problem.code, definition: name, severity: "error", message: problem.message, mend, table });
    }
    const asked = planned.flatMap(({ name, explanation }) => (explanation ? [{ name, explanation }] : []));
    for (const advice of checkGraph(graph, asked)) findings.push({ ...advice, table });
  }
  return findings;
};

const paint: Readonly<Record<Advice["severity"], "red" | "yellow" | "cyan">> = { error: "red", warning: "yellow", note: "cyan" };

const render = ({ severity, definition, rule, concern, message, mend }: Finding, style: Style, columns: number | undefined): string => {
  const width = (columns ?? Number.POSITIVE_INFINITY) - 2;
  const lines = [...wrap(message, width), ...wrap(mend, width)];
  return `${style[paint[severity]](severity)}  ${style.bold(definition)}  ${style.dim(concern === undefined ? rule : `${rule} · ${concern}`)}\n${lines.map((line) => `  ${line}\n`).join("")}`;
};

const count = (findings: readonly Finding[], severity: Advice["severity"]): number =>
  findings.filter((one) => one.severity === severity).length;

const print = ({ io, style }: Invocation<Options>, findings: readonly Finding[], { file, graphs }: Model): void => {
  for (const table of new Set(graphs.map(({ value }) => value.catalog.table))) {
    const own = findings.filter((one) => one.table === table);
    if (graphs.length > 1 && own.length > 0) io.out.write(`${style.underline(table)}\n\n`);
    for (const one of own) io.out.write(`${render(one, style, io.out.columns)}\n`);
  }
  const summary = (["error", "warning", "note"] as const).map((severity) => counted(count(findings, severity), severity)).join(", ");
  io.out.write(`${file}: ${summary}\n`);
};

export const checkCommand: CommandSpec = defineCommand<Options>({
  name: "check",
  group: "Model:",
  summary: "Check the model for hot partitions, unbounded reads and stale copies",
  description:
    "Sends no requests: to check the stored items, run edgetable verify. Exits with 1 if there is an error, such as a pattern without a plan; with --strict, also if there is a warning.",
  options: [{ flags: "--strict", text: "treat warnings as errors" }],
  examples: ["edgetable check", "edgetable check --strict --json"],
  run: async (call) => {
    const { options, io } = call;
    const model = await loadModel(options.model, io.cwd);
    const findings = await modelFindings(model);
    if (options.json) printJson(call, findings);
    else print(call, findings, model);
    const serious = count(findings, "error") + (options.strict ? count(findings, "warning") : 0);
    return serious === 0 ? exitCode.ok : exitCode.no;
  },
});
