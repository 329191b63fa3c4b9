// What calls with conditions need, loaded by the first of them.
export { contradict, holds } from "../ir/holds.ts";
export { filterRules } from "../planner/filter-rules.ts";
export { conditionsForKeys } from "../query/widen-conditions.ts";
