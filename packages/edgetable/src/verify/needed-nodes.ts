import { readTemplate } from "../keys/template.ts";
import { isKeyDetermined } from "../planner/access-path.ts";
import { ownerTie, requiredTies, type Tie } from "../planner/writes/rules/required-nodes.ts";
import { keyTextOf } from "../requests/attribute-value.ts";
import { keyIfComplete } from "../requests/encode-item.ts";
import { type Catalog, type EndEntry, idText, type PartEntry } from "../schema/catalog.ts";
import { guardedEnds } from "../schema/guarded-ends.ts";
import { readDegreeGuard } from "../schema/system-keys.ts";
import type { Item, Key } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";
import type { SeenRow } from "./see-item.ts";
import type { FactId } from "./tallies.ts";

/** A node, or a part at which edges end, that has to be there. */
export interface NeededNode {
  readonly node: EndEntry;
  readonly id: Row;
  /** Undefined where the table key holds more than the id: a Query of its partition finds it. */
  readonly key: Key | undefined;
}

/** A node that a row is tied to. */
export interface NeededEnd extends NeededNode {
  readonly end: Tie["end"];
}

/** The texts of a table key. */
export const idOf = (key: Key): FactId => {
  const texts: string[] = [];
  for (const attribute in key) texts.push(keyTextOf(key[attribute]) ?? "");
  return texts;
};

/** A node by its id; undefined if it has no item, or if its partition holds more than the id, so that nothing finds it. */
const needed = (catalog: Catalog, type: string, id: Row): NeededNode | undefined => {
  const node = catalog.ends[type];
  if (!node || node.definition.stored === false) return undefined;
  const key = keyIfComplete(catalog, node.shape, id);
  const isFound = node.shape.keys[catalog.index.partitionKey]?.fields.every((field) => node.idFields.includes(field));
  return key || isFound ? { node, id, key } : undefined;
};

const endsOf = (catalog: Catalog, ties: readonly Tie[]): readonly NeededEnd[] =>
  ties.flatMap(({ type, end, id }) => {
    const one = needed(catalog, type, id);
    return one ? { ...one, end } : [];
  });

/** The node of a part, whether or not writes check it; none if it is not stored. */
const ownerOf = (catalog: Catalog, part: PartEntry, row: Row): readonly NeededEnd[] => endsOf(catalog, [ownerTie(catalog, part, row)]);

/**
 * The nodes that have to be there for a row: a part without its node is an orphan, and an edge at such a part goes with it.
 *
 * @param byKey those that writes check by their keys
 */
export const neededBy = (
  catalog: Catalog,
  { subject, row }: Pick<SeenRow, "subject" | "row">,
  byKey: readonly NeededEnd[],
): readonly NeededEnd[] => {
  if (subject.kind === "part") return ownerOf(catalog, subject.entry, row);
  const found = endsOf(catalog, requiredTies(catalog, { subject, before: null, after: row })).filter(({ key }) => key === undefined);
  return [...byKey, ...found].flatMap((one) => {
    const part = catalog.parts[one.node.name];
    return part ? [one, ...ownerOf(catalog, part, one.id).map((owner) => ({ ...owner, end: one.end }))] : [one];
  });
};

/** A name for a node by which items say that it is there, or has to be. */
export const nodeId = (catalog: Catalog, { node, id, key }: NeededNode): FactId =>
  key && isKeyDetermined(catalog, node.shape, new Set(node.idFields))
    ? ["node", node.name, ...idOf(key)]
    : ["node", node.name, "found", idText(node, id)];

/** True if the model limits or restricts the edges that a guard counts, or changes copies on them: then writers keep it. */
export const isKeptGuard = (catalog: Catalog, item: Item): boolean => {
  const guard = readDegreeGuard(catalog, item);
  const entry = guard && catalog.edges[guard.edge];
  return !guard || (entry !== undefined && guardedEnds(catalog, entry).some(({ direction }) => direction === guard.direction));
};

/** The node whose edges a guard counts, whether or not it has an item; undefined if its key does not tell. */
export const guardedNode = (catalog: Catalog, item: Item): NeededNode | undefined => {
  const guard = readDegreeGuard(catalog, item);
  const entry = guard && catalog.edges[guard.edge];
  if (!entry) return undefined;
  const types = entry.definition.symmetric ? [...entry.from, ...entry.to] : guard.direction === "out" ? entry.from : entry.to;
  for (const type of new Set(types)) {
    const node = catalog.ends[type];
    const id = node && readTemplate(node.partition, guard.partition);
    // A key in one case does not tell the id.
    if (node && id && node.idFields.every((field) => field in id)) return { node, id, key: keyIfComplete(catalog, node.shape, id) };
  }
  return undefined;
};

/** The nodes without which a guard is idle: a part that is without its node goes, and its guard with it. */
export const neededByGuard = (catalog: Catalog, { node: { name }, id }: NeededNode): readonly NeededNode[] => {
  const [one, part] = [needed(catalog, name, id), catalog.parts[name]];
  return one ? [one, ...(part ? ownerOf(catalog, part, id) : [])] : [];
};
