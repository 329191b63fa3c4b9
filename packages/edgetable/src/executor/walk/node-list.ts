import { sameValue } from "../../keys/template.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { NodeKey, NodeNames, NodeRef } from "./node-names.ts";

/** Some nodes, of which one asks whether another is among them. */
export type NodeList = Pick<ReadonlySet<NodeKey>, "has">;

/** Whether a node is named by less than its id: then it stands for all nodes below that level. */
export const isLevel = ({ nodes }: Catalog, { type, id }: NodeRef): boolean =>
  nodes[type]?.idFields.some((field) => id[field] === undefined) ?? false;

const isBelow = (node: NodeRef, level: NodeRef): boolean =>
  node.type === level.type && Object.entries(level.id).every(([field, value]) => sameValue(node.id[field], value));

/** A list of nodes, of which some may be levels. */
export const nodeList = (catalog: Catalog, names: NodeNames, refs: readonly NodeRef[]): NodeList => {
  const levels = refs.filter((ref) => isLevel(catalog, ref));
  const whole = new Set(refs.map(({ type, id }) => names.pack(type, id)));
  if (levels.length === 0) return whole;
  return {
    has: (key) => {
      const node = names.unpack(key);
      return whole.has(key) || levels.some((level) => isBelow(node, level));
    },
  };
};
