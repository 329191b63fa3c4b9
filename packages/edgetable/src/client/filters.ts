// The code that calls with conditions need, loaded by the first such call.
export { contradict, holds } from "../ir/holds.ts";
export { filterRules } from "../planner/filter-rules.ts";
export { conditionsForKeys } from "../query/widen-conditions.ts";
