// The door to this folder: code outside makes, reads and compares keys through here. What few programs need is in partitions and key-pieces, so that it is loaded late.
export { keepsOrder, templatesOverlap } from "./compare-templates.ts";
export {
  ALPHABETS,
  decodeKeyField,
  encodeKeyField,
  encodeKeyPrefix,
  inKeysCase,
  isOneWay,
  mostShards,
  growthOf,
  hasKey,
  hasShard,
  leadOf,
  readTemplate,
  renderPrefix,
  renderTemplate,
  shardPaths,
  templateMatches,
} from "./render-template.ts";
export { MAX_SHARDS, type FieldFormat, type FieldPart, type OneWayText, type Sharding, type Template, type When } from "./key-template.ts";
export { parseTemplate } from "./parse-template.ts";
export {
  comparePrimary,
  decimalOf,
  decimalText,
  encodeDate as dateText,
  exactText,
  isWellFormed,
  keyBytes,
  MOST_LEVELS,
  readExactText,
  sameValue,
  unstorable,
} from "./value-text.ts";
