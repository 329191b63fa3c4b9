import type { Catalog, Index, Shape } from "../../schema/catalog.ts";
import { didYouMean } from "../../util/did-you-mean.ts";
import { CONCERNS, type Advice, type AdviceRule } from "../advice.ts";
import { distinct } from "../index-places.ts";

const keysOf = (index: Index): readonly string[] => [index.partitionKey, ...(index.sortKey === undefined ? [] : [index.sortKey])];

const adviceOn = (catalog: Catalog, shape: Shape, attribute: string): readonly Advice[] => {
  if (keysOf(catalog.index).includes(attribute)) return [];
  const about = { rule: "idleIndexKey", concern: CONCERNS.indexKeys, definition: shape.definition } as const;
  const using = catalog.indexes.filter((index) => keysOf(index).includes(attribute));
  const known = catalog.indexes.flatMap(keysOf);
  if (using.length === 0) {
    const message = `"${attribute}" of "${shape.definition}" is computed but is no key of any index.${didYouMean(attribute, known)}`;
    return [{ ...about, severity: "note", message, mend: "Name the index's own key attribute, or leave it out if nobody reads it." }];
  }
  const lacking = using.map((index) => keysOf(index).filter((key) => !(key in shape.keys)));
  if (lacking.some((keys) => keys.length === 0)) return [];
  const message = `"${shape.definition}" fills "${attribute}" but not "${lacking[0]?.join('", "')}": without every key it is not in the index "${using[0]?.name}".`;
  return [{ ...about, severity: "warning", message, mend: `Fill "${lacking[0]?.join('", "')}" too, or leave "${attribute}" out.` }];
};

/** Computed attributes that put no item into any index. */
export const idleIndexKey: AdviceRule = (catalog) =>
  distinct(catalog.shapes, (shape) => `${shape.definition} ${shape.role}`).flatMap((shape) =>
    Object.keys(shape.keys).flatMap((attribute) => adviceOn(catalog, shape, attribute)),
  );
