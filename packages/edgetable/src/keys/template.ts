// The one door to this folder: everything outside makes, reads and compares keys through here.
export { comparePrimary, keyBytes } from "./byte-order.ts";
export { encodeDate as dateText } from "./date-text.ts";
export { decodeField, encodeField, encodePrefix } from "./encode-field.ts";
export { exactText, readExactText } from "./exact-text.ts";
export { decimalOf, decimalText } from "./number-text.ts";
export { MAX_SHARDS, type FieldFormat, type Sharding } from "./field-format.ts";
export { endingField, fieldReader } from "./field-reader.ts";
export { leadOf, type FieldPart, type Template } from "./key-template.ts";
export { keepsOrder } from "./keeps-order.ts";
export { parseTemplate } from "./parse-template.ts";
export { readTemplate, templateMatches } from "./read-template.ts";
export { renderPartitions, type Partition } from "./render-partitions.ts";
export { renderPrefix, renderTemplate } from "./render-template.ts";
export { growthOf, mostShards, shardPaths } from "./sharding.ts";
export { sameValue } from "./same-value.ts";
export { templatesOverlap } from "./templates-overlap.ts";
