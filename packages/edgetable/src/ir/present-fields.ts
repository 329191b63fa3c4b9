import { type Condition, RANGES } from "./condition.ts";

const PRESENT: ReadonlySet<Condition["operator"]> = new Set([...RANGES, "eq", "contains", "in"] as const);

/** The fields of which every row that meets the conditions has a value other than null, as keys hold it. */
export const presentIn = (conditions: readonly Condition[]): readonly string[] => [
  ...new Set(conditions.flatMap(({ path, operator, nullable }) => (PRESENT.has(operator) && !nullable ? [path] : []))),
];
