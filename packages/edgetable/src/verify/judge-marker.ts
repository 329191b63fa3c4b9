import { isEdgetableError } from "../errors/edgetable-error.ts";
import { keyAsText, keyId, sameKey } from "../ir/write-plan.ts";
import { decodeValue } from "../requests/attribute-value.ts";
import { isOfShape } from "../requests/decode-item.ts";
import { keyIfComplete } from "../requests/encode-item.ts";
import type { Catalog, NodeEntry } from "../schema/catalog.ts";
import { OWNER, textAt, UNIQUE_TYPE } from "../schema/system-items.ts";
import { systemKeyItem, systemType } from "../schema/system-key-item.ts";
import { ownerId, uniqueMarker } from "../schema/system-keys.ts";
import type { Item, Key } from "../transport/operations.ts";
import type { Finding } from "./finding.ts";
import { asRead, check, deletion, itemAt, type Judging, none, put, report, UNSURE, writes } from "./judging.ts";
import { derivedOf } from "./relations.ts";
import { seeItem, type Seen, type SeenRow } from "./see-item.ts";

/** The row of a marker's owner, if it has the value; null: it does not, undefined: it has to be read. */
const ownerOfMarker = (
  judging: Judging,
  marker: { readonly key: Key; readonly item: Item },
  only?: NodeEntry,
): SeenRow | null | undefined => {
  const { catalog } = judging;
  const owner = marker.item[OWNER];
  const text = owner && "S" in owner ? owner.S : "";
  let unread = false;
  for (const node of Object.values(catalog.nodes)) {
    if (!node.definition.unique || (only && node !== only)) continue;
    const id = ownerId(node, text);
    const key = id && ownerKey(catalog, node, id);
    if (!key) continue;
    const found = itemAt(judging, key);
    if (found === undefined) unread = true;
    if (!found || !isOfShape(catalog, node.shape, found)) continue;
    const seen = seeItem(catalog, found);
    if (seen.kind !== "row") continue;
    if (derivedOf(catalog, seen).claims.some((claim) => sameKey(claim.key, marker.key) && claim.owner === text)) return seen;
  }
  return unread ? undefined : null;
};

// A text that is not the id of such a node has no key.
const ownerKey = (catalog: Catalog, node: NodeEntry, id: Readonly<Record<string, unknown>>): Key | undefined => {
  try {
    return keyIfComplete(catalog, node.shape, id);
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
    return undefined;
  }
};

/** Judges a node by the markers of its unique values. */
export const judgeMarkers = (judging: Judging, seen: SeenRow): void => {
  const { catalog } = judging;
  const { key, item, shape } = seen;
  for (const claim of derivedOf(catalog, seen).claims) {
    const marker = itemAt(judging, claim.key);
    if (marker === undefined) continue;
    const stored = marker?.[OWNER];
    const holder = stored && "S" in stored ? stored.S : undefined;
    if (holder === claim.owner) continue;
    const wanted: Item = { ...claim.key, ...systemType(catalog, UNIQUE_TYPE), [OWNER]: { S: claim.owner } };
    const base = { key, definition: shape.definition, attribute: claim.field, other: claim.key, stored: holder, expected: claim.owner };
    const own = check(judging, key, item, shape);
    if (!marker) {
      const reason = `Nothing reserves the value of "${claim.field}": another node can take it.`;
      report(
        judging,
        { ...base, kind: "missingMarker", reason },
        writes(put(claim.key, wanted, [{ kind: "absent", failure: UNSURE }]), own),
      );
      continue;
    }
    const rival = ownerOfMarker(judging, { key: claim.key, item: marker }, claim.node);
    if (rival === undefined) continue;
    if (rival) {
      const reason = `Two nodes have the value of "${claim.field}": the marker names ${keyAsText(rival.key)}.`;
      report(judging, { ...base, kind: "duplicate", other: rival.key, reason }, none("Give one of them another value."));
      continue;
    }
    const reason = `The marker of "${claim.field}" names a node that does not have the value.`;
    report(judging, { ...base, kind: "foreignMarker", reason }, writes(put(claim.key, wanted, asRead(judging, marker, undefined)), own));
  }
};

/** True if a marker is of an attribute that the model says is unique. Numbers as keys hold a hash, which does not tell. */
const isKeptMarker = (catalog: Catalog, item: Item): boolean => {
  const { partitionKey } = catalog.index;
  if (catalog.layout.types?.[partitionKey] === "N") return true;
  const text = textAt(item, partitionKey);
  return Object.values(catalog.nodes).some(({ name, definition: { unique = [] } }) =>
    unique.some((attribute) => {
      const key = textAt(systemKeyItem(catalog, uniqueMarker(name, attribute, "0")), partitionKey);
      return text.startsWith(key.slice(0, key.lastIndexOf("#0") + 1));
    }),
  );
};

/** Judges a marker by the node that it names. */
export const judgeMarker = (judging: Judging, { key, item }: Seen): void => {
  const { catalog } = judging;
  if (!isKeptMarker(catalog, item)) {
    const reason = "Its attribute is not unique in the model, so nothing maintains it.";
    return report(judging, { kind: "idleMarker", key, attribute: OWNER, reason }, writes(deletion(judging, { key, item })));
  }
  if (ownerOfMarker(judging, { key, item }) !== null) return;
  const stored = item[OWNER] && decodeValue(item[OWNER]);
  const finding: Finding = {
    kind: "orphanedMarker",
    key,
    attribute: OWNER,
    stored,
    reason: "The node that it names does not exist or does not have the value.",
  };
  const inputs = judging.used.filter((need) => need.kind === "get" && need.id !== keyId(key));
  const checks = inputs.map((need) => check(judging, (need as { readonly key: Key }).key, judging.images[need.id]));
  report(judging, finding, writes(deletion(judging, { key, item }), ...checks));
};
