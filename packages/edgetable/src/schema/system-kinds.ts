import type { Catalog } from "./catalog.ts";
import {
  COUNT,
  COUNTER,
  COUNTER_TYPE,
  CURSOR_SECRET,
  CURSORS,
  DEAD_LETTERS,
  DEGREE_TYPE,
  FACTS_TYPE,
  hasTextSort,
  JOB_FACTS,
  JOBS,
  LETTER,
  MEMO_SOURCE,
  MEMO_TYPE,
  MIGRATION,
  MODEL,
  MODEL_RECORD,
  OWNER,
  REVISION,
  SECRET,
  STATE,
  textAt,
  UNIQUE_TYPE,
  ZEROS,
  type Attributes,
} from "./system-items.ts";

// What the partitions of items behind facts that the stream keeps begin with.
const FACTS = "~facts#";
const COUNTERS = "~counter#";

/** What an item of Edgetable's own is for. */
export type SystemKind = "marker" | "guard" | "job" | "secret" | "model" | "cursor" | "memo" | "facts" | "counter" | "deadLetter";

const kindByAttribute = (item: Attributes): SystemKind | undefined => {
  if (COUNTER in item) return "counter";
  if (COUNT in item) return "guard";
  if (OWNER in item) return "marker";
  if (JOB_FACTS in item) return "job";
  if (SECRET in item) return "secret";
  if (MODEL in item || MIGRATION in item) return "model";
  if (REVISION in item) return MEMO_SOURCE in item ? "memo" : "facts";
  if (LETTER in item) return "deadLetter";
  return STATE in item ? "cursor" : undefined;
};

// Somebody may have taken the attribute away from an item that has a type.
const kindByType: ReadonlyMap<string, SystemKind> = new Map([
  [DEGREE_TYPE, "guard"],
  [COUNTER_TYPE, "counter"],
  [MEMO_TYPE, "memo"],
  [FACTS_TYPE, "facts"],
  [UNIQUE_TYPE, "marker"],
]);

/**
 * What an item of Edgetable's own is for, by the form of its key, and by an attribute or a type that no other item has; undefined
 * for other items.
 */
export const systemKindOf = ({ index, layout }: Catalog, item: Attributes): SystemKind | undefined => {
  const key = item[index.partitionKey];
  if (key !== undefined && "N" in key) {
    const number = String(key.N);
    return number.length === 38 + ZEROS.length && number.endsWith(ZEROS) ? kindByAttribute(item) : undefined;
  }
  const partition = textAt(item, index.partitionKey);
  const type = kindByType.get(textAt(item, layout.typeAttribute));
  if (COUNT in item || type === "guard")
    return (hasTextSort(layout) ? textAt(item, index.sortKey) : partition).startsWith("~degree#") ? "guard" : undefined;
  if (!partition.startsWith("~")) return undefined;
  const kind = kindByAttribute(item) ?? type;
  switch (kind) {
    case "marker":
      return partition.startsWith("~unique#") ? kind : undefined;
    case "job":
      return partition === JOBS || partition.startsWith(`${JOBS}#`) ? kind : undefined;
    case "memo":
    case "facts":
      return partition.startsWith(FACTS) ? kind : undefined;
    case "counter":
      return partition.startsWith(COUNTERS) ? kind : undefined;
    case "deadLetter":
      return partition === DEAD_LETTERS || partition.startsWith(`${DEAD_LETTERS}#`) ? kind : undefined;
    case "secret":
      return partition === CURSOR_SECRET ? kind : undefined;
    case "model":
      return partition === MODEL_RECORD ? kind : undefined;
    default:
      return partition.startsWith(CURSORS) ? kind : undefined;
  }
};

/** True if an item is one of Edgetable's own. */
export const isSystemItem = (catalog: Catalog, item: Attributes): boolean => systemKindOf(catalog, item) !== undefined;
