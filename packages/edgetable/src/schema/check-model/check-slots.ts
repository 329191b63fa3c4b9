import { expand, withFieldNames, type Macros } from "../build-shape.ts";
import { defaultLayout } from "../default-layout.ts";
import { endTypes, type GraphDefinition } from "../definition.ts";
import type { Layout } from "../layout.ts";
import type { AnyNode } from "../node.ts";
import { each, finding, type ModelFinding } from "./finding.ts";

interface Claim {
  readonly by: string;
  readonly place: string;
  readonly attribute: string;
  readonly source: string;
}

const claimsOf = (who: Pick<Claim, "by" | "place">, keys: Readonly<Record<string, string>> | undefined, macros: Macros): readonly Claim[] =>
  each(keys, (attribute, source) => [{ ...who, attribute, source: expand(source, macros) }]);

/** Who fills which computed attribute of a node's item: the node, and each edge that lives in it. */
const claimsOn = (definition: GraphDefinition, layout: Layout, name: string): readonly Claim[] => {
  const node = definition.nodes[name] as AnyNode;
  const own = claimsOf({ place: `nodes.${name}`, by: node.mirror ? `the mirror of "${name}"` : `"${name}"` }, layout.nodes?.[name]?.keys, {
    key: node.key,
  });
  const edges = each(definition.edges, (edgeName, edge) => {
    const target = definition.nodes[endTypes(edge.to)[0] ?? ""];
    if (edge.stored !== "reference" || !target || !endTypes(edge.from).includes(name)) return [];
    const macros = { from: node.key, to: withFieldNames(target.key, edge.by ?? {}) };
    return claimsOf({ place: `edges.${edgeName}`, by: `"${edgeName}"` }, layout.edges?.[edgeName]?.keys, macros);
  });
  return [...own, ...edges];
};

/** Two definitions that would fill one computed attribute of one item differently. */
export const checkSlots = (definition: GraphDefinition): readonly ModelFinding[] => {
  const layout = definition.layout ?? defaultLayout(definition);
  return each(definition.nodes, (name) => {
    const claims = claimsOn(definition, layout, name);
    const rivals = new Map<string, ModelFinding>();
    for (const [at, claim] of claims.entries()) {
      const first = claims.slice(0, at).find((one) => one.attribute === claim.attribute && one.source !== claim.source);
      if (!first || rivals.has(`${first.by}${claim.by}`)) continue;
      const message = `${first.by} and ${claim.by} both fill "${claim.attribute}" of the one item of "${name}". Store the edge "once", or give it an index of its own in a layout.`;
      rivals.set(`${first.by}${claim.by}`, finding("slot", claim.place, message));
    }
    return [...rivals.values()];
  });
};
