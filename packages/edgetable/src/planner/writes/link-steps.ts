import type { LinkWrite, PutEdgeWrite, RelinkWrite, UnlinkWrite } from "../../ir/logical-write.ts";
import type { Term, WriteItem } from "../../ir/write-plan.ts";
import { encodeItem, keyIfComplete, keyOfItem, VERSION } from "../../requests/encode-item.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { defined } from "../../util/invariant.ts";
import { countSteps, type EdgeBetween } from "./degree-guards.ts";
import { type EdgeCopy, edgeCopies } from "./edge-copies.ts";
import { existsStep } from "./exists-step.ts";
import { absentOrExpired, type Planning } from "./planning.ts";
import type { Row } from "../../util/row.ts";

const ends = ["from", "to"] as const;

/** An edge of a write, with its ends. */
export const betweenOf = (
  catalog: Catalog,
  write: LinkWrite | PutEdgeWrite | RelinkWrite | UnlinkWrite,
  edge: string = write.edge,
): EdgeBetween => ({
  entry: defined(catalog.edges[edge], `the edge "${edge}"`),
  from: write.from,
  to: write.to,
});

/** The checks that an edge's ends exist, where they have an item of their own that the id leads to. */
export const endChecks = (catalog: Catalog, edge: EdgeBetween): readonly WriteItem[] => {
  if (edge.entry.definition.ends === "unchecked") return [];
  const checks: WriteItem[] = [];
  for (const end of ends) {
    const { type, id } = edge[end];
    const node = catalog.nodes[type];
    const key = node && node.definition.stored !== false ? keyIfComplete(catalog, node.shape, id) : undefined;
    if (node && key) checks.push(existsStep(catalog, { node, key }, { reason: "endMissing", end, id }));
  }
  return checks;
};

/** The step that writes one of an edge's copies. */
export const putCopy = (catalog: Catalog, copy: EdgeCopy, terms: readonly Term[]): WriteItem => {
  const item = encodeItem(catalog, copy.shape, copy.row);
  return { kind: "put", key: keyOfItem(catalog, item), item, terms, shape: copy.shape };
};

/** What an edge holds, and what its other copy holds otherwise. */
interface Contents {
  readonly attributes: Row;
  readonly reverse: Row;
}

/** The steps that write an edge anew: its copies, the checks of its ends, its degrees; undefined while something has to be read. */
export const linkSteps = (
  planning: Planning,
  edge: EdgeBetween,
  { attributes, reverse }: Contents,
): { readonly items: readonly WriteItem[]; readonly row: Row } | undefined => {
  const { catalog } = planning;
  const versioned = edge.entry.definition.version ? { ...attributes, [VERSION]: 1 } : attributes;
  const copies = edgeCopies(edge, versioned, reverse);
  // The copy in the target's partition follows the own one, whatever stood there.
  const puts = copies.map((copy, at) => putCopy(catalog, copy, at === 0 ? [absentOrExpired(planning, copy.shape)] : []));
  const counts = countSteps(planning, edge, 1);
  return counts && { items: [...puts, ...endChecks(catalog, edge), ...counts], row: copies[0].row };
};
