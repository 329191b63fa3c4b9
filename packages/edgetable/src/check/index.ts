export { checkGraph } from "./check-graph.ts";
export type { Advice, CheckedPattern, Law } from "./advice.ts";
