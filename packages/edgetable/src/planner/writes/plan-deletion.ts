import { EdgetableError } from "../../errors/edgetable-error.ts";
import { TRANSACTION_ITEMS } from "../../ir/capacity.ts";
import type { DeleteWrite, LogicalWrite } from "../../ir/logical-write.ts";
import { type Images, keyId, type PlannedItem, type Term, type WriteItem, type WritePlan } from "../../ir/write-plan.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import type { Catalog, NodeEntry } from "../../schema/catalog.ts";
import { DELETING, HOLDER } from "../../schema/system-items.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import { restrictSteps, spentGuardKeys } from "./degree-guards.ts";
import { guardTerms } from "./guard-terms.ts";
import { planWrites } from "./plan-write.ts";
import { imageOf, locate, NOT_FOUND, type Planning, present, STALE } from "./planning.ts";
import type { Row } from "../../util/row.ts";
import { ofItsKind } from "./kind-terms.ts";

/** A node's deletion as a job: its state is in the table from the mark to the end. */
export interface JobMark {
  readonly id: string;
  readonly key: Key;
  /** Who holds its lease. */
  readonly holder: string;
}

interface Located {
  readonly node: NodeEntry;
  readonly key: Key;
  readonly image: Item;
  readonly row: Row;
}

const locateNode = (planning: Planning, write: DeleteWrite): Located | WritePlan => {
  const node = defined(planning.catalog.nodes[write.name], "node");
  const { shape } = node;
  const key = locate(planning, shape, write.id);
  const image = key && imageOf(planning, { shape, key }, "it is marked, and goes last");
  if (key === undefined || image === undefined) return { kind: "needs", reads: planning.needs };
  if (!key || !image) return { kind: "settled", write: 0, failure: NOT_FOUND };
  return { node, key, image, row: decodeItem(planning.catalog, shape, image) };
};

const markOf = (image: Item): string | undefined => {
  const mark = image[DELETING];
  return mark && "S" in mark ? mark.S : undefined;
};

const unmarked: Term = { kind: "equals", attribute: DELETING, value: undefined, failure: STALE };

/**
 * Marks a node as being deleted and writes the job's state, in one transaction, where its conditions
 * hold and no edge restricts it: from then on nothing can be linked to it.
 */
export const planMark = (
  catalog: Catalog,
  { write, job, state }: { readonly write: DeleteWrite; readonly job: JobMark; readonly state: Item },
  images: Images,
): WritePlan => {
  const planning: Planning = { catalog, images, needs: [] };
  const located = locateNode(planning, write);
  if ("kind" in located) return located;
  const { node, key, image, row } = located;
  const mark = markOf(image);
  if (mark !== undefined) return { kind: "settled", write: 0, failure: { reason: "beingDeleted", job: mark } };
  const restrict = restrictSteps(planning, { type: node.name, id: write.id });
  if (!restrict) return { kind: "needs", reads: planning.needs };
  const changes = { set: { [DELETING]: { S: job.id } }, remove: [], add: {}, append: {} };
  const items: readonly WriteItem[] = [
    { kind: "update", key, terms: [present, ...guardTerms(node.shape, write.guards), unmarked], shape: node.shape, changes },
    { kind: "put", key: job.key, item: state, terms: [], shape: undefined },
    ...restrict.map((step): WriteItem => ({ ...step, kind: "check" })),
  ];
  return {
    kind: "ready",
    items: items.map((item) => ({ item: ofItsKind(catalog, item), writes: [0] })),
    atomic: { kind: "transaction", items: items.length },
    rows: [row],
  };
};

/** The end of a node's deletion. */
export interface Ending {
  readonly write: DeleteWrite;
  readonly job: JobMark;
  /** What goes in the same transaction. */
  readonly along: readonly LogicalWrite[];
}

// Whether edges restrict the node was settled when it was marked, and cascading ones are gone: the guards just go.
const spent = (key: Key): PlannedItem => ({ item: { kind: "delete", key, terms: [], shape: undefined }, writes: [0] });

// All deletions of a node have one name: a second one, begun after the node was written anew, is not this one's to end.
const ended = ({ id, key, holder }: JobMark): PlannedItem => {
  const own: Term = { kind: "equals", attribute: HOLDER, value: { S: holder }, failure: { reason: "beingDeleted", job: id } };
  return { item: { kind: "delete", key, terms: [own], shape: undefined }, writes: [0] };
};

const limited = (items: readonly PlannedItem[]): readonly PlannedItem[] => {
  if (items.length <= TRANSACTION_ITEMS) return items;
  throw new EdgetableError("request.transactionTooLarge", `This takes ${items.length} items; a transaction holds ${TRANSACTION_ITEMS}.`, {
    details: { items: items.length },
  });
};

/**
 * Deletes a marked node with its markers and guards, the job's state, and what goes along, in one
 * transaction. A node that is gone, or was written anew since it was marked, is `notFound`; one whose job
 * somebody else holds is `beingDeleted`.
 *
 * @throws {request.transactionTooLarge} when it is too much for one
 */
export const planEnding = (catalog: Catalog, { write, job, along }: Ending, images: Images): WritePlan => {
  const located = locateNode({ catalog, images, needs: [] }, write);
  if ("kind" in located) return located;
  const { node, key, image, row } = located;
  if (markOf(image) !== job.id) return { kind: "settled", write: 0, failure: NOT_FOUND };
  const plan = planWrites(catalog, [{ ...write, guards: {}, edges: "unchecked" }, ...along], images);
  if (plan.kind !== "ready") return plan;
  const own = keyId(key);
  const marked: Term = { kind: "equals", attribute: DELETING, value: { S: job.id }, failure: STALE };
  const guards = spentGuardKeys(catalog, { type: node.name, id: write.id });
  const gone = new Set(guards.map(keyId));
  const items = plan.items
    .filter(({ item }) => !gone.has(keyId(item.key)))
    .map(({ item, writes }) => ({ item: keyId(item.key) === own ? { ...item, terms: [...item.terms, marked] } : item, writes }));
  const all = limited([...items, ...guards.map(spent), ended(job)]);
  return { ...plan, items: all, atomic: { kind: "transaction", items: all.length }, rows: [row] };
};
