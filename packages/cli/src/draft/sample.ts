import type { AttributeValue } from "edgetable";

/** An item as DynamoDB returns it. */
export type RawItem = Readonly<Record<string, AttributeValue>>;

export interface SampledIndex {
  /** A list for a key of several attributes. */
  readonly partitionKey: string | readonly string[];
  readonly sortKey?: string | readonly string[];
  readonly projection?: "ALL" | "KEYS_ONLY" | readonly string[];
}

/** A table that exists, with some of its items. */
export interface SampledTable {
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey?: string;
  /** Types of the key attributes of the table and its indexes, where they are not text. */
  readonly types: Readonly<Record<string, "N" | "B">>;
  readonly indexes: Readonly<Record<string, SampledIndex>>;
  /** The attribute by which DynamoDB removes expired items. */
  readonly ttl?: string;
  readonly settings: {
    readonly stream?: boolean;
    readonly deletionProtection?: boolean;
    readonly pointInTimeRecovery?: boolean;
  };
  readonly items: readonly RawItem[];
}

/** The text of a text or a number; undefined for other values. */
export const textOf = (value: AttributeValue | undefined): string | undefined => {
  if (value === undefined) return undefined;
  return "S" in value ? value.S : "N" in value ? value.N : undefined;
};

/** The key attributes of an index. */
export const indexKeysOf = ({ partitionKey, sortKey = [] }: SampledIndex): readonly string[] => [partitionKey, sortKey].flat();

/** The key attributes of the table, then those of its indexes. Keys of type B are left out: no template makes bytes. */
export const keyAttributesOf = ({ partitionKey, sortKey, indexes, types }: SampledTable): readonly string[] => {
  const ofIndexes = Object.values(indexes).flatMap(indexKeysOf);
  const all = [partitionKey, sortKey, ...ofIndexes].filter((name) => name !== undefined);
  return [...new Set(all)].filter((name) => types[name] !== "B");
};

/** One value for each distinct one of a list. */
export const distinct = <T>(values: readonly T[]): readonly T[] => [...new Set(values)];
