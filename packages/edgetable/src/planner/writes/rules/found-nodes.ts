import { EdgetableError } from "../../../errors/edgetable-error.ts";
import type { LogicalWrite } from "../../../ir/logical-write.ts";
import type { Failure } from "../../../ir/write-plan.ts";
import { exactText } from "../../../keys/template.ts";
import { keyIfComplete, keyOfItem } from "../../../requests/encode-item.ts";
import type { Catalog, EndEntry } from "../../../schema/catalog.ts";
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

/** @throws {plan.unsupported} for a node whose partition does not follow from its id: nothing finds it */
const checkPartition = ({ index }: Catalog, { name, shape, idFields }: EndEntry, end: string): void => {
  const partition = shape.keys[index.partitionKey];
  const missing = partition?.fields.find((field) => !idFields.includes(field));
  if (missing === undefined) return;
  const mend = end === "owner" ? 'leave owner: "checked" out' : 'declare the edge with ends: "unchecked"';
  throw new EdgetableError(
    "plan.unsupported",
    `Whether "${name}" is there cannot be checked: its partition (${partition?.source}) takes "${missing}" beside its id. Make "${missing}" part of its key, or ${mend}.`,
    { details: { node: name, field: missing } },
  );
};

const spread = (working: WorkingSet, change: RowChange): void => {
  const { catalog } = working;
  for (const { type, end, id } of requiredTies(catalog, change)) {
    const node = catalog.ends[type];
    if (!node || node.definition.stored === false || keyIfComplete(catalog, node.shape, id) || isWritten(working, node, id)) continue;
    checkPartition(catalog, node, end);
    const found = readOrNeed(working, { ...findNeed(working, node.shape, id), any: true });
    if (found === undefined) continue;
    const isMissing = found === null || isGone(working, found) || found[DELETING] !== undefined;
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
