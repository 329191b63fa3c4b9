import type { AttributeValue } from "edgetable";
import { type Column, columnOf, columnsWithin, matchOf, type Texts } from "./columns.ts";
import { distinct, indexKeysOf, keyAttributesOf, type SampledTable, textOf } from "./sample.ts";
import { looksFixed, type Kind } from "./split-kinds.ts";
import { type KeyField, withDigits } from "./value-types.ts";

/** A piece of a key's template: fixed text, or a field with its format. */
export type Piece = { readonly text: string } | { readonly field: string; readonly format?: string };

/** The template of one computed attribute. */
export interface KeyTemplate {
  readonly attribute: string;
  /** The pieces of each part between delimiters. */
  readonly parts: readonly (readonly Piece[])[];
  /** True if the value is one field, whatever it contains. */
  readonly whole: boolean;
  /** True if some items lack the attribute. */
  readonly sparse: boolean;
  /** The values of another attribute with which items have this one, by that attribute's name. */
  readonly when?: Readonly<Record<string, string | number | boolean | readonly (string | number | boolean)[]>>;
}

/** The computed attributes of one kind. */
export interface KindKeys {
  readonly templates: readonly KeyTemplate[];
  readonly fields: ReadonlyMap<string, KeyField>;
  /** What the sample does not decide. */
  readonly doubts: readonly string[];
}

export const fieldsOf = ({ parts }: Pick<KeyTemplate, "parts">): readonly string[] =>
  distinct(parts.flat().flatMap((piece) => ("field" in piece ? [piece.field] : [])));

export const templateSource = ({ parts }: KeyTemplate, delimiter: string): string =>
  parts
    .map((pieces) =>
      pieces
        .map((piece) => ("text" in piece ? piece.text : `{${piece.field}${piece.format === undefined ? "" : `:${piece.format}`}}`))
        .join(""),
    )
    .join(delimiter);

const GENERIC = /^(?:[pshr]k|key|gsi.*|lsi.*|partition_?key|sort_?key|hash_?key|range_?key|.*[_-]?(?:pk|sk))$/i;
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A name in camel case, made of the words of a text; undefined if it has none. */
export const camel = (text: string): string | undefined => {
  const words = text.match(/[A-Za-z][A-Za-z0-9]*/g) ?? [];
  const plain = words.map((word) => (word === word.toUpperCase() ? word.toLowerCase() : word));
  const [first, ...rest] = plain;
  if (first === undefined) return undefined;
  return [first.charAt(0).toLowerCase() + first.slice(1), ...rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join("");
};

interface State {
  /** True in a table whose keys hold values in lower case, as ElectroDB writes them: then those that look the same are so too. */
  readonly folds: boolean;
  readonly kind: Kind;
  readonly table: SampledTable;
  /** A word for what the items are, where no fixed text of the key says it. */
  readonly hint: string | undefined;
  readonly delimiter: string;
  readonly columns: readonly Column[];
  /** Values within attributes, which index keys may hold. */
  readonly within: readonly Column[];
  readonly names: Map<string, Texts>;
  readonly fields: Map<string, KeyField>;
  readonly used: Set<string>;
  readonly doubts: string[];
}

const missingAt = (texts: Texts): readonly number[] => texts.flatMap((text, at) => (text === undefined ? [at] : []));
const sameTexts = (a: Texts, b: Texts): boolean => a.every((text, at) => text === b[at]);

/** A name that no field has, and no attribute of the kind but the given one. */
const freshName = ({ names, kind }: State, wanted: string, attribute?: string): string => {
  const isTaken = (name: string): boolean =>
    names.has(name) || name in Object.prototype || (name !== attribute && kind.items.some((item) => Object.hasOwn(item, name)));
  let name = wanted;
  for (let number = 2; isTaken(name); number++) name = `${wanted}${number}`;
  return name;
};

interface Place {
  readonly attribute: string;
  /** The fixed text before the field. */
  readonly label: string | undefined;
}

/** What the items of a kind are, by their type or by a fixed sort key such as `ORDER`. */
const hintOf = ({ type, items }: Kind, { sortKey = "" }: SampledTable): string | undefined => {
  const [word, ...others] = distinct(items.map((item) => textOf(item[sortKey])));
  const fixed = word !== undefined && others.length === 0 && looksFixed(word) && !FIXED_LAST.test(word) ? word : undefined;
  return camel(type ?? fixed ?? "");
};

const newField = (state: State, texts: Texts, { attribute, label }: Place): Piece => {
  const type = texts.every((text) => text === undefined || DATE.test(text)) ? "date" : "text";
  const word = label === undefined ? undefined : camel(label);
  const own = GENERIC.test(attribute) ? undefined : camel(attribute);
  const hint = attribute === state.table.partitionKey ? state.hint : undefined;
  const base =
    word === undefined
      ? (own ?? (hint === undefined ? `${camel(attribute) ?? "key"}Value` : `${hint}Id`))
      : texts.every((text) => text === undefined || /^\d{4}-\d\d/.test(text))
        ? `${word}At`
        : `${word}Id`;
  const name = freshName(state, base, attribute);
  state.names.set(name, texts);
  state.fields.set(name, { type, optional: missingAt(texts).length > 0 });
  return type === "date" ? { field: name, format: "date" } : { field: name };
};

/** A field for a part: an attribute that it repeats, a field with the same values, or a new one. */
const fieldFor = (state: State, texts: Texts, place: Place): Piece => {
  const hint = place.attribute === state.table.partitionKey ? state.hint : undefined;
  const wanted = [hint, camel(place.label ?? "")].filter((word) => word !== undefined);
  const match = matchOf(texts, { ...state, wanted });
  if (match) {
    const name = match.column.attribute;
    if (match.others.length > 0 && texts.length > 1 && !state.used.has(name))
      state.doubts.push(`${place.attribute} repeats ${[name, ...match.others].join(" and ")} in every item; ${name} is taken.`);
    state.used.add(name);
    state.names.set(name, match.column.texts);
    state.fields.set(name, { type: match.column.type === "N" ? "number" : "text", optional: missingAt(match.column.texts).length > 0 });
    return match.format === undefined ? { field: name } : { field: name, format: match.format };
  }
  const inner = matchWithin(state, texts, place);
  if (inner) return inner;
  for (const [name, known] of state.names) {
    const isSame = texts.every((text, at) => text === undefined || text === known[at]);
    // One item decides nothing, unless the same word stands before both.
    const decides =
      distinct(texts.filter((text) => text !== undefined)).length > 1 || name.startsWith(camel(place.label ?? "") ?? "\u0000");
    if (!isSame || !decides) continue;
    const type = state.fields.get(name)?.type;
    if (type === "number") continue;
    return type === "date" ? { field: name, format: "date" } : { field: name };
  }
  return newField(state, texts, place);
};

/** The value within an attribute that an index key repeats; several items show it, or one whose key names it before the value. */
const matchWithin = (state: State, texts: Texts, { attribute, label }: Place): Piece | undefined => {
  if ([state.table.partitionKey, state.table.sortKey].includes(attribute)) return undefined;
  const match = matchOf(texts, { ...state, columns: state.within, used: new Set() });
  if (!match) return undefined;
  const { column, format } = match;
  const isShown = distinct(texts.filter((text) => text !== undefined)).length > 1;
  if (!isShown && camel(label ?? "")?.toLowerCase() !== column.attribute.split(".").at(-1)?.toLowerCase()) return undefined;
  state.names.set(column.attribute, column.texts);
  return format === undefined ? { field: column.attribute } : { field: column.attribute, format };
};

const plainValue = (value: AttributeValue | undefined): string | number | boolean | undefined => {
  if (value === undefined) return undefined;
  return "S" in value ? value.S : "N" in value ? Number(value.N) : "BOOL" in value ? value.BOOL : undefined;
};

// By fewer items, other attributes tell them apart by chance.
const EACH_SIDE = 2;
const MOST_VALUES = 3;
const STATE = /stat(?:e|us)$|^is[A-Z_]|active|open|enabled|latest/i;

/**
 * The attribute whose values say which items have an index key: those with the key have one of a few, and those without others.
 * Nothing is read back from such a key, so that each of its fields has to be in another attribute.
 */
const conditionOf = (state: State, template: KeyTemplate, texts: Texts, inTableKeys: readonly string[]): KeyTemplate["when"] => {
  const { kind, table, used, within, names } = state;
  const ofTable = [table.partitionKey, table.sortKey ?? ""];
  const isElsewhere = (field: string): boolean =>
    used.has(field) || inTableKeys.includes(field) || within.some(({ attribute }) => attribute === field);
  if (ofTable.includes(template.attribute) || !fieldsOf(template).every((field) => isElsewhere(field) && names.has(field)))
    return undefined;
  const keys = keyAttributesOf(table);
  const attributes = distinct(kind.items.flatMap((item) => Object.keys(item))).filter(
    (name) => /^[A-Za-z_$][\w$-]*$/.test(name) && !(name in Object.prototype) && !keys.includes(name) && !inTableKeys.includes(name),
  );
  // What is called a state decides; what the key holds itself comes last.
  const rank = (name: string): number => (STATE.test(name) ? 0 : fieldsOf(template).includes(name) ? 2 : 1);
  const candidates = attributes.toSorted((a, b) => rank(a) - rank(b));
  for (const name of candidates) {
    const values = kind.items.map((item) => plainValue(item[name]));
    const having = values.filter((_, at) => texts[at] !== undefined);
    const lacking = values.filter((_, at) => texts[at] === undefined);
    const given = distinct(having.filter((value) => value !== undefined));
    if (having.length < EACH_SIDE || lacking.length < EACH_SIDE || having.includes(undefined)) continue;
    if (
      given.length > MOST_VALUES ||
      given.length === having.length ||
      lacking.some((value) => value !== undefined && given.includes(value))
    )
      continue;
    // An attribute that items without the key lack too is no state.
    if (lacking.every((value) => value === undefined)) continue;
    return { [name]: given.length === 1 ? given[0]! : given };
  }
  return undefined;
};

const hasLetters = (text: string): boolean => /[A-Za-z]/.test(text);

interface Part {
  readonly texts: Texts;
  readonly at: number;
  readonly of: number;
  readonly attribute: string;
  readonly label: string | undefined;
}

/** Whether a part that is the same in every item is fixed text. */
const isFixedPart = (state: State, { texts, at, of, attribute, label }: Part): boolean => {
  const [text = "", ...others] = distinct(texts.filter((one) => one !== undefined));
  // A template has no way to write a brace.
  if (others.length > 0 || /[{}]/.test(text)) return false;
  if (text === "") return true;
  const count = texts.filter((one) => one !== undefined).length;
  const match = matchOf(texts, state);
  // A word such as OPEN is no value because some attribute is "open" in all items.
  const repeated = match !== undefined && match.format !== "upper" && (match.format !== "lower" || state.folds);
  const ofType = state.kind.type !== undefined && text.toLowerCase().includes(state.kind.type.toLowerCase());
  if (of > 1 && at === 0) return hasLetters(text);
  if (repeated) return false;
  if (of === 1) {
    // A partition key of one item is a word only where the sort key is the same.
    const { partitionKey, sortKey = "" } = state.table;
    if (attribute === partitionKey && count === 1 && !FIXED_LAST.test(text) && textOf(state.kind.items[0]?.[sortKey]) !== text)
      return false;
    // `player001` is one of several, though the sample has no other.
    const isId = attribute === partitionKey && /\d/.test(text);
    const isFixed = looksFixed(text) || ofType || (count > 1 && hasLetters(text) && !/\s/.test(text) && !isId);
    if (!isFixed) return false;
    return true;
  }
  if (looksFixed(text) || ofType) return at < of - 1 || label === undefined || FIXED_LAST.test(text) || ofType;
  // A text that an attribute holds too is a value, though all items of the sample have the same one.
  const isValue = state.columns.some((column) => column.texts.includes(text));
  const isWord = count > 1 && !isValue && hasLetters(text) && !/\d|\s/.test(text) && (at < of - 1 || label === undefined);
  if (isWord) state.doubts.push(`"${text}" in ${attribute} is taken for a fixed word: it is the same in all ${count} items.`);
  return isWord;
};

const FIXED_LAST = /^(?:meta(?:data)?|root|info|profile|details?|summary|config|settings|stats|current|latest|count|all|self)$/i;

/**
 * `country_norway` with an attribute that is "norway": fixed text before a field.
 *
 * @param named true to ask that the fixed text is the attribute's name
 */
const labelledPiece = (state: State, texts: Texts, named: boolean): readonly Piece[] | undefined => {
  for (const column of state.columns) {
    if (column.type !== "S") continue;
    const prefixes = texts.map((text, at) => {
      if (text === undefined) return undefined;
      const stored = column.texts[at];
      const value = stored !== undefined && !text.endsWith(stored) ? stored.toLowerCase() : stored;
      return value !== undefined && value !== "" && text.length > value.length && text.endsWith(value) ? text.slice(0, -value.length) : "";
    });
    const [prefix = "", ...others] = distinct(prefixes.filter((one) => one !== undefined));
    if (others.length > 0 || !/^[$\w]*[A-Za-z][_\-=.:]$/.test(prefix)) continue;
    if (named && prefix.slice(0, -1).toLowerCase() !== column.attribute.toLowerCase()) continue;
    const field = fieldFor(
      state,
      texts.map((text) => text?.slice(prefix.length)),
      { attribute: column.attribute, label: undefined },
    );
    return [{ text: prefix }, field];
  }
  return undefined;
};

/** `v0`, `v1`, `v2` as a whole key: fixed text before a number. */
const numberedPiece = (state: State, texts: Texts, attribute: string): readonly Piece[] | undefined => {
  const parts = texts.map((text) => (text === undefined ? undefined : /^([A-Za-z]{1,3})(0|[1-9]\d{0,14})$/.exec(text)));
  const [prefix, ...others] = distinct(parts.flatMap((part) => (part ? [part[1]] : [])));
  if (prefix === undefined || others.length > 0 || parts.some((part) => part === null)) return undefined;
  const name = freshName(state, `${prefix.toLowerCase()}Number`);
  state.names.set(name, texts);
  state.fields.set(name, { type: "number", optional: missingAt(texts).length > 0 });
  state.doubts.push(`${attribute} is "${prefix}" and a whole number in every item.`);
  return [{ text: prefix }, { field: name, format: "plain" }];
};

const splitTexts = (texts: Texts, delimiter: string): readonly Texts[] | undefined => {
  const parts = texts.map((text) => text?.split(delimiter));
  const [count = 1, ...others] = distinct(parts.flatMap((one) => one?.length ?? []));
  if (others.length > 0) return undefined;
  return Array.from({ length: count }, (_, at) => parts.map((one) => one?.[at]));
};

const wholeTemplate = (state: State, { attribute, texts, type }: Column): KeyTemplate => {
  const sparse = missingAt(texts).length > 0;
  const own = state.columns.some((column) => column.attribute === attribute);
  if (own) {
    // The attribute is a field of its own name.
    const date = type === "S" && texts.every((text) => text === undefined || DATE.test(text));
    state.used.add(attribute);
    state.names.set(attribute, texts);
    state.fields.set(attribute, { type: type === "N" ? "number" : date ? "date" : "text", optional: sparse });
    return { attribute, parts: [[wholeField(attribute, state.fields.get(attribute)?.type)]], whole: true, sparse };
  }
  const piece = type === "N" ? numberField(state, texts, attribute) : fieldFor(state, texts, { attribute, label: undefined });
  return { attribute, parts: [[piece]], whole: true, sparse };
};

const numberField = (state: State, texts: Texts, attribute: string): Piece => {
  const match = state.columns.find((column) => column.type === "N" && sameTexts(texts, column.texts));
  const name =
    match?.attribute ??
    freshName(state, GENERIC.test(attribute) ? `${camel(attribute) ?? "key"}Number` : (camel(attribute) ?? "number"), attribute);
  if (match) state.used.add(name);
  state.names.set(name, texts);
  state.fields.set(name, { type: "number", optional: missingAt(texts).length > 0 });
  return { field: name, format: "number" };
};

const wholeField = (field: string, type: KeyField["type"] | undefined): Piece =>
  type === "number" ? { field, format: "number" } : type === "date" ? { field, format: "date" } : { field };

const templateOf = (state: State, column: Column, plain: boolean): KeyTemplate => {
  const { attribute, texts, type } = column;
  const sparse = missingAt(texts).length > 0;
  const parts = splitTexts(texts, state.delimiter);
  const isDate = texts.every((text) => text === undefined || DATE.test(text));
  if (plain || type === "N" || parts === undefined || isDate) return wholeTemplate(state, column);
  // Every part is empty where a value ends in a delimiter, and no field is.
  if (parts.some((part) => part.includes("") && distinct(part).length > 1)) return wholeTemplate(state, column);
  let label: string | undefined;
  const pieces = parts.map((part, at): readonly Piece[] => {
    const byName = labelledPiece(state, part, true);
    if (byName) return byName;
    const place: Part = { texts: part, at, of: parts.length, attribute, label };
    if (isFixedPart(state, place)) {
      label = part.find((text) => text !== undefined) ?? "";
      return [{ text: label }];
    }
    const labelled = labelledPiece(state, part, false);
    const numbered = labelled || parts.length > 1 ? undefined : numberedPiece(state, part, attribute);
    const found = labelled ?? numbered ?? [fieldFor(state, part, { attribute, label })];
    label = undefined;
    return found;
  });
  // Values of a table key without the delimiter leave it to other kinds; those of an index key may contain it.
  const mayHold = attribute !== state.table.partitionKey && attribute !== state.table.sortKey;
  return { attribute, parts: pieces, whole: mayHold && parts.length === 1 && pieces.flat().every((piece) => "field" in piece), sparse };
};

/** Whether an attribute of its own name is made of several parts: more than one item has them, or the first is a fixed word. */
const isDivided = (texts: Texts, delimiter: string): boolean => {
  const parts = splitTexts(texts, delimiter) ?? [];
  return (
    parts.length > 1 &&
    (texts.filter((text) => text !== undefined).length > 1 || looksFixed(parts[0]?.find((text) => text !== undefined) ?? ""))
  );
};

/** Whether a template makes no key for the items that lack the attribute: one of its fields is missing there. */
const staysAway = ({ names }: State, template: KeyTemplate, texts: Texts): boolean =>
  missingAt(texts).every((at) => fieldsOf(template).some((field) => names.get(field)?.[at] === undefined));

/** Gives a template that would also make keys for items without the attribute a field of its own. */
const withOwnField = (state: State, template: KeyTemplate, { attribute, texts }: Column): KeyTemplate => {
  const parts = splitTexts(texts, state.delimiter) ?? [texts];
  const last = template.parts.findLastIndex((pieces) => pieces.length === 1 && "field" in (pieces[0] ?? {}));
  if (template.whole || last < 0) {
    const piece = newField(state, texts, { attribute, label: undefined });
    return { ...template, parts: [[piece]], whole: true };
  }
  const piece = newField(state, parts[last] ?? texts, { attribute, label: undefined });
  return { ...template, parts: template.parts.map((pieces, at) => (at === last ? [piece] : pieces)) };
};

/** Gives a key that some items lack a condition or a field of its own, if its template would make one for them too. */
const settleSparse = (
  state: State,
  templates: Map<string, KeyTemplate>,
  { texts, plain }: { readonly texts: ReadonlyMap<string, Texts>; readonly plain: ReadonlySet<string> },
): void => {
  const { table } = state;
  const inTableKeys = [table.partitionKey, table.sortKey ?? ""].flatMap((name) => fieldsOf(templates.get(name) ?? { parts: [] }));
  for (const [name, template] of templates) {
    const own = texts.get(name) ?? [];
    if (!template.sparse || staysAway(state, template, own)) continue;
    const when = plain.has(name) ? undefined : conditionOf(state, template, own, inTableKeys);
    if (when) {
      templates.set(name, { ...template, sparse: false, when });
      continue;
    }
    const partners = Object.values(table.indexes)
      .map(indexKeysOf)
      .flatMap((keys) => (keys.includes(name) ? keys.filter((one) => one !== name) : []));
    const partner = partners.map((one) => templates.get(one)).find((one) => one?.sparse);
    // Half of an index entry is left out with the other half.
    const follows =
      partner &&
      sameTexts(
        (texts.get(partner.attribute) ?? []).map((one) => one && "x"),
        own.map((one) => one && "x"),
      ) &&
      staysAway(state, partner, texts.get(partner.attribute) ?? []);
    if (!follows) templates.set(name, withOwnField(state, template, { attribute: name, type: "S", texts: own }));
  }
  // Nothing is read back from an index under a condition: if one key has a field of its own, the other is left out with it.
  for (const index of Object.values(table.indexes)) {
    const entry = indexKeysOf(index).flatMap((name) => templates.get(name) ?? []);
    if (!entry.some(({ sparse }) => sparse)) continue;
    for (const { when, ...one } of entry) if (when) templates.set(one.attribute, { ...one, sparse: true });
  }
  for (const { attribute, when = {} } of templates.values())
    for (const [name, values] of Object.entries(when))
      state.doubts.push(
        `items have ${attribute} while ${name} is ${[values]
          .flat()
          .map((value) => JSON.stringify(value))
          .join(" or ")}.`,
      );
};

/**
 * Infers the templates of a kind's computed attributes: the table's keys, its index keys, and attributes that repeat a field.
 *
 * @param plain attributes whose value is to be one field as it is
 */
export const inferKeys = (
  kind: Kind,
  table: SampledTable,
  options: {
    readonly delimiter: string;
    readonly typeAttribute: string | undefined;
    readonly plain: ReadonlySet<string>;
    /** True where other keys of the table hold values in lower case. */
    readonly folds: boolean;
  },
): KindKeys => {
  const { delimiter, typeAttribute, plain, folds } = options;
  const { items } = kind;
  const tableKeys = [table.partitionKey, table.sortKey];
  const names = distinct(items.flatMap((item) => Object.keys(item)));
  const constant = (name: string): boolean =>
    table.items.length > 1 && name.startsWith("__") && distinct(table.items.map((item) => textOf(item[name]))).length === 1;
  // A computed attribute has one type in the whole table.
  const mixed = (name: string): boolean => distinct(table.items.flatMap((item) => Object.keys(item[name] ?? {}))).length > 1;
  const isField = (name: string): boolean => /^[A-Za-z_$][\w$-]*$/.test(name) && !(name in Object.prototype);
  const candidates = names.filter(
    (name) =>
      !tableKeys.includes(name) && name !== typeAttribute && isField(name) && !mixed(name) && !constant(name) && !plain.has(`=${name}`),
  );
  const keyNames = keyAttributesOf(table).filter((name) => names.includes(name));
  const columns = candidates.flatMap((name) => columnOf(items, name) ?? []);
  // An index key of a generic name is made of others; one with a name of its own is an attribute by itself.
  const isMade = ({ attribute, texts }: Column): boolean =>
    keyNames.includes(attribute) && (GENERIC.test(attribute) || isDivided(texts, delimiter));
  const state: State = {
    folds,
    kind,
    table,
    hint: hintOf(kind, table),
    delimiter,
    columns: columns.filter((column) => !isMade(column)),
    within: candidates.flatMap((name) => columnsWithin(items, name)),
    names: new Map(),
    fields: new Map(),
    used: new Set(),
    doubts: [],
  };
  const templates = new Map<string, KeyTemplate>();
  const texts = new Map<string, Texts>();
  for (const name of keyNames) {
    const column = columnOf(items, name);
    if (!column) continue;
    const same = [...texts].find(([, known]) => sameTexts(known, column.texts))?.[0];
    const first = same === undefined || plain.has(name) ? undefined : templates.get(same);
    const isOwn = state.columns.some((one) => one.attribute === name);
    texts.set(name, column.texts);
    templates.set(name, first && !isOwn ? { ...first, attribute: name } : templateOf(state, column, plain.has(name) || isOwn));
  }
  settleSparse(state, templates, { texts, plain });
  for (const name of state.used) {
    if (templates.has(name)) continue;
    const column = state.columns.find((one) => one.attribute === name);
    if (column)
      templates.set(name, {
        attribute: name,
        parts: [[wholeField(name, state.fields.get(name)?.type)]],
        whole: true,
        sparse: missingAt(column.texts).length > 0,
      });
  }
  const alone = items.length === 1 ? ["the sample has one such item, so the draft guesses which words of its key are fixed."] : [];
  return {
    templates: [...templates.values()],
    fields: withDigits(state.fields, state.names),
    doubts: distinct([...alone, ...state.doubts]),
  };
};
