import { fieldReader, readTemplate } from "../../keys/template.ts";
import type { QueryStep } from "../../ir/physical-plan.ts";
import { shapeOf } from "../../requests/item-codec.ts";
import type { Catalog, NodeEntry } from "../../schema/catalog.ts";
import { endSources, needsIdentity } from "../../schema/end-sources.ts";
import type { KeySource, Shape } from "../../schema/shape.ts";
import type { Item } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import type { NodeKey, NodeNames } from "./node-names.ts";

/** Where an edge leads, read from its item's keys alone; undefined when it is no such edge. */
export type EndReader = (item: Item) => NodeKey | undefined;

interface End {
  readonly shape: Shape;
  readonly end: "from" | "to";
}

const textAt = (item: Item, attribute: string): string | undefined => {
  const value = item[attribute];
  return value && "S" in value ? value.S : undefined;
};

// One field in one key: what nearly every model has. No row is made.
const readOne = (names: NodeNames, type: string, { path, source }: { readonly path: string; readonly source: KeySource }): EndReader => {
  const { attribute, template } = source;
  const read = fieldReader(template, path);
  const prefix = names.prefix(type);
  const field = path.slice(path.indexOf(".") + 1);
  return (item) => {
    const text = textAt(item, attribute);
    const value = text === undefined ? undefined : read(text);
    if (typeof value === "string") return prefix + value;
    return value === undefined ? undefined : names.pack(type, { [field]: value });
  };
};

const readSeveral = (
  names: NodeNames,
  { name: type, idFields: fields }: NodeEntry,
  at: { readonly end: string; readonly sources: readonly KeySource[] },
): EndReader => {
  return (item) => {
    const id: Record<string, unknown> = {};
    for (const { attribute, template } of at.sources) {
      const values = readTemplate(template, textAt(item, attribute) ?? "");
      if (!values) return undefined;
      for (const field of fields) id[field] ??= values[`${at.end}.${field}`];
    }
    return fields.every((field) => id[field] !== undefined) ? names.pack(type, id) : undefined;
  };
};

const shapeReader = (catalog: Catalog, names: NodeNames, { shape, end }: End): EndReader => {
  const type = defined(shape[end], "end");
  const node = defined(catalog.nodes[type], type);
  const [field] = node.idFields;
  const sources = defined(endSources(catalog, shape, end), "end sources");
  const [source] = sources;
  if (sources.length === 1 && source && node.idFields.length === 1) return readOne(names, type, { path: `${end}.${field}`, source });
  return readSeveral(names, node, { end, sources });
};

/** A reader of the far ends of a step that asks for key attributes only. */
export const endReader = (
  catalog: Catalog,
  names: NodeNames,
  { step, end }: { readonly step: QueryStep; readonly end: "from" | "to" },
): EndReader => {
  const shapes = step.shapes.map((id) => defined(catalog.shapesById[id], id));
  const readers = shapes.map((shape) => shapeReader(catalog, names, { shape, end }));
  const [only] = readers;
  if (needsIdentity(catalog, step)) {
    const byShape = new Map(shapes.map((shape, at) => [shape, readers[at]]));
    return (item) => {
      const shape = shapeOf(catalog, shapes, item);
      return shape && byShape.get(shape)?.(item);
    };
  }
  if (readers.length === 1 && only) return only;
  return (item) => {
    for (const read of readers) {
      const key = read(item);
      if (key !== undefined) return key;
    }
    return undefined;
  };
};
