import type { AttributeChanges, PutStep, WriteItem } from "../../ir/write-plan.ts";
import { decimalIn, keepDigits } from "../../requests/attribute-value.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import { encodeItem } from "../../requests/encode-item.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { NODE_REVISION } from "../../schema/facts.ts";
import type { AttributeValue } from "../../transport/operations.ts";
import { addDecimals } from "../../util/decimal.ts";

const hasAnyOf = (one: object, other: object): boolean => Object.keys(one).some((name) => name in other);

/** Joins two updates of one item; undefined if both change the same attribute other than its revision. */
export const joinUpdates = (one: AttributeChanges, other: AttributeChanges): AttributeChanges | undefined => {
  const { set, remove, add, append, defaults, paths } = one;
  if (paths && other.paths) return undefined;
  const within = Object.fromEntries([...(paths ?? []), ...(other.paths ?? [])].map(({ attribute }) => [attribute, true]));
  const { [NODE_REVISION]: _revision, ...added } = add;
  const names = { ...set, ...added, ...append, ...defaults, ...Object.fromEntries(remove.map((name) => [name, true])) };
  const more = { ...other.set, ...other.add, ...other.append, ...Object.fromEntries(other.remove.map((name) => [name, true])) };
  if (hasAnyOf(more, names) || hasAnyOf(within, { ...names, ...more })) return undefined;
  return {
    set: { ...set, ...other.set },
    remove: [...remove, ...other.remove],
    add: { ...add, ...other.add },
    append: { ...append, ...other.append },
    ...(defaults && { defaults }),
    ...((paths ?? other.paths) && { paths: paths ?? other.paths! }),
  };
};

/** Adds the contributions of the call's other writes to a node that is written as a whole, and updates its index keys. */
export const addToPut = (catalog: Catalog, put: PutStep, { set, remove, add }: AttributeChanges): WriteItem => {
  const item: Record<string, AttributeValue> = { ...put.item, ...set };
  for (const name of remove) delete item[name];
  for (const name in add) {
    item[name] = { N: addDecimals(decimalIn(item[name]), decimalIn(add[name])) };
  }
  const { shape } = put;
  if (!shape) return { ...put, item };
  const leaves = decodeItem(catalog, shape, item);
  const made = encodeItem(catalog, shape, leaves);
  for (const name in made) item[name] = keepDigits(made[name]!, item[name]);
  return { ...put, item, leaves };
};
