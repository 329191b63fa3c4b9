import type { Layout } from "./layout.ts";

/** Type values of system items, where the table has a type attribute. */
export const UNIQUE_TYPE = "~unique";
export const DEGREE_TYPE = "~degree";
/** The attribute of a unique marker with its owner. */
export const OWNER = "~owner";
/** The attribute of a degree guard that counts edges. */
export const COUNT = "~count";

/** The attribute of a job's item with the holder of its lease. */
export const HOLDER = "~holder";

/** The partition of all jobs. Jobs are few and short-lived, and one Query lists them. */
export const JOBS = "~job";
/** The attribute of a node item with the job that deletes it. */
export const DELETING = "~deleting";

/** The attribute that counts an item's writes. */
export const VERSION = "version";

/** Attributes of a job's item. */
export const KIND = "~kind";
export const UNTIL = "~until";
export const RUNS = "~runs";
export const JOB_TYPE = "~job";

/** The attribute of a job with its facts. */
export const JOB_FACTS = "~facts";
/** The attribute of the cursor secret's item with the secret. */
export const SECRET = "~secret";

/** The attributes of the model's record: the model that the table was last migrated to, and the migration under way. */
export const MODEL = "~model";
export const MIGRATION = "~migration";

/** The attribute of a stored cursor with a piece of the sealed state. */
export const STATE = "~state";
/** The attribute of a stored cursor with its expiry time in seconds since 1970, if the model has no `ttl`. */
export const EXPIRES = "~expires";

/** Type values of the items behind facts that the stream keeps. */
export const FACTS_TYPE = "~facts";
export const MEMO_TYPE = "~memo";
/** The attribute of such an item that rises with each write of it. */
export const REVISION = "~revision";
/** Attributes of a memo: what its row contributes, the row's table key, and the id of the node. */
export const CONTRIBUTION = "~contribution";
export const MEMO_SOURCE = "~source";
export const MEMO_NODE = "~node";

/** The type value of the counters of a sharded aggregate, and the attribute that rises with each write of one. */
export const COUNTER_TYPE = "~counter";
export const COUNTER = "~counter";

/** The partition of all dead letters. One Query lists them. */
export const DEAD_LETTERS = "~deadLetter";
/** The attribute of a dead letter with all that it says. */
export const LETTER = "~letter";

/** The attributes of Edgetable's own items beside keys and type. No attribute of a model may be stored under these names. */
export const SYSTEM_ATTRIBUTES: readonly string[] = [
  OWNER,
  COUNT,
  HOLDER,
  DELETING,
  KIND,
  UNTIL,
  RUNS,
  JOB_FACTS,
  SECRET,
  MODEL,
  MIGRATION,
  STATE,
  EXPIRES,
  REVISION,
  CONTRIBUTION,
  MEMO_SOURCE,
  MEMO_NODE,
  LETTER,
  COUNTER,
];

/** The partitions of the secret that seals cursors and of the model's record, and the beginning of those of stored cursors. */
export const CURSOR_SECRET = "~secret#cursor";
export const MODEL_RECORD = "~model";
export const CURSORS = "~cursor#";

/** True if the table has a sort key of type text. Otherwise partition keys alone identify system items. */
export const hasTextSort = ({ sortKey, types }: Layout): boolean => sortKey !== undefined && types?.[sortKey] !== "N";

/**
 * A system number has 38 digits, followed by more zeros than any id has: ids are doubles (17 digits) or integers of at most
 * 38 digits.
 */
export const ZEROS: string = "0".repeat(87);

/** An item's attributes. */
export type Attributes = Readonly<Record<string, object | undefined>>;

/** The text of a key attribute; empty if there is none. */
export const textAt = (item: Attributes, attribute: string | undefined): string => {
  const value = attribute === undefined ? undefined : item[attribute];
  return typeof value === "object" && value !== null && "S" in value ? String(value.S) : "";
};
