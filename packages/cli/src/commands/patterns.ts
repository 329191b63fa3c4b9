import { exitCode } from "../exit-codes.ts";
import { defineCommand, note, printJson, type CommandSpec, type Invocation } from "../invocation.ts";
import { loadModel, planPatterns, type PlannedPattern } from "../model.ts";
import { counted, indexesOf, operationsOf, showUnits } from "../output/explanation.ts";
import { renderTable, type Column } from "../output/table.ts";
import { wrap } from "../output/terminal.ts";

const columns: readonly Column[] = [
  { title: "name" },
  { title: "question", below: true },
  { title: "requests" },
  { title: "index" },
  { title: "consistency", flexible: false },
  { title: "cost", align: "right", flexible: false },
];

/** The patterns of one export. */
interface List {
  readonly exported: string;
  readonly table: string;
  readonly patterns: readonly PlannedPattern[];
}

const print = ({ io, style }: Invocation, lists: readonly List[]): void => {
  const width = io.out.columns;
  for (const [at, { exported, table, patterns }] of lists.entries()) {
    if (lists.length > 1) io.out.write(`${at === 0 ? "" : "\n"}${style.bold(exported)} (table ${table})\n\n`);
    const rows = patterns.map(({ name, question, explanation: plan }) =>
      plan
        ? [name, question, operationsOf(plan), indexesOf(plan).join(", "), plan.consistency, showUnits(plan.cost.readUnits)]
        : [name, question, "none", "", "", ""],
    );
    io.out.write(renderTable({ columns, rows }, width, style));
    for (const { name, problem } of patterns) {
      if (!problem) continue;
      const lines = wrap(`${problem.message} (${problem.code})`, (width ?? Number.POSITIVE_INFINITY) - name.length - 2);
      io.out.write(`\n${style.red(name)}: ${lines.join("\n  ")}\n`);
    }
  }
};

const asJson = ({ exported, table, patterns }: List): readonly object[] =>
  patterns.map(({ name, question, explanation, problem }) => ({
    name,
    question,
    export: exported,
    table,
    ...(explanation && {
      requests: explanation.requests.map(({ operation, times }) => ({ operation, times })),
      indexes: indexesOf(explanation),
      consistency: explanation.consistency,
      cost: explanation.cost,
      notes: explanation.notes,
    }),
    ...(problem && { error: { code: problem.code, message: problem.message } }),
  }));

export const patternsCommand: CommandSpec = defineCommand({
  name: "patterns",
  group: "Model:",
  summary: "List the model's access patterns with their requests and cost",
  description:
    "Sends no requests: it plans each pattern with its example and predicts costs from the model's `expect`. Exits with 1 if a pattern has no plan.",
  examples: ["edgetable patterns", "edgetable patterns --model src/graph.ts --json"],
  run: async (call) => {
    const { patterns, file } = await loadModel(call.options.model, call.io.cwd);
    const lists: List[] = [];
    for (const { name, value } of patterns)
      lists.push({ exported: name, table: value.graph.catalog.table, patterns: await planPatterns(value) });
    const all = lists.flatMap((list) => list.patterns);
    if (call.options.json) printJson(call, lists.flatMap(asJson));
    else if (all.length === 0)
      note(call, `${file} exports no patterns. Export the result of definePatterns, or name the file that does with --model.`);
    else {
      print(call, lists);
      note(call, `\n${counted(all.length, "pattern")}. To see the requests of one: edgetable explain ${all[0]?.name ?? ""}`);
    }
    return all.some(({ problem }) => problem) ? exitCode.no : exitCode.ok;
  },
});
