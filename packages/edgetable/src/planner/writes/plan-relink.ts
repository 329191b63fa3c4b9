import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { RelinkWrite } from "../../ir/logical-write.ts";
import type { Term, WriteItem } from "../../ir/write-plan.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import { VERSION } from "../../requests/encode-item.ts";
import { validateRow } from "../../schema/validate-value.ts";
import { changedRow } from "./changed-row.ts";
import { type ChangedItem, changeItem } from "./change-item.ts";
import { countSteps, type EdgeBetween, readGuards } from "./degree-guards.ts";
import { type EdgeCopy, edgeCopies } from "./edge-copies.ts";
import { endTerms, isOtherEdge } from "./end-terms.ts";
import { guardTerms } from "./guard-terms.ts";
import { betweenOf, linkSteps, putCopy } from "./link-steps.ts";
import { unchanged } from "./move-item.ts";
import { imageOf, locate, notFound, type Planning, present, seen, STALE, type Steps } from "./planning.ts";
import { readsImage } from "./touched-keys.ts";
import type { Row } from "../../util/row.ts";

interface OneCopy extends EdgeCopy {
  /** The edge's own copy decides; the other follows it. */
  readonly own: boolean;
}

const reason = "a computed attribute needs what is not in the call";
// The other copy may never have been written: the edge is older than the model that stores it twice.
const copied: Term = { kind: "present", failure: STALE };

/** What one copy of an edge comes to; null where it is not there, undefined while something has to be read first. */
const changeCopy = (planning: Planning, write: RelinkWrite, { shape, row: known, own }: OneCopy): ChangedItem | null | undefined => {
  const { catalog } = planning;
  const changes = own ? write.changes : { ...write.changes, set: { ...write.changes.set, ...write.reverse } };
  const key = locate(planning, shape, known);
  if (!key) return key;
  const before = seen(planning, key);
  const image = before === undefined && readsImage(catalog, { shape, known, changes }) ? imageOf(planning, { shape, key }, reason) : before;
  if (image === null) return null;
  const terms = own ? endTerms(planning, { shape, row: known, key }) : [];
  if (!terms) return terms;
  const guards = own ? write.guards : { version: write.guards.version };
  if (planning.needs.length > 0) return undefined;
  return changeItem(catalog, { shape, key, known, changes, guards, image, there: own ? present : copied, terms });
};

/** The edge changes, and its other copy, which is not there, is written whole from what the edge holds. */
const completeCopy = (planning: Planning, write: RelinkWrite, own: EdgeCopy): Steps => {
  const { catalog } = planning;
  const key = locate(planning, own.shape, own.row);
  const image = key && imageOf(planning, { shape: own.shape, key }, "its other copy is not there: it is written whole");
  if (!key || !image) return key === null || image === null ? notFound : undefined;
  const changed = changeCopy(planning, write, { ...own, own: true });
  if (!changed) return changed === null ? notFound : undefined;
  const [step, ...rest] = changed.items;
  const edge = betweenOf(catalog, write);
  const { from: _from, to: _to, ...attributes } = changed.row ?? {};
  const [, second] = edgeCopies(edge, attributes, write.reverse);
  if (!step || !second) return undefined;
  const asRead = unchanged(catalog, { shape: own.shape, key }, image);
  const items = [{ ...step, terms: [...step.terms, ...asRead] }, ...rest, putCopy(catalog, second, [{ kind: "absent", failure: STALE }])];
  return { kind: "items", items, row: changed.row };
};

/** Changes an edge that is there: its attributes and its place in the order, or its type. */
export const planRelink = (planning: Planning, write: RelinkWrite): Steps => {
  if (write.type !== undefined && write.type !== write.edge) return planRetype(planning, write, write.type);
  const [own, second] = edgeCopies(betweenOf(planning.catalog, write), write.key);
  const first = changeCopy(planning, write, { ...own, own: true });
  if (first === null) return notFound;
  const other = second && changeCopy(planning, write, { ...second, own: false });
  if (other === null) return completeCopy(planning, write, own);
  if (!first || (second && !other)) return undefined;
  return { kind: "items", items: [...first.items, ...(other?.items ?? [])], row: first.row ?? other?.row };
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
  readGuards(planning, after);
  if (read.some(({ image }) => image === undefined)) return undefined;
  const [own, second] = read;
  if (!own?.key || !own.image || isOtherEdge(planning, edgeCopies(before, write.key)[0], own.image)) return notFound;
  const attributesOf = (one: typeof own): Row =>
    one.image ? withoutIdentity(decodeItem(catalog, one.shape, one.image), before.entry.definition.version === true) : {};
  const row = changedRow(attributesOf(own), write.changes);
  const reverse = { ...(second ? attributesOf(second) : {}), ...write.changes.set, ...write.reverse };
  const linked = linkSteps(planning, after, { attributes: write.validates ? validated(after, row) : row, reverse });
  const old = { shape: own.shape, key: own.key };
  const removal: WriteItem = {
    kind: "delete",
    ...old,
    terms: [present, ...guardTerms(own.shape, write.guards), ...unchanged(catalog, old, own.image)],
  };
  const copy: readonly WriteItem[] = second?.key ? [{ kind: "delete", key: second.key, terms: [], shape: second.shape }] : [];
  const counts = countSteps(planning, before, -1);
  return linked && counts && { kind: "items", items: [...linked.items, removal, ...copy, ...counts], row: linked.row };
};
