import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { RelinkWrite } from "../../ir/logical-write.ts";
import type { WriteItem } from "../../ir/write-plan.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import { VERSION } from "../../requests/encode-item.ts";
import { validateRow } from "../../schema/validate-value.ts";
import { changedRow } from "./changed-row.ts";
import { type ChangedItem, changeItem } from "./change-item.ts";
import { countSteps, type EdgeBetween } from "./degree-guards.ts";
import { type EdgeCopy, edgeCopies } from "./edge-copies.ts";
import { endTerms, isOtherEdge } from "./end-terms.ts";
import { guardTerms } from "./guard-terms.ts";
import { betweenOf, linkSteps } from "./link-steps.ts";
import { unchanged } from "./move-item.ts";
import { imageOf, locate, notFound, type Planning, present, type Steps } from "./planning.ts";
import { readsImage } from "./touched-keys.ts";
import type { Row } from "../../util/row.ts";

interface OneCopy extends EdgeCopy {
  /** The edge's own copy decides; the other follows it. */
  readonly own: boolean;
}

/** What one copy of an edge comes to; null where it is not there, undefined while something has to be read first. */
const changeCopy = (planning: Planning, write: RelinkWrite, { shape, row: known, own }: OneCopy): ChangedItem | null | undefined => {
  const { catalog } = planning;
  const changes = own ? write.changes : { ...write.changes, set: { ...write.changes.set, ...write.reverse } };
  const key = locate(planning, shape, known);
  if (!key) return key;
  const image = readsImage(catalog, { shape, known, changes })
    ? imageOf(planning, { shape, key }, "a computed attribute needs what is not in the call")
    : undefined;
  if (image === null) return null;
  const terms = own ? endTerms(planning, { shape, row: known, key }) : [];
  if (!terms) return terms;
  const guards = own ? write.guards : { version: write.guards.version };
  return planning.needs.length > 0 ? undefined : changeItem(catalog, { shape, key, known, changes, guards, image, terms });
};

/** Changes an edge that is there: its attributes and its place in the order, or its type. */
export const planRelink = (planning: Planning, write: RelinkWrite): Steps => {
  if (write.type !== undefined && write.type !== write.edge) return planRetype(planning, write, write.type);
  const copies = edgeCopies(betweenOf(planning.catalog, write), write.key);
  const changed: ChangedItem[] = [];
  for (const [at, copy] of copies.entries()) {
    const one = changeCopy(planning, write, { ...copy, own: at === 0 });
    if (one === null) return notFound;
    if (one) changed.push(one);
  }
  if (changed.length < copies.length) return undefined;
  return { kind: "items", items: changed.flatMap(({ items }) => items), row: changed.find(({ row }) => row)?.row };
};

// An attribute that the user calls "version" is one like any other, unless the edge type counts its writes.
const withoutIdentity = ({ from: _from, to: _to, [VERSION]: version, ...attributes }: Row, counted: boolean): Row =>
  counted || version === undefined ? attributes : { ...attributes, [VERSION]: version };

const validated = (edge: EdgeBetween, row: Row): Row => {
  const { schema } = edge.entry.definition;
  const valid = schema ? validateRow(schema, row, `"${edge.entry.name}"`) : {};
  if (!(valid instanceof Promise)) return valid;
  valid.catch(() => undefined);
  throw new EdgetableError(
    "plan.unsupported",
    `"${edge.entry.name}" has an asynchronous schema, which a change of type cannot wait for: read the edge, then unlink and link in one transact.`,
  );
};

// The edge leaves one type and joins another with what it holds, in one transaction.
const planRetype = (planning: Planning, write: RelinkWrite, type: string): Steps => {
  const { catalog } = planning;
  const before = betweenOf(catalog, write);
  const after = betweenOf(catalog, write, type);
  const read = edgeCopies(before, write.key).map(({ shape, row }) => {
    const key = locate(planning, shape, row);
    return { shape, key, image: key ? imageOf(planning, { shape, key }, "the edge keeps its attributes under the other type") : key };
  });
  if (read.some(({ image }) => image === undefined)) return undefined;
  const [own, second] = read;
  if (!own?.key || !own.image || isOtherEdge(planning, edgeCopies(before, write.key)[0], own.image)) return notFound;
  const attributesOf = (one: typeof own): Row =>
    one.image ? withoutIdentity(decodeItem(catalog, one.shape, one.image), before.entry.definition.version === true) : {};
  const row = changedRow(attributesOf(own), write.changes);
  const reverse = { ...(second ? attributesOf(second) : {}), ...write.changes.set, ...write.reverse };
  const linked = linkSteps(catalog, after, { attributes: write.validates ? validated(after, row) : row, reverse });
  const old = { shape: own.shape, key: own.key };
  const removal: WriteItem = {
    kind: "delete",
    ...old,
    terms: [present, ...guardTerms(own.shape, write.guards), ...unchanged(catalog, old, own.image)],
  };
  const copy: readonly WriteItem[] = second?.key ? [{ kind: "delete", key: second.key, terms: [], shape: second.shape }] : [];
  return { kind: "items", items: [...linked.items, removal, ...copy, ...countSteps(catalog, before, -1)], row: linked.row };
};
