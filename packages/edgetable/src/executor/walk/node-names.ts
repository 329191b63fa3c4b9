import { exactText, readExactText } from "../../keys/template.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { defined } from "../../util/invariant.ts";
import type { Row } from "../../util/row.ts";

/** A node as one short text: its type's character, then its id. */
export type NodeKey = string;

export interface NodeRef {
  readonly type: string;
  readonly id: Row;
}

/** Packs nodes for sets of millions, and unpacks them. */
export interface NodeNames {
  /** What precedes an id that is one text. */
  prefix(type: string): string;
  pack(type: string, id: Row): NodeKey;
  unpack(key: NodeKey): NodeRef;
  typeOf(key: NodeKey): string;
}

// Cloning and overwriting takes half the time of a literal with a computed name.
const idMaker = (field: string): ((text: string) => Row) => {
  const empty = { [field]: "" };
  return (text) => {
    const id = { ...empty };
    id[field] = text;
    return id;
  };
};

const makeNames = ({ nodes }: Catalog): NodeNames => {
  const types = Object.values(nodes);
  const places = new Map(types.map((entry, at) => [entry.name, at]));
  // From 1 on, so that the packed text of a plain id stays one byte a character.
  const prefixes = types.map((_, at) => String.fromCharCode(at * 2 + 1));
  const others = types.map((_, at) => String.fromCharCode(at * 2 + 2));
  const plainIds = types.map(({ idFields }) => idMaker(idFields[0] ?? ""));
  const entryOf = (key: NodeKey): (typeof types)[number] => defined(types[(key.charCodeAt(0) - 1) >> 1], "node type");
  const placeOf = (type: string): number => defined(places.get(type), type);
  return {
    prefix: (type) => defined(prefixes[placeOf(type)], type),
    pack: (type, id) => {
      const at = placeOf(type);
      const { idFields } = defined(types[at], type);
      const only = idFields.length === 1 ? id[idFields[0] ?? ""] : undefined;
      return typeof only === "string" ? prefixes[at] + only : others[at] + exactText(idFields.map((field) => id[field]));
    },
    unpack: (key) => {
      const { name, idFields } = entryOf(key);
      const code = key.charCodeAt(0);
      if (code % 2 === 1) return { type: name, id: defined(plainIds[(code - 1) >> 1], name)(key.slice(1)) };
      const values = readExactText(key.slice(1));
      // Of a level only the leading fields are given.
      const given = idFields.filter((_, at) => values[at] !== undefined);
      return { type: name, id: Object.fromEntries(given.map((field, at) => [field, values[at]])) };
    },
    typeOf: (key) => entryOf(key).name,
  };
};

const known = new WeakMap<Catalog, NodeNames>();

/** The names of a catalog's nodes. Two characters stand for a type: one for an id that is a single text, one for any other. */
export const nodeNames = (catalog: Catalog): NodeNames => {
  let names = known.get(catalog);
  if (!names) known.set(catalog, (names = makeNames(catalog)));
  return names;
};
