import type { Catalog } from "../schema/catalog.ts";
import { COPY_REVISION, NODE_REVISION, ROLLED } from "../schema/facts.ts";
import { COUNT, COUNTER, MIGRATION, MODEL, REVISION, UNTIL } from "../schema/system-items.ts";
import type { Item } from "../transport/operations.ts";
import { countedNames } from "./relations.ts";
import { counterOwner } from "./counter-owner.ts";
import type { Seen } from "./see-item.ts";

const OF_ROWS: readonly string[] = [NODE_REVISION, COPY_REVISION, ROLLED];
const OF_GUARDS: readonly string[] = [COUNT, REVISION];
const OF_JOBS: readonly string[] = [UNTIL];
const OF_MEMOS: readonly string[] = [REVISION];
const NONE: readonly string[] = [];
/** The number that every item of a kind has. */
const NEEDED: Readonly<Partial<Record<Seen["kind"], string>>> = { guard: COUNT, counter: COUNTER, memo: REVISION };

const numbersOf = (catalog: Catalog, seen: Seen): readonly string[] => {
  switch (seen.kind) {
    case "row":
      return OF_ROWS;
    case "guard":
      return OF_GUARDS;
    case "counter": {
      const owner = counterOwner(catalog, seen.item);
      return typeof owner === "object" ? [COUNTER, ...countedNames(owner.set)] : [COUNTER];
    }
    case "memo":
      return OF_MEMOS;
    case "job":
      return OF_JOBS;
    default:
      return NONE;
  }
};

/** True of a number that counts up from any beginning: the clock is later than every one of them. */
export const isRevision = (attribute: string): boolean => attribute === REVISION || attribute === COUNTER || OF_ROWS.includes(attribute);

/**
 * The attributes of Edgetable's own in which an item holds no number where one belongs: writes that add to them, or compare with
 * them, are refused. Those that the stream keeps are judged with the facts.
 */
export const unreadableNumbers = (catalog: Catalog, seen: Seen): readonly string[] => {
  let wrong: string[] | undefined;
  for (const attribute of numbersOf(catalog, seen)) {
    const value = seen.item[attribute];
    if (value ? !("N" in value) : attribute === NEEDED[seen.kind]) (wrong ??= []).push(attribute);
  }
  return wrong ?? NONE;
};

const isRecord = (value: Item[string]): boolean => {
  if (!("S" in value)) return false;
  try {
    const read: unknown = JSON.parse(value.S);
    return typeof read === "object" && read !== null;
  } catch {
    return false;
  }
};

/** The attributes of the model's record that do not read as JSON. */
export const unreadableRecords = ({ kind, item }: Seen): readonly string[] =>
  kind === "model" ? [MODEL, MIGRATION].filter((attribute) => item[attribute] && !isRecord(item[attribute])) : NONE;
