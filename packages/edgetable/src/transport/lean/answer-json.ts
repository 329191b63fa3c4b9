import { holdsItems, isNumeral, isOfType, type TextColumn } from "../transport.ts";

// DynamoDB gives the attributes of an item in any order, and JSON.parse makes a hidden class for every
// order it meets, which slows down all code that the items then pass through: 20 edges of 11 attributes
// cost 220 µs to parse and decode. Read here they cost 40, because every object gets its members in the
// order in which their names were first met.

// What is read: JSON of any form, an attribute's value, an object of such values, an object of such objects, a list of them.
const ANY = 0;
const VALUE = 1;
const ITEM = 2;
const HOLDER = 3;
const ITEMS = 4;
type Form = typeof ANY | typeof VALUE | typeof ITEM | typeof HOLDER | typeof ITEMS;

/** The name of a member. */
interface Name {
  readonly text: string;
  readonly hash: number;
  /** Its place among the members of any object. */
  readonly order: number;
}

interface Members {
  readonly names: Name[];
  readonly values: unknown[];
}

const QUOTE = 0x22;
const N = 0x4e;
const S = 0x53;
const COMMA = 0x2c;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

// A hash table of names: more than a model has, in a power of two. One that finds no room has another learnt again.
const SLOTS = 2048;
const PROBES = 4;
// Insertion sorts few members quickly; those beyond stand as they came.
const MOST_SORTED = 32;
// Attributes nest up to 32 levels (ServiceQuotas), and each level takes two objects.
const DEEPEST = 100;
// Numbers of so many digits are exact, but for their point.
const MOST_DIGITS = 15;
// A longer slice would keep the whole answer in memory for as long as it lives itself.
const LONGEST_SLICE = 12;

// Blanks, great depth, `__proto__`, items of another form and text that is not JSON: JSON.parse reads them.
const unusual = new Error("left to JSON.parse");

const known: (Name | undefined)[] = Array.from({ length: SLOTS }, () => undefined);
let met = 0;

const learn = (text: string, hash: number): Name => {
  if (text === "__proto__") throw unusual;
  // As the name of a member the text is a copy: it does not keep the answer in memory.
  const [copy = text] = Object.keys({ [text]: 0 });
  const name = { text: copy, hash, order: met++ };
  let slot = 0;
  while (slot < PROBES - 1 && known[(hash + slot) & (SLOTS - 1)] !== undefined) slot++;
  known[(hash + slot) & (SLOTS - 1)] = name;
  return name;
};

// Its hash is that of no text: no name that is read finds it.
const TEXTS: Name = { text: "Texts", hash: Number.NaN, order: met++ };

const insert = ({ names, values }: Members, name: Name, value: unknown): void => {
  let at = names.length;
  names.push(name);
  values.push(value);
  if (at > MOST_SORTED) return;
  for (let before = names[at - 1]; before !== undefined && before.order > name.order; before = names[at - 1]) {
    names[at] = before;
    values[at] = values[at - 1];
    at--;
  }
  names[at] = name;
  values[at] = value;
};

const objectOf = ({ names, values }: Members): Record<string, unknown> => {
  const object: Record<string, unknown> = {};
  for (let at = 0; at < names.length; at++) object[(names[at] as Name).text] = values[at];
  return object;
};

const openings = new WeakMap<TextColumn, string>();

/** What precedes the text of each item. */
const openingOf = (column: TextColumn): string => {
  let opening = openings.get(column);
  if (opening === undefined) {
    opening = `{${JSON.stringify(column.attribute)}:{"S":${JSON.stringify(column.beginning).slice(0, -1)}`;
    openings.set(column, opening);
  }
  return opening;
};

/** One text, and how far it is read. */
class TextReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  /** Where the next backslash is. */
  #escape = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /** An output. Where a column is given, its list "Items" is read as one text of each item. */
  output(column?: TextColumn): unknown {
    if (this.#text.charCodeAt(0) !== OPEN_OBJECT) throw unusual;
    const members: Members = { names: [], values: [] };
    if (this.#opens(CLOSE_OBJECT)) {
      do {
        const name = this.#name();
        if (column && name.text === "Items") insert(members, TEXTS, this.#texts(openingOf(column)));
        else insert(members, name, this.#member(name.text));
      } while (this.#goesOn(CLOSE_OBJECT));
    }
    if (this.#at < this.#text.length) throw unusual;
    return objectOf(members);
  }

  /** A member of an output: where it holds items, each of their values is one of its type, or the text is unusual. */
  #member(name: string): unknown {
    switch (name) {
      case "Item":
      case "Attributes":
      case "LastEvaluatedKey":
        return this.#item();
      case "Items":
        return this.#list(ITEM);
      case "Responses":
        // A transaction's are a list of objects that have an item or nothing, a batch's are lists by table.
        return this.#text.charCodeAt(this.#at) === OPEN_LIST ? this.#list(HOLDER) : this.#object(ITEMS);
      case "Texts":
        throw unusual;
      default:
        return this.#any();
    }
  }

  #texts(opening: string): readonly string[] {
    const texts: string[] = [];
    if (this.#text.charCodeAt(this.#at) !== OPEN_LIST) throw unusual;
    if (!this.#opens(CLOSE_LIST)) return texts;
    do {
      if (!this.#text.startsWith(opening, this.#at)) throw unusual;
      this.#at += opening.length;
      texts.push(this.#textFrom(this.#at));
      if (!this.#text.startsWith("}}", this.#at)) throw unusual;
      this.#at += 2;
    } while (this.#goesOn(CLOSE_LIST));
    return texts;
  }

  #read(form: Form): unknown {
    switch (form) {
      case VALUE:
        return this.#value();
      case ITEM:
        return this.#item();
      case HOLDER:
        return this.#object(ITEM);
      case ITEMS:
        return this.#list(ITEM);
      default:
        return this.#any();
    }
  }

  #any(): unknown {
    switch (this.#text.charCodeAt(this.#at)) {
      case QUOTE:
        return this.#string();
      case OPEN_OBJECT:
        return this.#object(ANY);
      case OPEN_LIST:
        return this.#list(ANY);
      default:
        return this.#word();
    }
  }

  #value(): object {
    const type = this.#text.charCodeAt(this.#at + 2);
    // Nearly all values are of these two types: read apart, a list of 20 edges takes 47 µs in place of 60.
    if ((type === S || type === N) && this.#text.startsWith(type === S ? '{"S":"' : '{"N":"', this.#at)) {
      this.#at += 5;
      const value = this.#string();
      if (this.#text.charCodeAt(this.#at++) !== CLOSE_OBJECT) throw unusual;
      if (type === S) return { S: value };
      if (!isNumeral(value)) throw unusual;
      return { N: value };
    }
    return this.#rareValue();
  }

  // Apart, so that the usual ones stay small enough to be inlined.
  #rareValue(): object {
    if (this.#text.charCodeAt(this.#at) !== OPEN_OBJECT || !this.#opens(CLOSE_OBJECT)) throw unusual;
    const { text: name } = this.#name();
    const content = name === "M" ? this.#item() : name === "L" ? this.#list(VALUE) : this.#any();
    if (this.#goesOn(CLOSE_OBJECT) || (name !== "M" && name !== "L" && !isOfType(name, content))) throw unusual;
    return { [name]: content };
  }

  /** A number, true, false or null. */
  #word(): unknown {
    const from = this.#at;
    let whole = 0;
    let point = -1;
    let isPlain = true;
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === COMMA || code === CLOSE_OBJECT || code === CLOSE_LIST) break;
      if (code === POINT && point < 0) {
        point = this.#at;
        continue;
      }
      isPlain &&= code >= ZERO && code <= NINE;
      whole = whole * 10 + code - ZERO;
    }
    const before = (point < 0 ? this.#at : point) - from;
    const behind = point < 0 ? 0 : this.#at - point - 1;
    const isNumber = isPlain && before > 0 && before + behind <= MOST_DIGITS && (before === 1 || this.#text.charCodeAt(from) !== ZERO);
    if (!isNumber || (point >= 0 && behind === 0)) return JSON.parse(this.#text.slice(from, this.#at));
    // Of two exact numbers, a division gives the nearest there is.
    return behind === 0 ? whole : whole / 10 ** behind;
  }

  #string(): string {
    return this.#textFrom(this.#at + 1);
  }

  /** A text from somewhere inside it up to its closing quote. */
  #textFrom(from: number): string {
    const text = this.#text;
    let end = text.indexOf('"', from);
    if (this.#escape < from) {
      const escape = text.indexOf("\\", from);
      this.#escape = escape < 0 ? text.length : escape;
    }
    while (end > this.#escape && this.#isEscaped(end)) end = text.indexOf('"', end + 1);
    if (end < 0) throw unusual;
    this.#at = end + 1;
    const plain = end < this.#escape && end - from <= LONGEST_SLICE;
    return plain ? text.slice(from, end) : (JSON.parse(`"${text.slice(from, end + 1)}`) as string);
  }

  #isEscaped(quote: number): boolean {
    let from = quote;
    while (this.#text.charCodeAt(from - 1) === BACKSLASH) from--;
    return (quote - from) % 2 === 1;
  }

  #list(each: Form): unknown[] {
    if (this.#text.charCodeAt(this.#at) !== OPEN_LIST) throw unusual;
    const list: unknown[] = [];
    if (this.#opens(CLOSE_LIST)) {
      do list.push(this.#read(each));
      while (this.#goesOn(CLOSE_LIST));
    }
    return list;
  }

  /** An object of attribute values: what most of an answer is. */
  #item(): object {
    if (this.#text.charCodeAt(this.#at) !== OPEN_OBJECT) throw unusual;
    if (!this.#opens(CLOSE_OBJECT)) return {};
    const name = this.#name();
    const value: unknown = this.#value();
    const members: Members = { names: [name], values: [value] };
    while (this.#goesOn(CLOSE_OBJECT)) insert(members, this.#name(), this.#value());
    return objectOf(members);
  }

  #object(each: Form): object {
    if (this.#text.charCodeAt(this.#at) !== OPEN_OBJECT) throw unusual;
    if (!this.#opens(CLOSE_OBJECT)) return {};
    const name = this.#name();
    const value = this.#read(each);
    const members: Members = { names: [name], values: [value] };
    while (this.#goesOn(CLOSE_OBJECT)) insert(members, this.#name(), this.#read(each));
    return objectOf(members);
  }

  /** Steps into a list or object; false when nothing is in it. */
  #opens(close: number): boolean {
    if (++this.#depth > DEEPEST) throw unusual;
    this.#at++;
    if (this.#text.charCodeAt(this.#at) !== close) return true;
    this.#leave();
    return false;
  }

  /** Steps over a comma, or out at the end. */
  #goesOn(close: number): boolean {
    const code = this.#text.charCodeAt(this.#at);
    if (code !== COMMA && code !== close) throw unusual;
    if (code === COMMA) this.#at++;
    else this.#leave();
    return code === COMMA;
  }

  #leave(): void {
    this.#depth--;
    this.#at++;
  }

  #name(): Name {
    const text = this.#text;
    const from = this.#at + 1;
    let hash = 0;
    let end = from;
    for (let code = text.charCodeAt(end); code !== QUOTE; code = text.charCodeAt(++end)) {
      if (code === BACKSLASH || Number.isNaN(code)) throw unusual;
      hash = (Math.imul(hash, 31) + code) | 0;
    }
    if (text.charCodeAt(from - 1) !== QUOTE || text.charCodeAt(end + 1) !== COLON) throw unusual;
    this.#at = end + 2;
    for (let slot = 0; slot < PROBES; slot++) {
      const name = known[(hash + slot) & (SLOTS - 1)];
      if (name === undefined) break;
      if (name.hash === hash && name.text.length === end - from && text.startsWith(name.text, from)) return name;
    }
    return learn(text.slice(from, end), hash);
  }
}

/**
 * The output in an answer's text: what JSON.parse gives, but for the order of members, and for control characters in
 * short texts, which pass. All its items are items. Where a column is wanted and the answer is as usual, `Texts`
 * stands in place of `Items`.
 *
 * @throws SyntaxError as JSON.parse does, and TypeError where an item has what no attribute holds
 */
export const parseAnswer = (text: string, column?: TextColumn): unknown => {
  try {
    return new TextReader(text).output(column);
  } catch {
    const output: unknown = JSON.parse(text);
    if (!holdsItems(output)) throw new TypeError("an item has a malformed value");
    return output;
  }
};
