import { conditionForm, type Condition } from "../ir/condition.ts";
import type { LogicalPlan, Parts } from "../ir/logical-plan.ts";

/** Everything that a chain of builder calls has said so far of the parts of one kind in a node. */
export interface PartState {
  readonly part: string;
  /** The node's id. */
  readonly id: Readonly<Record<string, unknown>>;
  readonly conditions: readonly Condition[];
  readonly values: readonly unknown[];
  readonly forward: boolean;
  readonly consistent: boolean;
  readonly limit: number | undefined;
}

/** What is wanted: the parts themselves, or their number. */
export type PartWant = "rows" | "count";

/** The logical plan of a chain. */
export const partPlan = ({ part, conditions, forward, consistent }: PartState, want: PartWant): LogicalPlan => {
  const parts: Parts = { kind: "parts", part, known: [], range: [], filter: [], forward, consistent };
  const input: LogicalPlan = conditions.length === 0 ? parts : { kind: "filter", input: parts, conditions };
  return want === "count" ? { kind: "count", input, server: false } : input;
};

/** The form of a chain: two chains of the same form have the same plan, whatever their values. */
export const partForm = ({ part, conditions, forward, consistent }: PartState, want: PartWant): string =>
  `parts|${part}|${want}|${forward ? 1 : 0}${consistent ? 1 : 0}|${conditionForm(conditions)}`;
