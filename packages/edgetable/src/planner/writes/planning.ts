import { type Failure, type Images, keyId, type ReadNeed, type Term, type WriteItem } from "../../ir/write-plan.ts";
import { exactText, renderPrefix, renderTemplate } from "../../keys/template.ts";
import { keyIfComplete, keyOf, keyOfItem } from "../../requests/encode-item.ts";
import type { Catalog, Shape } from "../../schema/catalog.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { checkOwnPartition } from "../choose-path.ts";
import type { Row } from "../../util/row.ts";

/** One planning: what is known, and what turned out to be missing. */
export interface Planning {
  readonly catalog: Catalog;
  readonly images: Images;
  readonly needs: ReadNeed[];
  /** Seconds since 1970: items that expire earlier count as absent. */
  readonly livingAt?: number | undefined;
}

/** What one write comes to; undefined while something has to be read first. The first item is the write's own. */
export type Steps =
  | { readonly kind: "items"; readonly items: readonly WriteItem[]; readonly row?: Row | undefined }
  | { readonly kind: "failure"; readonly failure: Failure }
  | undefined;

export const NOT_FOUND: Failure = { reason: "notFound" };
const EXISTS: Failure = { reason: "exists" };
export const STALE: Failure = { reason: "staleRead" };
export const absent: Term = { kind: "absent", failure: EXISTS };

/** The term of what is to be created: there is none, or none that has not expired. */
export const absentOrExpired = ({ catalog, livingAt }: Planning, { ttl }: Shape): Term =>
  ttl === undefined || catalog.ttl === undefined || livingAt === undefined
    ? absent
    : { kind: "absent", expired: { attribute: catalog.ttl, before: livingAt }, failure: EXISTS };
export const present: Term = { kind: "present", failure: NOT_FOUND };
export const notFound: Steps = { kind: "failure", failure: NOT_FOUND };

/** What a need has found; undefined, and noted as needed, where it was not read yet. */
export const look = (planning: Planning, need: ReadNeed): Item | null | undefined => {
  const found = planning.images[need.id];
  if (found === undefined && !planning.needs.some(({ id }) => id === need.id)) planning.needs.push(need);
  return found;
};

/** The item as it was read: null when there is none, undefined when it has yet to be read. */
export const imageOf = (planning: Planning, at: { readonly shape: Shape; readonly key: Key }, reason: string): Item | null | undefined =>
  look(planning, { kind: "get", id: keyId(at.key), key: at.key, shape: at.shape, reason });

/** The item where a read, or a write that it refused, has shown it already: null when there is none. */
export const seen = ({ images }: Planning, key: Key): Item | null | undefined => {
  for (const _ in images) return images[keyId(key)];
  return undefined;
};

/** The table key of a row: from its fields, else by finding the item in its partition. */
export const locate = (planning: Planning, shape: Shape, row: Row): Key | null | undefined => {
  const { catalog } = planning;
  const key = keyIfComplete(catalog, shape, row);
  if (key) return key;
  const { partitionKey, sortKey = "" } = catalog.index;
  const partition = renderTemplate(shape.keys[partitionKey]!, row);
  if (partition === undefined) {
    if (shape.kind === "node") checkOwnPartition(catalog, shape.definition, catalog.nodes[shape.definition]?.idFields ?? []);
    return keyOf(catalog, shape, row);
  }
  const { text: prefix } = renderPrefix(shape.keys[sortKey]!, row);
  const reason = `the sort key of "${shape.definition}" is not known from its id`;
  const found = look(planning, { kind: "find", id: exactText([shape.id, partition, row]), shape, partition, prefix, row, reason });
  return found && keyOfItem(catalog, found);
};
