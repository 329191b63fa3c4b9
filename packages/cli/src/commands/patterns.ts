import { exitCode } from "../exit-codes.ts";
import { defineCommand, note, printJson, type CommandSpec, type Invocation } from "../invocation.ts";
import { loadModel, type Model } from "../model/load-model.ts";
import { planPatterns, type PlannedPattern } from "../model/plan-patterns.ts";
import { counted, indexesOf, operationsOf, showUnits } from "../output/explanation.ts";
import { renderTable, type Column } from "../output/table.ts";
import { wrap } from "../output/width.ts";

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

const listsOf = async ({ patterns }: Model): Promise<readonly List[]> =>
  Promise.all(
    patterns.map(async ({ name: exported, value }) => ({
      exported,
      table: value.graph.catalog.table,
      patterns: await planPatterns(value),
    })),
  );

const rowOf = ({ name, question, explanation }: PlannedPattern): readonly string[] =>
  explanation
    ? [
        name,
        question,
        operationsOf(explanation),
        indexesOf(explanation).join(", "),
        explanation.consistency,
        showUnits(explanation.cost.readUnits),
      ]
    : [name, question, "none", "", "", ""];

const plain = (list: List): readonly object[] =>
  list.patterns.map(({ name, question, explanation, problem }) => ({
    name,
    question,
    export: list.exported,
    table: list.table,
    ...(explanation && {
      requests: explanation.requests.map(({ operation, times }) => ({ operation, times })),
      indexes: indexesOf(explanation),
      consistency: explanation.consistency,
      cost: explanation.cost,
      notes: explanation.notes,
    }),
    ...(problem && { error: { code: problem.code, message: problem.message } }),
  }));

const print = ({ io, style }: Invocation, lists: readonly List[]): void => {
  const width = io.out.columns;
  for (const [at, { exported, table, patterns }] of lists.entries()) {
    if (lists.length > 1) io.out.write(`${at === 0 ? "" : "\n"}${style.bold(exported)} (table ${table})\n\n`);
    io.out.write(renderTable({ columns, rows: patterns.map(rowOf) }, width, style));
    for (const { name, problem } of patterns) {
      if (problem)
        io.out.write(
          `\n${style.red(name)}: ${wrap(`${problem.message} (${problem.code})`, (width ?? Number.POSITIVE_INFINITY) - name.length - 2).join("\n  ")}\n`,
        );
    }
  }
};

export const patternsCommand: CommandSpec = defineCommand({
  name: "patterns",
  group: "Model:",
  summary: "List the model's access patterns with their requests and price",
  description:
    "Nothing is sent: each pattern is planned with its example. Costs are predicted from the model's `expect`. Ends with 1 when a pattern has no plan.",
  examples: ["edgetable patterns", "edgetable patterns --model src/graph.ts --json"],
  run: async (call) => {
    const model = await loadModel(call.options.model, call.io.cwd);
    const lists = await listsOf(model);
    const all = lists.flatMap(({ patterns }) => patterns);
    if (call.options.json) printJson(call, lists.flatMap(plain));
    else if (all.length === 0)
      note(call, `${model.file} names no patterns: export what definePatterns gives, or name the file that does with --model.`);
    else {
      print(call, lists);
      note(call, `\n${counted(all.length, "pattern")}. The requests of one: edgetable explain ${all[0]?.name ?? ""}`);
    }
    return all.some(({ problem }) => problem) ? exitCode.no : exitCode.ok;
  },
});
