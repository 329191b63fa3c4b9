// The entry of this folder: other folders make, read and compare keys through it. Code that few programs need is in partitions and
// key-pieces, which are loaded later.
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
