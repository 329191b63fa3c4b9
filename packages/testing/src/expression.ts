import { type AttributeValue, EdgetableError, type Item } from "edgetable";

/** A value's type and content. */
export const taggedValue = (value: AttributeValue): readonly [string, unknown] => Object.entries(value)[0] ?? ["", undefined];

interface Decimal {
  readonly sign: -1 | 0 | 1;
  /** Position of the decimal point, counted from the first significant digit. */
  readonly scale: number;
  /** Significant digits without zeros at either end. */
  readonly digits: string;
}

const decimal = (text: string): Decimal => {
  const [, minus, whole = "", fraction = "", exponent = "0"] = /^([-])?[+]?(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/.exec(text.trim()) ?? [];
  const all = whole + fraction;
  const leading = /^0*/.exec(all)?.[0].length ?? 0;
  const digits = all.slice(leading).replace(/0+$/, "");
  if (digits === "") return { sign: 0, scale: 0, digits };
  return { sign: minus ? -1 : 1, scale: whole.length - leading + Number(exponent), digits };
};

const order = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Order of two numbers written as text, exact at any number of digits. */
const compareNumbers = (a: string, b: string): number => {
  const [left, right] = [decimal(a), decimal(b)];
  if (left.sign !== right.sign) return order(left.sign, right.sign);
  return (order(left.scale, right.scale) || order(left.digits, right.digits)) * left.sign;
};

/** Order of two texts in DynamoDB: by UTF-8 bytes. */
export const compareText = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const compareBinary = (a: string, b: string): number => Buffer.compare(Buffer.from(a, "base64"), Buffer.from(b, "base64"));

/** Order of two values; undefined if their types differ or have no order. */
export const compareValues = (a: AttributeValue, b: AttributeValue): number | undefined => {
  if ("S" in a && "S" in b) return compareText(a.S, b.S);
  if ("N" in a && "N" in b) return compareNumbers(a.N, b.N);
  if ("B" in a && "B" in b) return compareBinary(a.B, b.B);
  return undefined;
};

const canonicalNumber = (text: string): string => {
  const { sign, scale, digits } = decimal(text);
  return `${String(sign)}:${String(scale)}:${digits}`;
};

/** A text that is the same for two values if and only if DynamoDB calls them equal. */
export const canonicalValue = (value: AttributeValue): string => {
  if ("N" in value) return `N${canonicalNumber(value.N)}`;
  if ("NS" in value) return `NS${JSON.stringify(value.NS.map(canonicalNumber).toSorted())}`;
  if ("SS" in value) return `SS${JSON.stringify([...value.SS].toSorted())}`;
  if ("BS" in value) return `BS${JSON.stringify([...value.BS].toSorted())}`;
  if ("L" in value) return `L${JSON.stringify(value.L.map(canonicalValue))}`;
  if (!("M" in value)) return JSON.stringify(value);
  const entries = Object.entries(value.M).map(([name, inner]) => [name, canonicalValue(inner)] as const);
  return `M${JSON.stringify(entries.toSorted(([a], [b]) => compareText(a, b)))}`;
};

/** True if DynamoDB's `=` holds: same type, same content, sets in any order. */
const equalValues = (a: AttributeValue, b: AttributeValue): boolean => canonicalValue(a) === canonicalValue(b);

/** The tokens of an expression, from left to right. */
export interface Tokens {
  /** The next token without taking it; empty at the end. */
  peek(): string;
  take(): string;
  /** Takes the next token if it is this one, in any case. */
  accept(token: string): boolean;
  expect(token: string): void;
  /** Throws plan.unsupported. */
  fail(): never;
}

const pattern = /\s*(<>|<=|>=|[=<>(),.[\]]|[:#]?[\w-]+)/y;

const split = (text: string): readonly string[] | undefined => {
  const tokens: string[] = [];
  pattern.lastIndex = 0;
  for (let end = 0; end < text.trimEnd().length; end = pattern.lastIndex) {
    const token = pattern.exec(text)?.[1];
    if (token === undefined) return undefined;
    tokens.push(token);
  }
  return tokens;
};

/** @throws {plan.unsupported} from its functions, if the expression cannot be parsed */
const tokensOf = (expression: string): Tokens => {
  const list = split(expression) ?? [];
  let next = 0;
  const fail = (): never => {
    const message = `the fault transport cannot read the expression "${expression}" near "${list[next] ?? "its end"}": switch lag off for this query`;
    throw new EdgetableError("plan.unsupported", message, { details: { expression, position: next } });
  };
  const accept = (token: string): boolean => {
    if (list[next]?.toUpperCase() !== token) return false;
    next++;
    return true;
  };
  return {
    peek: () => list[next] ?? "",
    take: () => list[next++] ?? fail(),
    accept,
    expect: (token) => void (accept(token) || fail()),
    fail,
  };
};

/** Path to a value in an item: names of attributes and map entries, positions in lists. */
export type Path = readonly (string | number)[];
export type Names = Readonly<Record<string, string>>;

const readName = (tokens: Tokens, names: Names): string => {
  const word = tokens.take();
  if (!word.startsWith("#")) return /^\w/.test(word) ? word : tokens.fail();
  return names[word] ?? tokens.fail();
};

/** Reads a path such as `#a.#b[2]`. */
const readPath = (tokens: Tokens, names: Names): Path => {
  const path: (string | number)[] = [readName(tokens, names)];
  for (;;) {
    if (tokens.accept(".")) path.push(readName(tokens, names));
    else if (tokens.accept("[")) {
      path.push(Number(tokens.take()));
      tokens.expect("]");
    } else return path;
  }
};

const step = (value: AttributeValue | undefined, segment: string | number): AttributeValue | undefined => {
  if (value === undefined) return undefined;
  if (typeof segment === "number") return "L" in value ? value.L[segment] : undefined;
  return "M" in value ? value.M[segment] : undefined;
};

/** The value at a path, if there is one. */
const valueAt = (item: Item, path: Path): AttributeValue | undefined => path.reduce<AttributeValue | undefined>(step, { M: item });

/** An operand of a comparison. */
export type Operand =
  | { readonly kind: "path"; readonly path: Path }
  | { readonly kind: "value"; readonly value: AttributeValue }
  | { readonly kind: "size"; readonly path: Path };

export type Comparator = "=" | "<>" | "<" | "<=" | ">" | ">=";
export type TestName = "attribute_exists" | "attribute_not_exists" | "attribute_type" | "begins_with" | "contains";

/** A parsed key condition or filter. */
export type Condition =
  | { readonly kind: "and" | "or"; readonly all: readonly Condition[] }
  | { readonly kind: "not"; readonly inner: Condition }
  | { readonly kind: "compare"; readonly comparator: Comparator; readonly left: Operand; readonly right: Operand }
  | { readonly kind: "between"; readonly operand: Operand; readonly low: Operand; readonly high: Operand }
  | { readonly kind: "in"; readonly operand: Operand; readonly list: readonly Operand[] }
  | { readonly kind: "test"; readonly name: TestName; readonly path: Path; readonly argument?: Operand };

/** An expression and its placeholders, as in a request. */
export interface Expression {
  readonly text: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Item;
}

interface Reader {
  readonly tokens: Tokens;
  readonly expression: Expression;
}

const comparators: ReadonlySet<string> = new Set(["=", "<>", "<", "<=", ">", ">="]);
const tests: ReadonlySet<string> = new Set(["attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains"]);

const path = ({ tokens, expression }: Reader): Path => readPath(tokens, expression.names);

const operand = (reader: Reader): Operand => {
  const { tokens, expression } = reader;
  const word = tokens.peek();
  if (word.startsWith(":")) return { kind: "value", value: expression.values[tokens.take()] ?? tokens.fail() };
  const inner = path(reader);
  if (word !== "size" || !tokens.accept("(")) return { kind: "path", path: inner };
  const sized = path(reader);
  tokens.expect(")");
  return { kind: "size", path: sized };
};

const operands = (reader: Reader): readonly Operand[] => {
  reader.tokens.expect("(");
  const list = [operand(reader)];
  while (reader.tokens.accept(",")) list.push(operand(reader));
  reader.tokens.expect(")");
  return list;
};

const test = (reader: Reader): Condition => {
  const { tokens } = reader;
  const name = tokens.take() as TestName;
  tokens.expect("(");
  const subject = path(reader);
  const argument = tokens.accept(",") ? operand(reader) : undefined;
  tokens.expect(")");
  return { kind: "test", name, path: subject, ...(argument && { argument }) };
};

const between = (reader: Reader, subject: Operand): Condition => {
  const low = operand(reader);
  reader.tokens.expect("AND");
  return { kind: "between", operand: subject, low, high: operand(reader) };
};

const comparison = (reader: Reader): Condition => {
  const { tokens } = reader;
  const left = operand(reader);
  if (tokens.accept("BETWEEN")) return between(reader, left);
  if (tokens.accept("IN")) return { kind: "in", operand: left, list: operands(reader) };
  if (!comparators.has(tokens.peek())) return tokens.fail();
  return { kind: "compare", comparator: tokens.take() as Comparator, left, right: operand(reader) };
};

const primary = (reader: Reader): Condition => {
  const { tokens } = reader;
  if (tokens.accept("NOT")) return { kind: "not", inner: primary(reader) };
  if (tests.has(tokens.peek())) return test(reader);
  if (!tokens.accept("(")) return comparison(reader);
  const inner = disjunction(reader);
  tokens.expect(")");
  return inner;
};

const conjunction = (reader: Reader): Condition => {
  const all = [primary(reader)];
  while (reader.tokens.accept("AND")) all.push(primary(reader));
  return { kind: "and", all };
};

const disjunction = (reader: Reader): Condition => {
  const all = [conjunction(reader)];
  while (reader.tokens.accept("OR")) all.push(conjunction(reader));
  return { kind: "or", all };
};

/**
 * Reads a KeyConditionExpression or FilterExpression.
 *
 * @throws {plan.unsupported} if it is not in the supported grammar
 */
export const parseCondition = (expression: Expression): Condition => {
  const reader = { tokens: tokensOf(expression.text), expression };
  const condition = disjunction(reader);
  return reader.tokens.peek() === "" ? condition : reader.tokens.fail();
};

const sizeOf = (value: AttributeValue | undefined): AttributeValue | undefined => {
  if (value === undefined) return undefined;
  const [type, content] = taggedValue(value);
  // Seen on dynoxide 1.2.1: UTF-16 units, not bytes and not code points.
  if (type === "S") return { N: String((content as string).length) };
  if (type === "B") return { N: String(Buffer.from(content as string, "base64").length) };
  if (type === "M") return { N: String(Object.keys(content as object).length) };
  return Array.isArray(content) ? { N: String(content.length) } : undefined;
};

const resolve = (item: Item, operand: Operand): AttributeValue | undefined => {
  if (operand.kind === "value") return operand.value;
  const value = valueAt(item, operand.path);
  return operand.kind === "size" ? sizeOf(value) : value;
};

const signs: Readonly<Record<Exclude<Comparator, "=" | "<>">, (order: number) => boolean>> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

const compare = (comparator: Comparator, a: AttributeValue | undefined, b: AttributeValue | undefined): boolean => {
  const equal = a !== undefined && b !== undefined && equalValues(a, b);
  if (comparator === "=") return equal;
  // A missing attribute differs from every value.
  if (comparator === "<>") return !equal;
  const order = a && b && compareValues(a, b);
  return order !== undefined && signs[comparator](order);
};

const beginsWith = (value: AttributeValue, prefix: AttributeValue): boolean => {
  if ("S" in value && "S" in prefix) return value.S.startsWith(prefix.S);
  if (!("B" in value && "B" in prefix)) return false;
  const start = Buffer.from(prefix.B, "base64");
  return Buffer.from(value.B, "base64").subarray(0, start.length).equals(start);
};

const contains = (value: AttributeValue, part: AttributeValue): boolean => {
  if ("S" in value) return "S" in part && value.S.includes(part.S);
  if ("B" in value) return "B" in part && Buffer.from(value.B, "base64").includes(Buffer.from(part.B, "base64"));
  if ("L" in value) return value.L.some((element) => equalValues(element, part));
  const [type, content] = taggedValue(value);
  if (!["SS", "NS", "BS"].includes(type)) return false;
  const element = type.slice(0, 1);
  return (content as readonly string[]).some((member) => equalValues({ [element]: member } as unknown as AttributeValue, part));
};

const passes = (item: Item, condition: Condition & { kind: "test" }): boolean => {
  const value = valueAt(item, condition.path);
  if (condition.name === "attribute_exists") return value !== undefined;
  if (condition.name === "attribute_not_exists") return value === undefined;
  const argument = condition.argument && resolve(item, condition.argument);
  if (value === undefined || argument === undefined) return false;
  if (condition.name === "begins_with") return beginsWith(value, argument);
  if (condition.name === "contains") return contains(value, argument);
  return "S" in argument && taggedValue(value)[0] === argument.S;
};

/** True if a condition holds for an item, by DynamoDB's rules. */
export const holds = (condition: Condition, item: Item): boolean => {
  const value = (operand: Operand): AttributeValue | undefined => resolve(item, operand);
  switch (condition.kind) {
    case "and":
      return condition.all.every((inner) => holds(inner, item));
    case "or":
      return condition.all.some((inner) => holds(inner, item));
    case "not":
      return !holds(condition.inner, item);
    case "compare":
      return compare(condition.comparator, value(condition.left), value(condition.right));
    case "between": {
      const subject = value(condition.operand);
      return compare(">=", subject, value(condition.low)) && compare("<=", subject, value(condition.high));
    }
    case "in":
      return condition.list.some((operand) => compare("=", value(condition.operand), value(operand)));
    case "test":
      return passes(item, condition);
    default:
      return condition satisfies never;
  }
};

/** Paths of a ProjectionExpression as a tree. A branch without children takes the whole value. */
interface Branch {
  readonly children: Map<string | number, Branch>;
}

const plant = (root: Branch, path: Path): void => {
  let branch = root;
  for (const segment of path) {
    const next = branch.children.get(segment) ?? { children: new Map() };
    branch.children.set(segment, next);
    branch = next;
  }
};

const takeFrom = (value: AttributeValue, branch: Branch): AttributeValue | undefined => {
  if (branch.children.size === 0) return value;
  if ("M" in value) {
    const inner = takeEntries(value.M, branch);
    return Object.keys(inner).length === 0 ? undefined : { M: inner };
  }
  if (!("L" in value)) return undefined;
  const elements = value.L.flatMap((element, position) => {
    const child = branch.children.get(position);
    const taken = child && takeFrom(element, child);
    return taken ? [taken] : [];
  });
  return elements.length === 0 ? undefined : { L: elements };
};

const takeEntries = (map: Item, branch: Branch): Item => {
  const entries = Object.entries(map).flatMap(([name, value]) => {
    const child = branch.children.get(name);
    const taken = child && takeFrom(value, child);
    return taken ? [[name, taken] as const] : [];
  });
  return Object.fromEntries(entries);
};

/**
 * Parses a ProjectionExpression into a function that applies it.
 *
 * @throws {plan.unsupported} if it is not a list of paths
 */
export const parseProjection = (text: string, names: Names): ((item: Item) => Item) => {
  const tokens = tokensOf(text);
  const root: Branch = { children: new Map() };
  do plant(root, readPath(tokens, names));
  while (tokens.accept(","));
  if (tokens.peek() !== "") tokens.fail();
  return (item) => takeEntries(item, root);
};

const only = <T>(all: Readonly<Record<string, T>> | undefined, used: ReadonlySet<string>): Readonly<Record<string, T>> | undefined => {
  const kept = Object.entries(all ?? {}).filter(([name]) => used.has(name));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
};

interface Placeholders<V> {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, V>>;
}

/** The names and values that the expressions use. The service refuses a request with others. */
export const usedPlaceholders = <V>(expressions: readonly string[], given: Placeholders<V>): Placeholders<V> => {
  const used = new Set(expressions.flatMap((text) => text.match(/[:#][\w-]+/g) ?? []));
  const names = only(given.ExpressionAttributeNames, used);
  const values = only(given.ExpressionAttributeValues, used);
  return { ...(names && { ExpressionAttributeNames: names }), ...(values && { ExpressionAttributeValues: values }) };
};
