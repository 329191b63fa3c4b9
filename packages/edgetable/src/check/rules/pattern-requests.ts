import { CONCERNS, type Advice, type AdviceRule, type CheckedPattern } from "../advice.ts";

const listed = ({ explanation }: CheckedPattern): string =>
  explanation.requests.map(({ operation, times = 1 }) => (times === 1 ? operation : `${operation} × ${times}`)).join(", ");

const mendOf = ({ explanation }: CheckedPattern): string => {
  if (explanation.plan?.kind === "walk")
    return "A walk reads each node of a layer once: give it a budget, and declare expect.from and expect.to, so that the figure is not a guess.";
  if (explanation.requests.some(({ partitions }) => partitions !== undefined))
    return "Each shard is asked: take no more of them than recommendShards says, or narrow the search to one partition by `split`.";
  const dependent = explanation.requests.find((request) => request.after !== undefined);
  if (dependent?.operation === "Query")
    return "Give what the nodes' keys need beside their ids by { given }, so that one BatchGetItem reads them.";
  if (dependent) return "Ask for edges() or ids() where the nodes' attributes are not needed, or hold immutable ones on the edge.";
  return "Put what is read together into one partition, or into one index under one key.";
};

const adviceOn = (pattern: CheckedPattern): readonly Advice[] => {
  const { name, explanation } = pattern;
  const about = { definition: name } as const;
  const scans = explanation.requests.some(({ operation }) => operation === "Scan");
  const scan: Advice = {
    ...about,
    rule: "patternRequests",
    concern: CONCERNS.noScan,
    severity: "error",
    message: `the pattern "${name}" reads the whole table by Scan.`,
    mend: "Give the layout an index that answers it.",
  };
  if (scans) return [scan];
  if (explanation.cost.requests <= 1) return [];
  const message = `the pattern "${name}" needs ${explanation.cost.requests} requests: ${listed(pattern)}.`;
  return [{ ...about, rule: "patternRequests", concern: CONCERNS.budgets, severity: "note", message, mend: mendOf(pattern) }];
};

/** Patterns that one request cannot answer. */
export const patternRequests: AdviceRule = (_, patterns) => patterns.flatMap(adviceOn);
