import type { Failure, Term } from "../../../ir/write-plan.ts";
import { keyIfComplete } from "../../../requests/encode-item.ts";
import type { Catalog, EdgeEntry, EndEntry, PartEntry } from "../../../schema/catalog.ts";
import { DELETING } from "../../../schema/system-items.ts";
import type { Row } from "../../../util/row.ts";
import {
  type Contribution,
  type ItemRule,
  kindTerms,
  presentUnexpired,
  type RowChange,
  unitedTerms,
  type WorkingSet,
} from "../working-set.ts";

/** Edges of a type that are deleted with a node: its outgoing (`out`) or incoming (`in`) edges. */
export interface CascadeEnd {
  readonly entry: EdgeEntry;
  readonly direction: "out" | "in";
}

/** The edge types whose edges are deleted with a node of the type, by the direction in which they are found. */
export const cascadeEnds = (catalog: Catalog, node: string): readonly CascadeEnd[] => {
  const ends: CascadeEnd[] = [];
  for (const entry of Object.values(catalog.edges)) {
    const { onDelete, symmetric, stored } = entry.definition;
    // A reference is an attribute of its source: it is deleted with the source, but not with the target.
    if (stored === "reference") continue;
    const out = entry.from.includes(node) && onDelete?.from === "cascade";
    const into = entry.to.includes(node) && onDelete?.to === "cascade";
    if (out || (symmetric && into)) ends.push({ entry, direction: "out" });
    if (into && !symmetric) ends.push({ entry, direction: "in" });
  }
  return ends;
};

/** The parts of a node type. */
export const partsOf = (catalog: Catalog, node: string): readonly string[] =>
  Object.values(catalog.parts).flatMap((entry) => (entry.definition.of === node ? [entry.name] : []));

// Follows from the model, and every link asks it of both ends: 1 of its 10 µs.
const cascading = new WeakMap<Catalog, Map<string, boolean>>();

/** True if deleting a node of the type deletes more than its item, markers and guards. */
export const cascades = (catalog: Catalog, node: string): boolean => {
  let known = cascading.get(catalog);
  if (!known) cascading.set(catalog, (known = new Map()));
  let answer = known.get(node);
  if (answer === undefined) known.set(node, (answer = partsOf(catalog, node).length > 0 || cascadeEnds(catalog, node).length > 0));
  return answer;
};

/** A node that must exist. */
export interface RequiredNode extends Contribution {
  readonly node: EndEntry;
  readonly failure: Failure;
}

/** A node that a row is tied to. */
export interface Tie {
  readonly type: string;
  readonly end: "from" | "to" | "owner";
  readonly id: Row;
}

const NONE: readonly never[] = [];

/** True if counters stand for the nodes at an end, so that links do not meet in the nodes' own items. */
const hasCounters = ({ facts }: Catalog, { name, definition }: EdgeEntry, type: string, direction: "in" | "out"): boolean =>
  facts.aggregates.some(
    ({ node, over, shards }) =>
      shards !== undefined &&
      node === type &&
      over.kind === "edge" &&
      over.name === name &&
      (over.direction === direction || definition.symmetric === true),
  );

/** The node of a part. */
export const ownerTie = (catalog: Catalog, { definition: { of: type } }: PartEntry, row: Row): Tie => {
  const fields = catalog.nodes[type]?.idFields ?? [];
  return { type, end: "owner", id: Object.fromEntries(fields.map((field) => [field, row[field]])) };
};

/** The nodes that must exist for a row that is written as a whole. */
export const requiredTies = (catalog: Catalog, { subject, after, changes, related }: RowChange): readonly Tie[] => {
  if (subject.kind === "node" || !after || changes || related === "unchecked") return NONE;
  if (subject.kind === "part") return subject.entry.definition.owner === "checked" ? [ownerTie(catalog, subject.entry, after)] : NONE;
  const { from, to, entry } = subject;
  if (entry.definition.ends === "unchecked") return NONE;
  const ties: Tie[] = [];
  if (!hasCounters(catalog, entry, from.type, "out")) ties.push({ type: from.type, end: "from", id: from.id });
  if (!hasCounters(catalog, entry, to.type, "in")) ties.push({ type: to.type, end: "to", id: to.id });
  return ties;
};

/** Those whose keys follow from their ids, where they have items. `found-nodes` checks the others. */
const byKey = (catalog: Catalog, ties: readonly Tie[]): readonly RequiredNode[] => {
  const required: RequiredNode[] = [];
  for (const { type, end, id } of ties) {
    const node = catalog.ends[type];
    const key = node && node.definition.stored !== false ? keyIfComplete(catalog, node.shape, id) : undefined;
    if (node && key) required.push({ rule: requiredNodes, key, node, failure: { reason: "endMissing", end, id } });
  }
  return required;
};

/** The terms by which an item is a node that something may be tied to. */
export const tieTerms = (working: WorkingSet, { name, shape }: EndEntry, failure: Failure): readonly Term[] => {
  const { catalog } = working;
  const terms: Term[] = [presentUnexpired(working, shape, failure)];
  if (cascades(catalog, name)) terms.push({ kind: "equals", attribute: DELETING, value: undefined, failure });
  return [...terms, ...kindTerms(catalog, shape, failure)];
};

/**
 * An edge needs the nodes at its ends, a part needs its node where the model says so. The node must exist and must not be marked by
 * a deletion, which would not find new edges and parts.
 */
export const requiredNodes: ItemRule<RequiredNode> = {
  name: "required nodes",
  shared: false,
  contributions: (catalog: Catalog, change: RowChange) => byKey(catalog, requiredTies(catalog, change)),
  settle: (working, contributions) => {
    const [{ key, node: first }] = contributions;
    let terms: readonly Term[] = [];
    for (const { node, failure } of contributions) {
      const own = tieTerms(working, node, failure);
      terms = terms.length === 0 ? own : unitedTerms(terms, own);
    }
    return { kind: "check", key, terms, shape: first.shape };
  },
};
