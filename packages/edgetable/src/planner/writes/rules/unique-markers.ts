import { type EdgetableError, isEdgetableError } from "../../../errors/edgetable-error.ts";
import { type Failure, sameKey, type Term } from "../../../ir/write-plan.ts";
import { checkLength } from "../../../requests/encode-item.ts";
import type { Catalog, NodeEntry } from "../../../schema/catalog.ts";
import { OWNER, UNIQUE_TYPE } from "../../../schema/system-items.ts";
import { systemKeyItem, systemType } from "../../../schema/system-key-item.ts";
import { ownerText, uniqueMarker } from "../../../schema/system-keys.ts";
import type { AttributeValue, Key } from "../../../transport/operations.ts";
import { own, type Row } from "../../../util/row.ts";
import { isChanged } from "../changed-row.ts";
import { type Contribution, imageOf, type ItemRule, knownImage, type Look, type RowChange, STALE, unitedTerms } from "../working-set.ts";

/** The change of one unique value of one node: it is claimed, released, or stays. */
export interface Claim extends Contribution {
  readonly node: NodeEntry;
  readonly field: string;
  readonly owner: string;
  /** True if the row before had the value; `has`: if the row after has it. */
  readonly had: boolean;
  readonly has: boolean;
}

const NONE: readonly Claim[] = [];

const touchedFields = ({ subject, changes }: RowChange): readonly string[] | undefined => {
  const unique = subject.kind === "node" ? subject.entry.definition.unique : undefined;
  return unique && changes ? unique.filter((field) => isChanged(changes, field)) : unique;
};

/**
 * The key of the marker of a row's value; undefined if the row has none.
 *
 * @throws {keys.tooLong} for a value that no key can hold
 */
export const markerKey = (
  catalog: Catalog,
  { node, field }: { readonly node: string; readonly field: string },
  row: Row,
): Key | undefined => {
  const value = own(row, field);
  if (value === undefined || value === null) return undefined;
  const marker = uniqueMarker(node, field, value);
  checkLength(catalog, catalog.index.partitionKey, marker.partition);
  return systemKeyItem(catalog, marker);
};

/**
 * Why a row's value does not fit into a marker, so that another program must have stored it; undefined if it fits, or the row has
 * no value.
 */
export const unfitForMarker = (
  catalog: Catalog,
  of: { readonly node: string; readonly field: string },
  row: Row,
): EdgetableError | undefined => {
  try {
    markerKey(catalog, of, row);
    return undefined;
  } catch (error) {
    if (isEdgetableError(error) && error.code.startsWith("keys.")) return error;
    throw error;
  }
};

const isFreeFor = (owner: string, failure: Failure): Term => ({
  kind: "equals",
  attribute: OWNER,
  value: { S: owner },
  orAbsent: true,
  failure,
});

/**
 * Each value of a unique attribute has a marker that names its owner. A value that stays is claimed if its marker is missing: the
 * node may be older than the rule. The marker of another node is not changed. Within one call, a value may move from one node to
 * another; two nodes cannot both claim the same value.
 */
export const uniqueMarkers: ItemRule<Claim> = {
  name: "unique markers",
  shared: true,
  looksAt: (_, change): Look | undefined => {
    const fields = change.before === null ? undefined : touchedFields(change);
    return fields && fields.length > 0 ? { fields, reason: "the markers of its unique values follow them" } : undefined;
  },
  contributions: (catalog, change) => {
    const { subject, before, after } = change;
    const fields = touchedFields(change);
    if (subject.kind !== "node" || !fields || fields.length === 0) return NONE;
    const node = subject.entry;
    const owner = ownerText(node, after ?? before ?? {});
    const claims: Claim[] = [];
    for (const field of fields) {
      const of = { node: node.name, field };
      const claim = (key: Key, had: boolean, failure: Failure | undefined): Claim => ({
        rule: uniqueMarkers,
        key,
        node,
        field,
        owner,
        had,
        has: failure !== undefined,
        failure,
      });
      // An old value that does not fit into a marker is older than the rule and never had a marker.
      const old = before && !unfitForMarker(catalog, of, before) ? markerKey(catalog, of, before) : undefined;
      const now = after ? markerKey(catalog, of, after) : undefined;
      const stays = old !== undefined && now !== undefined && sameKey(old, now);
      if (old && !stays) claims.push(claim(old, true, undefined));
      if (now) claims.push(claim(now, stays, { reason: "notUnique", attribute: field }));
    }
    return claims;
  },
  settle: (working, claims) => {
    const [{ key }] = claims;
    const staying = claims.find(({ had, has }) => had && has);
    const claimed = staying ?? claims.find(({ has }) => has);
    const late = claims.find(({ has, owner }) => has && owner !== claimed?.owner);
    if (late) return { kind: "failure", of: late };
    const marker = staying
      ? imageOf(working, { shape: staying.node.shape, key }, `the marker of its unique "${staying.field}" may be missing`)
      : knownImage(working, key);
    if (staying && marker === undefined) return undefined;
    const stored = marker?.[OWNER];
    const holder = stored && "S" in stored ? stored.S : undefined;
    if (claimed && staying && holder === claimed.owner) return null;
    let releases: readonly Term[] = [];
    for (const { has, owner } of claims) {
      if (!has && (!marker || holder === owner)) releases = unitedTerms(releases, [isFreeFor(owner, STALE)]);
    }
    if (!claimed) return releases.length > 0 ? { kind: "delete", key, terms: releases, shape: undefined } : null;
    const item: Record<string, AttributeValue> = Object.assign({}, key, systemType(working.catalog, UNIQUE_TYPE));
    item[OWNER] = { S: claimed.owner };
    const terms = releases.length > 0 ? releases : [isFreeFor(claimed.owner, claimed.failure ?? STALE)];
    return { kind: "put", key, item, terms, shape: undefined };
  },
};
