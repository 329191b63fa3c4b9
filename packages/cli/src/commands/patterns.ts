import { explainPatterns, type ExplainedPattern } from "edgetable";
import { exitCode } from "../exit-codes.ts";
import { defineCommand, note, printJson, type CommandSpec } from "../invocation.ts";
import { loadModel, type Model } from "../model/load-model.ts";
import { counted, indexesOf, operationsOf, showUnits } from "../output/explanation.ts";
import { renderTable, type Column } from "../output/table.ts";

const columns: readonly Column[] = [
  { title: "name", flexible: true },
  { title: "question" },
  { title: "requests" },
  { title: "index" },
  { title: "consistency", flexible: false },
  { title: "cost", align: "right", flexible: false },
];

const rowOf = ({ name, question, explanation }: ExplainedPattern): readonly string[] => [
  name,
  question,
  operationsOf(explanation),
  indexesOf(explanation).join(", "),
  explanation.consistency,
  showUnits(explanation.cost.readUnits),
];

const plain = ({ name, question, explanation }: ExplainedPattern): object => ({
  name,
  question,
  requests: explanation.requests.map(({ operation, times }) => ({ operation, times })),
  indexes: indexesOf(explanation),
  consistency: explanation.consistency,
  cost: explanation.cost,
  notes: explanation.notes,
});

/** Every pattern of the model, explained without any request. */
const explained = ({ patterns }: Model): readonly ExplainedPattern[] => patterns.flatMap(({ value }) => explainPatterns(value));

export const patternsCommand: CommandSpec = defineCommand({
  name: "patterns",
  group: "Model:",
  summary: "List the model's access patterns with their requests and price",
  description: "Nothing is sent: each pattern is planned with its example. Costs are predicted from the model's `expect`.",
  examples: ["edgetable patterns", "edgetable patterns --model src/graph.ts --json"],
  run: async (call) => {
    const model = await loadModel(call.options.model, call.io.cwd);
    const list = explained(model);
    if (call.options.json) printJson(call, list.map(plain));
    else if (list.length === 0) note(call, `${model.file} names no patterns: export what definePatterns gives.`);
    else {
      call.io.out.write(renderTable({ columns, rows: list.map(rowOf) }, call.io.out.columns, call.style));
      note(call, `\n${counted(list.length, "pattern")}. The requests of one: edgetable explain ${list[0]?.name ?? ""}`);
    }
    return exitCode.ok;
  },
});
