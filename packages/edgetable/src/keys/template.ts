// The one door to this folder: everything outside makes, reads and compares keys through here.
export { keepsOrder, templatesOverlap } from "./compare-templates.ts";
export { decodeField, encodeField, encodePrefix, inKeysCase, isOneWay, mostShards } from "./encode-field.ts";
export { MAX_SHARDS, type FieldFormat, type FieldPart, type OneWayText, type Sharding, type Template, type When } from "./key-template.ts";
export { parseTemplate } from "./parse-template.ts";
export {
  endingField,
  fieldReader,
  growthOf,
  hasKey,
  hasShard,
  leadOf,
  readTemplate,
  renderPartitions,
  renderPrefix,
  renderTemplate,
  shardPaths,
  splitKey,
  templateMatches,
  type KeyPiece,
  type Partition,
} from "./render-template.ts";
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
