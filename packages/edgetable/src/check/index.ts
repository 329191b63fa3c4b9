export { checkGraph } from "./check-graph.ts";
export { describeItem, listedAttributes, partitionOf, type ItemDescription, type NamedEnd, type NamedField } from "./describe-item.ts";
export { explanationLines, explanationText, showKey, type Explained, type ExplanationLines } from "./explanation-text.ts";
export { rewriteItem, type RewrittenItem } from "./rewrite-item.ts";
export { recommendShards, type ShardAdvice, type ShardDemand } from "./recommend-shards.ts";
export { exampleItems, tableDesign, type TableDesign } from "./table-design.ts";
export { tenantKeys, type PartitionKey, type TenantKey, type TenantKeys } from "../schema/tenant-keys.ts";
export type { Advice, CheckedPattern, Concern } from "./advice.ts";
export type { KeyPiece } from "../keys/template.ts";
