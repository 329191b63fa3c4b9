import { checkGraph, type Advice } from "edgetable/check";
import { exitCode } from "../exit-codes.ts";
import { defineCommand, printJson, type Invocation, type CommandSpec } from "../invocation.ts";
import { loadModel, type Model } from "../model/load-model.ts";
import { planPatterns, type PlannedPattern } from "../model/plan-patterns.ts";
import { counted } from "../output/explanation.ts";
import type { Style } from "../output/style.ts";
import { wrap } from "../output/width.ts";

interface Options {
  readonly strict?: boolean;
}

/** Advice, or a pattern that has no plan: its rule is the error's code, and it has no concern. */
type Finding = Omit<Advice, "concern"> & { readonly table: string; readonly concern?: Advice["concern"] };

const withoutPlan = ({ name, problem }: PlannedPattern): readonly Omit<Finding, "table">[] =>
  problem
    ? [{ rule: problem.code, definition: name, severity: "error", message: problem.message, mend: `${problem.docs ?? ""} explains it.` }]
    : [];

const findingsOf = ({ graphs, patterns }: Model): readonly Finding[] =>
  graphs.flatMap(({ value: graph }) => {
    const planned = patterns.filter(({ value }) => value.graph === graph).flatMap(({ value }) => planPatterns(value));
    const asked = planned.flatMap(({ name, explanation }) => (explanation ? [{ name, explanation }] : []));
    return [...planned.flatMap(withoutPlan), ...checkGraph(graph, asked)].map((one) => ({ ...one, table: graph.catalog.table }));
  });

const paint: Readonly<Record<Advice["severity"], "red" | "yellow" | "cyan">> = { error: "red", warning: "yellow", note: "cyan" };

const render = ({ severity, definition, rule, concern, message, mend }: Finding, style: Style, columns: number | undefined): string => {
  const width = (columns ?? Number.POSITIVE_INFINITY) - 2;
  const lines = [...wrap(message, width), ...wrap(mend, width)];
  return `${style[paint[severity]](severity)}  ${style.bold(definition)}  ${style.dim(concern === undefined ? rule : `${rule} · ${concern}`)}\n${lines.map((line) => `  ${line}\n`).join("")}`;
};

const count = (findings: readonly Finding[], severity: Advice["severity"]): number =>
  findings.filter((one) => one.severity === severity).length;

const print = ({ io, style }: Invocation<Options>, findings: readonly Finding[], { file, graphs }: Model): void => {
  const several = graphs.length > 1;
  const tables = [...new Set(graphs.map(({ value }) => value.catalog.table))];
  for (const table of tables) {
    const own = findings.filter((one) => one.table === table);
    if (several && own.length > 0) io.out.write(`${style.underline(table)}\n\n`);
    for (const one of own) io.out.write(`${render(one, style, io.out.columns)}\n`);
  }
  const summary = [
    counted(count(findings, "error"), "error"),
    counted(count(findings, "warning"), "warning"),
    counted(count(findings, "note"), "note"),
  ].join(", ");
  io.out.write(`${file}: ${summary}\n`);
};

export const checkCommand: CommandSpec = defineCommand<Options>({
  name: "check",
  group: "Model:",
  summary: "Advise on the model: hot partitions, unbounded reads, stale copies",
  description:
    "Nothing is sent. Ends with 1 when there is an error, such as a pattern without a plan; with --strict when there is a warning too.",
  options: [{ flags: "--strict", text: "warnings count as errors do" }],
  examples: ["edgetable check", "edgetable check --strict --json"],
  run: async (call) => {
    const model = await loadModel(call.options.model, call.io.cwd);
    const findings = findingsOf(model);
    if (call.options.json) printJson(call, findings);
    else print(call, findings, model);
    const serious = count(findings, "error") + (call.options.strict ? count(findings, "warning") : 0);
    return serious === 0 ? exitCode.ok : exitCode.no;
  },
});
