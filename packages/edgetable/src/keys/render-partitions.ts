import { encodeStrictly } from "./encode-field.ts";
import { fieldValue } from "./field-value.ts";
import type { Template } from "./key-template.ts";
import { growthOf, readShards, turnOf } from "./sharding.ts";
import type { Row } from "../util/row.ts";

/** One of the keys over which a sharded template spreads the items of one value. */
export interface Partition {
  readonly text: string;
  /** The shard's number; 0 where the template has none. */
  readonly shard: number;
  /** While shards grow: only items of one family change places with each other, and go to later turns. */
  readonly family: number;
  readonly turn: number;
}

/**
 * Every key under which rows with these values may lie: one, where the template has no shard or the
 * sharded value is known, else one for each shard; undefined when another field is unknown.
 *
 * @throws what `renderTemplate` throws, for the known fields
 */
export const renderPartitions = (template: Template, row: Row): readonly Partition[] | undefined => {
  const growth = growthOf(template);
  const smallest = growth?.counts[0];
  let found: readonly { readonly text: string; readonly shard: number }[] = [{ text: "", shard: 0 }];
  for (const part of template.parts) {
    if (part.kind === "field" && part.format.kind === "shard") {
      const value = fieldValue(row, part.steps);
      // An empty or unfit value is refused as in a key.
      if (value !== undefined) encodeStrictly(template, part, value);
      const shards = readShards(part, part.format.sharding, row) ?? [];
      found = found.flatMap(({ text }) => shards.map((shard) => ({ text: text + shard, shard: Number(shard) })));
      continue;
    }
    const value = part.kind === "literal" ? undefined : fieldValue(row, part.steps);
    if (part.kind === "field" && value === undefined) return undefined;
    const more = part.kind === "literal" ? part.text : encodeStrictly(template, part, value);
    found = found.map(({ text, shard }) => ({ text: text + more, shard }));
  }
  return found.map((one) => ({
    ...one,
    family: smallest === undefined ? one.shard : one.shard % smallest,
    turn: turnOf(growth, one.shard),
  }));
};
