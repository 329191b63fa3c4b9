import { explainPatterns, type Explanation, type Patterns } from "edgetable";
import { failureOf, type Failure } from "../failure.ts";

/** One pattern with its plan, or with why it has none. */
export interface PlannedPattern {
  readonly name: string;
  readonly question: string;
  readonly explanation: Explanation | undefined;
  readonly problem: Failure | undefined;
}

const planPattern = async (of: Patterns, name: string): Promise<PlannedPattern> => {
  const question = of.patterns[name]?.question ?? "";
  try {
    const [explained] = await explainPatterns({ ...of, patterns: { [name]: of.patterns[name] as never } });
    return { name, question, explanation: explained?.explanation, problem: undefined };
  } catch (error) {
    return { name, question, explanation: undefined, problem: failureOf(error) };
  }
};

/** Plans patterns one by one, so that one that cannot be planned does not hide the others. */
export const planPatterns = async (of: Patterns): Promise<readonly PlannedPattern[]> =>
  Promise.all(Object.keys(of.patterns).map((name) => planPattern(of, name)));
