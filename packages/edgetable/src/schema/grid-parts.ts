import { fieldNames } from "./build-catalog.ts";
import { part, type AnyNode, type AnyPart, type FieldSettings, type GraphDefinition } from "./definition.ts";
import type { IndexEntry, ValueIndex } from "./layout.ts";
import type { Row } from "../util/row.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** The parts and indexes that hold the fields of a node type, by what is in them. */
export interface GridNames {
  /** The part of the parent that has all definitions. */
  readonly list: string;
  /** The part of the row that has one value. */
  readonly value: string;
  /** The part of the row that has all its values, where these are stored as one document. */
  readonly document: string;
  /** The index that orders the rows of a parent, and the values of a field. */
  readonly index: string;
}

/** The names of a node type's grid: everything about it has the type's own name in it. */
export const gridNames = (node: string): GridNames => ({
  list: `${node}Fields`,
  value: `${node}Value`,
  document: `${node}Values`,
  index: "grid",
});

/** A row whose value items follow its document. */
export interface FollowedRow {
  readonly node: string;
  readonly id: Row;
}

/** The node type whose rows have their values in this part; undefined for other parts. */
export const documentOwner = (
  nodes: Readonly<Record<string, { readonly name: string; readonly definition: AnyNode }>>,
  part: string,
): string | undefined =>
  Object.values(nodes).find(({ name, definition }) => definition.fields !== undefined && gridNames(name).document === part)?.name;

/** The index that orders rows by a fixed column. */
export const columnIndex = (node: string, column: string): string =>
  `${node}By${column.slice(0, 1).toUpperCase()}${column.slice(1).split(":")[0] ?? ""}`;

/** The name of an attribute in a level such as `num:6`. */
export const levelName = (level: string): string => level.split(":")[0] ?? level;

const anything: StandardSchema<Readonly<Record<string, unknown>>> = {
  "~standard": { version: 1, vendor: "edgetable", validate: (value) => ({ value: value as Readonly<Record<string, unknown>> }) },
};

const partOf = (of: string, name: string, id: string, settings: Pick<AnyPart, "version" | "owner"> = {}): AnyPart =>
  part({ of, key: `${name}#{${id}}`, schema: anything, ...settings });

/**
 * Whether a part holds what users define and fill in, because a node type has `fields`: it is written by `fields` and `values`
 * alone.
 *
 * @param one the definition of a part in the catalog
 */
export const isFieldPart = (one: AnyPart | undefined): boolean => one?.schema === anything;

const COUNTED = { version: true, owner: "checked" } as const;

/** Adds what the fields of node types are stored in: parts of rows and of their parents, and indexes. Part of the model from here on. */
export const withFields = (definition: GraphDefinition): GraphDefinition => {
  const { nodes } = definition;
  const fielded = Object.entries(nodes ?? {}).filter(([, node]) => node?.fields && nodes[node.fields.of]);
  if (fielded.length === 0) return definition;
  const parts: Record<string, AnyPart> = {};
  const indexes: Record<string, ValueIndex> = {};
  const entries: Record<string, IndexEntry> = {};
  const changed = { ...nodes };
  for (const [name, node] of fielded) {
    const { of, orderBy, sortable = [], shards = 1 } = node.fields as FieldSettings;
    const names = gridNames(name);
    const parent = fieldNames(nodes[of]?.key ?? "");
    const order = orderBy === undefined ? [] : [orderBy];
    parts[names.list] = partOf(of, names.list, "list", COUNTED);
    parts[names.value] = partOf(name, names.value, "fieldId");
    parts[names.document] = partOf(name, names.document, "document", { version: true });
    entries[name] = { by: [...parent, ...order], split: parent.length, sparse: true, shards };
    entries[names.value] = { by: ["column", "sort"], split: 1, sparse: true, shards };
    indexes[names.index] = { entries, projection: "KEYS_ONLY" };
    for (const column of sortable)
      indexes[columnIndex(name, column)] = {
        entries: { [name]: { by: [...parent, column, ...order], split: parent.length, sparse: true, shards } },
        projection: "KEYS_ONLY",
      };
    // A value's place in its column follows from both.
    const key = fieldNames(node.key);
    const fixed = [...parent, ...order.map(levelName)].filter((field) => !key.includes(field));
    changed[name] = { ...node, immutable: [...new Set([...(node.immutable ?? []), ...fixed])] };
  }
  // What the model declares under one of these names is found by the checks of the model.
  return { ...definition, nodes: changed, parts: { ...parts, ...definition.parts }, indexes: { ...indexes, ...definition.indexes } };
};
