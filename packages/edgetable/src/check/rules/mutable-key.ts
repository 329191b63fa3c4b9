import type { FieldPart } from "../../keys/template.ts";
import type { Catalog, Shape } from "../../schema/catalog.ts";
import { CONCERNS, type Advice, type AdviceRule } from "../advice.ts";
import { distinct, isFixed } from "../index-places.ts";

interface KeyField {
  readonly catalog: Catalog;
  readonly shape: Shape;
  readonly attribute: string;
  readonly field: FieldPart;
}

const adviceOn = ({ catalog, shape, attribute, field }: KeyField): readonly Advice[] => {
  if (isFixed(catalog, shape, field.path)) return [];
  const about = { rule: "mutableKey", concern: CONCERNS.indexKeys, definition: shape.definition } as const;
  const ofNode = shape.kind === "edge" && /^(?:from|to)\./.test(field.path);
  if (ofNode) {
    const message = `"${attribute}" of "${shape.definition}" holds {${field.path}}, which may change at the node while the edge keeps the old key.`;
    return [
      { ...about, severity: "warning", message, mend: "Make the attribute immutable on the node, or leave it out of the edge's keys." },
    ];
  }
  if (field.format.kind === "shard") {
    const message = `"${attribute}" of "${shape.definition}" takes its shard from {${field.path}}, which may change: each change moves the item to another shard.`;
    return [{ ...about, severity: "warning", message, mend: "Take the shard from the id, or make the attribute immutable." }];
  }
  if (shape.kind === "edge" || ![catalog.index.partitionKey, catalog.index.sortKey].includes(attribute)) return [];
  const message = `the table key "${attribute}" of "${shape.definition}" holds {${field.path}}, which may change: each change deletes the item and writes another, and its id alone does not find it by GetItem.`;
  return [{ ...about, severity: "note", message, mend: "Make the attribute immutable, or keep it out of the table's key." }];
};

/** Attributes that may change, in keys that should not. Index keys of the item itself are no matter: they are recomputed. */
export const mutableKey: AdviceRule = (catalog) =>
  catalog.shapes.flatMap((shape) =>
    Object.entries(shape.keys).flatMap(([attribute, { parts }]) =>
      distinct(
        parts.filter((part) => part.kind === "field"),
        (field) => field.path,
      ).flatMap((field) => adviceOn({ catalog, shape, attribute, field })),
    ),
  );
