import { endingField, fieldReader } from "../../keys/template.ts";
import type { QueryStep } from "../../ir/physical-plan.ts";
import { shapeOf } from "../../requests/decode-item.ts";
import { type Catalog, type NodeEntry, endSources, needsIdentity, type KeySource, type Shape } from "../../schema/catalog.ts";
import type { Item } from "../../transport/operations.ts";
import type { TextColumn } from "../../transport/transport.ts";
import { defined } from "../../util/invariant.ts";
import type { NodeKey, NodeNames } from "./node-names.ts";
import { readKey } from "../../requests/attribute-value.ts";

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

interface OneField {
  readonly type: string;
  readonly path: string;
  readonly source: KeySource;
}

const packer = (names: NodeNames, { type, path }: OneField): ((value: unknown) => NodeKey | undefined) => {
  const prefix = names.prefix(type);
  const field = path.slice(path.indexOf(".") + 1);
  return (value) => {
    if (typeof value === "string") return prefix + value;
    return value === undefined ? undefined : names.pack(type, { [field]: value });
  };
};

// One field in one key: what nearly every model has. No row is made.
const readOne = (names: NodeNames, one: OneField): EndReader => {
  const { attribute, template } = one.source;
  const read = fieldReader(template, one.path);
  const pack = packer(names, one);
  if (template.type === "N") return (item) => pack(readKey(template, item[attribute])?.[one.path]);
  return (item) => {
    const text = textAt(item, attribute);
    return text === undefined ? undefined : pack(read(text));
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
      const values = readKey(template, item[attribute]);
      if (!values) return undefined;
      for (const field of fields) id[field] ??= values[`${at.end}.${field}`];
    }
    return fields.every((field) => id[field] !== undefined) ? names.pack(type, id) : undefined;
  };
};

const oneField = (catalog: Catalog, { shape, end }: End): OneField | undefined => {
  const type = defined(shape[end], "end");
  const fields = defined(catalog.nodes[type], type).idFields;
  const [source, ...others] = endSources(catalog, shape, end) ?? [];
  return source && others.length === 0 && fields.length === 1 ? { type, path: `${end}.${fields[0]}`, source } : undefined;
};

const shapeReader = (catalog: Catalog, names: NodeNames, { shape, end }: End): EndReader => {
  const type = defined(shape[end], "end");
  const node = defined(catalog.nodes[type], type);
  const one = oneField(catalog, { shape, end });
  if (one) return readOne(names, one);
  return readSeveral(names, node, { end, sources: defined(endSources(catalog, shape, end), "end sources") });
};

/** Where an edge leads, read from the end of one text of its item. */
export interface EndColumn {
  readonly column: TextColumn;
  readonly read: (rest: string) => NodeKey | undefined;
}

/** The text that says it all of the far ends of a step that asks for key attributes only, where there is one. */
export const endColumn = (
  catalog: Catalog,
  names: NodeNames,
  { step, end }: { readonly step: QueryStep; readonly end: "from" | "to" },
): EndColumn | undefined => {
  const [id, ...others] = step.shapes;
  const shape = catalog.shapesById[id ?? ""];
  const one = shape && others.length === 0 && !needsIdentity(catalog, step) ? oneField(catalog, { shape, end }) : undefined;
  const ending = one && endingField(one.source.template, one.path);
  if (!ending || step.attributes?.length !== 1) return undefined;
  const pack = packer(names, one);
  const { beginning, read } = ending;
  return { column: { attribute: one.source.attribute, beginning }, read: (rest) => pack(read(rest)) };
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
