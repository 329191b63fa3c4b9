import { attributeType } from "./attribute-kind.ts";
import { type AnyEdge, type AnyNode, type AnyPart, endTypes, type GraphDefinition } from "./definition.ts";
import { type CopyList, summarized } from "./derived.ts";
import { copiesIn } from "./facts.ts";
import { timeNames, timesOf } from "./timestamps.ts";
import { own } from "../util/row.ts";

type Definition = AnyNode | AnyEdge | AnyPart;

/** What all of some values have in common; undefined if they differ or there are none. */
const common = (types: readonly (string | undefined)[]): string | undefined =>
  types.every((one) => one === types[0]) ? types[0] : undefined;

/**
 * The type of an attribute's values, be it of the definition's own schema, a time, derived or copied: in the words of the
 * schema library, "date" for a Date. Undefined if the schemas do not tell it, or tell several.
 */
export const valueType = (graph: GraphDefinition, definition: Definition, name: string): string | undefined => {
  const type = attributeType(definition, name);
  if (type !== undefined) return type;
  if (timeNames(definition).includes(name))
    return { text: "string", date: "date", seconds: "number", milliseconds: "number" }[timesOf(definition)!.as];
  const derived = definition.kind === "part" ? undefined : own(definition.derived ?? {}, name);
  if (derived) {
    if (derived.operation !== "min" && derived.operation !== "max") return "number";
    const { in: into, out, parts } = derived.source;
    const edge = summarized(derived.source)?.[1] ?? into ?? out ?? "";
    const ranged = parts === undefined ? graph.edges?.[edge] : graph.parts?.[parts];
    return ranged && derived.of !== undefined ? valueType(graph, ranged, derived.of) : undefined;
  }
  if (definition.kind === "node") return undefined;
  const lists: readonly (readonly [CopyList | undefined, readonly string[]])[] =
    definition.kind === "part"
      ? [[definition.copies, [definition.of]]]
      : [
          [definition.copies?.from, endTypes(definition.from)],
          [definition.copies?.to, endTypes(definition.to)],
        ];
  return common(
    lists.flatMap(([list, types]) =>
      copiesIn(list).flatMap(([copy, { of }]) =>
        copy === name ? types.map((one) => graph.nodes[one] && valueType(graph, graph.nodes[one], of)) : [],
      ),
    ),
  );
};
