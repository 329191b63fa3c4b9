import { EdgetableError } from "../../../errors/edgetable-error.ts";
import type { LogicalWrite } from "../../../ir/logical-write.ts";
import type { Failure } from "../../../ir/write-plan.ts";
import { exactText } from "../../../keys/template.ts";
import { keyIfComplete, keyOfItem } from "../../../requests/encode-item.ts";
import type { Catalog, EndEntry, NodeEntry } from "../../../schema/catalog.ts";
import { DELETING } from "../../../schema/system-items.ts";
import type { Key } from "../../../transport/operations.ts";
import type { Row } from "../../../util/row.ts";
import {
  contribute,
  type Contribution,
  findNeed,
  isGone,
  type ItemRule,
  readOrNeed,
  type RowChange,
  STALE,
  type WorkingSet,
} from "../working-set.ts";
import { requiredTies, tieTerms } from "./required-nodes.ts";

/** A node that has to be there, and that was found by its id. */
interface FoundNode extends Contribution {
  readonly node: EndEntry;
  readonly failure: Failure;
  readonly isMissing: boolean;
}

const NONE: readonly FoundNode[] = [];

/** True if a write of the same call makes a node, or changes it: the node is there if the call takes effect. */
const isWritten = ({ catalog, writes }: WorkingSet, { name, idFields }: EndEntry, id: Row): boolean => {
  const textOf = (row: Row): string => exactText(idFields.map((field) => row[field]));
  const rowOf = (write: LogicalWrite): Row | undefined => {
    if (write.kind === "upsert") return write.create.row;
    if (write.kind === "create" || write.kind === "put") return write.row;
    return write.kind === "update" ? write.id : undefined;
  };
  return writes.some((write) => {
    const row = "of" in write && write.name === name && catalog.ends[name] ? rowOf(write) : undefined;
    return row !== undefined && textOf(row) === textOf(id);
  });
};

/** A key that no item has, for a node that is not there. */
const noKey = ({ shape }: EndEntry, id: Row): Key => ({ of: { S: shape.id }, id: { S: exactText(id) } });

/** The field that the partition of a node takes beside its id: nothing finds such a node. */
const fieldBesideId = ({ index }: Catalog, { shape, idFields }: EndEntry): string | undefined =>
  shape.keys[index.partitionKey]?.fields.find((field) => !idFields.includes(field));

/** @throws {plan.unsupported} always */
const failUnfound = ({ index }: Catalog, { name, shape }: EndEntry, field: string, end: string): never => {
  const mend = end === "owner" ? 'leave owner: "checked" out' : 'declare the edge with ends: "unchecked"';
  throw new EdgetableError(
    "plan.unsupported",
    `Edgetable cannot check that "${name}" exists: its partition (${shape.keys[index.partitionKey]?.source}) needs "${field}" besides its id. Make "${field}" part of its key, or ${mend}.`,
    { details: { node: name, field } },
  );
};

/**
 * Refuses to write or delete a node without an item of its own: no read would find what is written.
 *
 * @throws {plan.unsupported} if the node has none
 */
export const refuseUnstored = ({ name, definition }: Pick<NodeEntry, "name" | "definition">): void => {
  if (definition.stored !== false) return;
  throw new EdgetableError(
    "plan.unsupported",
    `"${name}" has no item of its own (stored: false), so there is nothing to write or delete. Write its edges and parts, or leave out stored: false.`,
    { details: { node: name } },
  );
};

const spread = (working: WorkingSet, change: RowChange): void => {
  const { catalog } = working;
  if (change.subject.kind === "node") refuseUnstored(change.subject.entry);
  for (const { type, end, id } of requiredTies(catalog, change)) {
    const node = catalog.ends[type];
    if (!node || node.definition.stored === false || keyIfComplete(catalog, node.shape, id)) continue;
    // One that is being deleted may be changed, but nothing is tied to it.
    const isMade = isWritten(working, node, id);
    const field = fieldBesideId(catalog, node);
    if (field !== undefined && isMade) continue;
    if (field !== undefined) failUnfound(catalog, node, field, end);
    const need = { ...findNeed(working, node.shape, id), any: true } as const;
    const found = isMade ? working.images[need.id] : readOrNeed(working, need);
    const isMarked = found?.[DELETING] !== undefined;
    if (found === undefined || (isMade && !isMarked)) continue;
    const isMissing = found === null || isMarked || isGone(working, found);
    const key = found ? keyOfItem(catalog, found) : noKey(node, id);
    contribute(working, { rule: foundNodes, key, node, failure: { reason: "endMissing", end, id }, isMissing } as FoundNode);
  }
};

/**
 * The nodes at an edge's ends, and a part's node, where the table key holds more than the id: the id finds the item, and the
 * write is on condition that it is still there. If it has moved meanwhile, it is looked for again.
 */
export const foundNodes: ItemRule<FoundNode> = {
  name: "found nodes",
  shared: false,
  contributions: () => NONE,
  spread,
  settle: (working, contributions) => {
    const missing = contributions.find(({ isMissing }) => isMissing);
    if (missing) return { kind: "failure", of: missing };
    const [{ key, node }] = contributions;
    return { kind: "check", key, terms: tieTerms(working, node, STALE), shape: node.shape };
  },
};
