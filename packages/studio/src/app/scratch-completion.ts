import { type ChainArgument, chainMethods, type ChainState } from "../calls.ts";
import type { ModelAnswer, WireType } from "../wire.ts";

/** What may be written at the caret. */
export interface Completion {
  readonly text: string;
  readonly says: string;
  /** True if it is written with parentheses. */
  readonly isCall: boolean;
}

/** The completions at a place of a text, and the letters before it that they complete. */
export interface Completions {
  readonly prefix: string;
  readonly items: readonly Completion[];
}

/** A method under way: what its first argument names, and the types that its values are of. */
interface Open {
  readonly takes: ChainArgument | undefined;
  readonly types: readonly WireType[];
  readonly after: Place;
  argument: number;
}

/** Where a chain has come to. */
interface Place {
  readonly state: ChainState;
  /** The nodes that it stands on, or the type that its rows are of. */
  readonly types: readonly WireType[];
  /** The edge that it came along. */
  readonly edge?: WireType | undefined;
}

const start: Place = { state: "db", types: [] };
const TOKEN = /\s+|[A-Za-z_$][\w$]*|"(?:[^"\\\n]|\\.)*("|$)|'(?:[^'\\\n]|\\.)*('|$)|`(?:[^`\\]|\\.)*(`|$)|[\d.]*\d|./gy;
const WORD = /^[A-Za-z_$]/;
const QUOTE = /^["'`]/;

/** The far ends of an edge from some nodes. */
const farOf = ({ types }: ModelAnswer, edge: WireType | undefined, direction: string): readonly WireType[] => {
  const names = edge ? [...(direction === "in" ? [] : edge.to), ...(direction === "out" ? [] : edge.from)] : [];
  return types.filter(({ kind, name }) => kind !== "edge" && names.includes(name));
};

const named = ({ types }: ModelAnswer, name: string): WireType | undefined => types.find((one) => one.name === name);

/** The place after a method, whose first argument is a text or nothing. */
const afterMethod = (model: ModelAnswer, { state, types, edge }: Place, name: string, argument: string): Place | undefined => {
  const known = chainMethods[state];
  const method = Object.hasOwn(known, name) ? known[name] : undefined;
  if (!method) return undefined;
  const isHop = (name === "out" || name === "in" || name === "both") && method.takes === "edge";
  if (!isHop)
    return {
      state: method.gives,
      types: name === "parts" || name === "find" ? [named(model, argument)].filter((one) => one !== undefined) : types,
      edge,
    };
  const along = named(model, argument);
  return { state: method.gives, types: farOf(model, along, name), edge: along };
};

const attributesOf = ({ idFields, attributes, derived }: WireType): readonly string[] => [
  ...new Set([...idFields, ...attributes, ...derived]),
];

/** Names of properties in the object of an argument. */
const propertiesFor = ({ takes, types, after }: Open, argument: number): readonly string[] => {
  if (takes === "hop") return ["out", "in", "both", "where"];
  if (takes === "options") return ["budget", "limit", "cursor", "consistent", "select", "of"];
  if (takes === "filter" && after.edge && after.state !== "search" && after.state !== "read") return after.edge.attributes;
  if (takes === "id" && argument === 0) {
    const [type] = types;
    // The first argument of a part's method is its node's id, whose fields are known of parts that edges lead to.
    return type?.kind === "node" ? type.idFields : (type?.endFields ?? []);
  }
  return [...new Set(types.flatMap(attributesOf))];
};

const asItems = (names: readonly string[], says: string): readonly Completion[] => names.map((text) => ({ text, says, isCall: false }));

/** What a text in the first argument of a method may name. */
const textsFor = (model: ModelAnswer, { takes, types, after }: Open, standing: readonly WireType[]): readonly Completion[] => {
  switch (takes) {
    case "kind":
      return model.types.map(({ name, kind }) => ({ text: name, says: kind, isCall: false }));
    case "index":
      return asItems(
        model.indexes.flatMap(({ name }) => (name === undefined ? [] : [name])),
        "index",
      );
    case "part":
      return asItems(
        model.types.filter(({ kind, from }) => kind === "part" && standing.some(({ name }) => from.includes(name))).map(({ name }) => name),
        "part",
      );
    case "attribute":
      return asItems(after.edge && after.state === "neighbours" ? after.edge.attributes : types.flatMap(attributesOf), "attribute");
    case "edge":
    case "hop":
      return model.types
        .filter(({ kind, from, to }) => kind === "edge" && standing.some(({ name }) => from.includes(name) || to.includes(name)))
        .map(({ name, from, to }) => ({ text: name, says: `${from.join(", ")} → ${to.join(", ")}`, isCall: false }));
    default:
      return [];
  }
};

const methodsAt = (model: ModelAnswer, { state }: Place): readonly Completion[] => {
  const methods = Object.entries(chainMethods[state]).map(([text, { says, gives }]): Completion => ({
    text,
    says: gives === "write" ? `${says}${model.writes ? "" : " (needs --write)"}` : says,
    isCall: true,
  }));
  if (state !== "db") return methods;
  return [...model.types.filter(({ own }) => !own).map(({ name, kind }) => ({ text: name, says: kind, isCall: false })), ...methods];
};

/** What the text before the caret leaves open: the place of the chain, and the argument in it. */
interface Scanned {
  place: Place;
  open: Open | undefined;
  /** The method that is named and not called yet. */
  name: string | undefined;
  /** Brackets within the argument. */
  readonly nested: string[];
  /** The first text of the argument. */
  first: string;
  /** The last piece that is no space. */
  last: string;
}

/** Takes one piece of the text in an argument. */
const takeInside = (scan: Scanned, open: Open, piece: string): void => {
  if (QUOTE.test(piece) && scan.nested.length === 0 && scan.first === "") scan.first = piece.slice(1, -1);
  if ("{[(".includes(piece)) scan.nested.push(piece);
  else if ("}]".includes(piece) || (piece === ")" && scan.nested.length > 0)) scan.nested.pop();
  else if (piece === "," && scan.nested.length === 0) open.argument++;
};

/** Takes one piece of the text between methods. Gives false where the chain is not one that is known. */
const takeBetween = (model: ModelAnswer, scan: Scanned, piece: string): boolean => {
  if (WORD.test(piece)) {
    scan.name = piece;
    return true;
  }
  const { place, name } = scan;
  const type = place.state === "db" && name !== undefined ? named(model, name) : undefined;
  if (piece === "." && name === "db") scan.place = start;
  else if (piece === "." && type) scan.place = { state: `${type.kind}Type`, types: [type] };
  else if (piece === "(" && name !== undefined) {
    const takes = Object.hasOwn(chainMethods[place.state], name) ? chainMethods[place.state][name]?.takes : undefined;
    const after: Place = type ? { state: "node", types: [type] } : place;
    scan.open = { takes: type ? "id" : takes, types: type ? [type] : place.types, after, argument: 0 };
    scan.first = "";
    return true;
  } else if (piece !== ".") return false;
  scan.name = undefined;
  return true;
};

/**
 * What may be written at a place of a call, as the model says.
 *
 * @param text the call as far as it is typed
 * @param caret characters before the caret
 */
export const completionsAt = (model: ModelAnswer, text: string, caret: number): Completions => {
  const before = text.slice(0, caret).replace(/^\s*await\s+/, "");
  const scan: Scanned = { place: start, open: undefined, name: undefined, nested: [], first: "", last: "" };
  const pieces = [...before.matchAll(TOKEN)].map(([piece]) => piece);
  const tail = pieces.at(-1) ?? "";
  const isText = QUOTE.test(tail) && (tail.length === 1 || !tail.endsWith(tail[0] ?? ""));
  const isWord = WORD.test(tail);
  for (const piece of isText || isWord ? pieces.slice(0, -1) : pieces) {
    if (piece.trim() === "") continue;
    const { open, name } = scan;
    if (open && piece === ")" && scan.nested.length === 0) {
      const isType = scan.place.state === "db" && name !== undefined && named(model, name) !== undefined;
      scan.place = isType ? open.after : (afterMethod(model, scan.place, name ?? "", scan.first) ?? { state: "read", types: [] });
      scan.open = undefined;
      scan.name = undefined;
    } else if (open) takeInside(scan, open, piece);
    else if (!takeBetween(model, scan, piece)) return { prefix: "", items: [] };
    scan.last = piece;
  }
  const prefix = isText ? tail.slice(1) : isWord ? tail : "";
  const fitting = (items: readonly Completion[]): Completions => ({
    prefix,
    items: items.filter((one) => one.text.toLowerCase().startsWith(prefix.toLowerCase()) && one.text !== prefix),
  });
  const { open, nested, last } = scan;
  if (!open) {
    if (last === "") return fitting([{ text: "db", says: "the connection", isCall: false }]);
    return last === "." ? fitting(methodsAt(model, scan.place)) : { prefix, items: [] };
  }
  if (isText) return fitting(open.argument === 0 || open.takes === "attribute" ? textsFor(model, open, scan.place.types) : []);
  const isKey = nested.length === 1 && nested[0] === "{" && (last === "{" || last === ",");
  return isKey ? fitting(asItems(propertiesFor(open, open.argument), "attribute")) : { prefix, items: [] };
};
