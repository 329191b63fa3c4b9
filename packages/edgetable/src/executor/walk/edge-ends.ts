import type { QueryStep } from "../../ir/physical-plan.ts";
import { endingField, fieldReader } from "../../keys/key-pieces.ts";
import { shapeOf } from "../../requests/decode-item.ts";
import { readKey } from "../../requests/attribute-value.ts";
import { type Catalog, needsIdentity, type KeySource, type Shape } from "../../schema/catalog.ts";
import { endSources } from "../../planner/walk/read-hop.ts";
import type { Item } from "../../transport/operations.ts";
import type { TextColumn } from "../../transport/transport.ts";
import { defined } from "../../util/invariant.ts";
import { nodeNames, type NodeKey } from "./walk-state.ts";

/** The far ends of the items of a step. */
interface FarEnds {
  readonly step: QueryStep;
  readonly end: "from" | "to";
}

/** An id of one field that stands in one key: what nearly every model has. */
interface OneField {
  readonly path: string;
  readonly source: KeySource;
  readonly pack: (value: unknown) => NodeKey | undefined;
}

const oneField = (catalog: Catalog, shape: Shape, end: "from" | "to"): OneField | undefined => {
  const type = defined(shape[end], "end");
  const [field, ...otherFields] = defined(catalog.ends[type], type).idFields;
  const [source, ...otherSources] = endSources(catalog, shape, end) ?? [];
  if (!source || field === undefined || otherFields.length > 0 || otherSources.length > 0) return undefined;
  const names = nodeNames(catalog);
  const prefix = names.prefix(type);
  const isFolded = field in defined(catalog.ends[type], type).shape.folded;
  const pack = (value: unknown): NodeKey | undefined => {
    if (typeof value === "string" && !isFolded) return prefix + value;
    return value === undefined ? undefined : names.pack(type, { [field]: value });
  };
  return { path: `${end}.${field}`, source, pack };
};

/** Reads where an edge leads from its item's keys alone; undefined when the item is no such edge. */
type EndReader = (item: Item) => NodeKey | undefined;

const shapeReader = (catalog: Catalog, shape: Shape, end: "from" | "to"): EndReader => {
  const one = oneField(catalog, shape, end);
  if (one) {
    const { path, pack } = one;
    const { attribute, template } = one.source;
    if (template.type === "N") return (item) => pack(readKey(template, item[attribute])?.[path]);
    const read = fieldReader(template, path);
    return (item) => {
      const value = item[attribute];
      return value && "S" in value ? pack(read(value.S)) : undefined;
    };
  }
  const type = defined(shape[end], "end");
  const fields = defined(catalog.ends[type], type).idFields;
  const sources = defined(endSources(catalog, shape, end), "end sources");
  const names = nodeNames(catalog);
  return (item) => {
    const id: Record<string, unknown> = {};
    for (const { attribute, template } of sources) {
      const values = readKey(template, item[attribute]);
      for (const field of fields) id[field] ??= values?.[`${end}.${field}`];
    }
    return fields.every((field) => id[field] !== undefined) ? names.pack(type, id) : undefined;
  };
};

/** A reader of the far ends of a step that projects key attributes only. */
export const endReader = (catalog: Catalog, { step, end }: FarEnds): EndReader => {
  const readers = new Map<Shape, EndReader>();
  for (const id of step.shapes) {
    const shape = defined(catalog.shapesById[id], id);
    readers.set(shape, shapeReader(catalog, shape, end));
  }
  const shapes = [...readers.keys()];
  const [only, ...others] = readers.values();
  if (needsIdentity(catalog, step)) {
    return (item) => {
      const shape = shapeOf(catalog, shapes, item);
      return shape && readers.get(shape)?.(item);
    };
  }
  if (only && others.length === 0) return only;
  return (item) => {
    for (const read of readers.values()) {
      const key = read(item);
      if (key !== undefined) return key;
    }
    return undefined;
  };
};

/** A text attribute that alone tells the far ends of a step, and how to read the end of its texts. */
export interface EndColumn {
  readonly column: TextColumn;
  readonly read: (rest: string) => NodeKey | undefined;
}

/** The column of a step that projects key attributes only, if it has one. */
export const endColumn = (catalog: Catalog, { step, end }: FarEnds): EndColumn | undefined => {
  const [id, ...others] = step.shapes;
  const shape = catalog.shapesById[id ?? ""];
  if (!shape || others.length > 0 || step.attributes?.length !== 1 || needsIdentity(catalog, step)) return undefined;
  const one = oneField(catalog, shape, end);
  const ending = one && endingField(one.source.template, one.path);
  if (!ending) return undefined;
  const { beginning, read } = ending;
  return { column: { attribute: one.source.attribute, beginning }, read: (rest) => one.pack(read(rest)) };
};
