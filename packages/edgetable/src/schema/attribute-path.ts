import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Row } from "../util/row.ts";

/** The way to a value within an attribute: the attribute's name, then names of members and positions in lists. */
export type PathSteps = readonly [attribute: string, ...within: (string | number)[]];

// "Nested attributes: up to 32 levels deep", Constraints in DynamoDB.
const LEVELS = 32;

const STEP = /\.?([^.[\]"]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)+")\]/y;

// JSON has no control characters in texts, and names of members may hold them.
const CONTROL = /[\u0000-\u001f]/g;

/** A name in brackets, with JSON's escapes or without; undefined if it is not well-formed. */
const nameInBrackets = (quoted: string): string | undefined => {
  try {
    return JSON.parse(quoted.replace(CONTROL, (one) => JSON.stringify(one).slice(1, -1))) as string;
  } catch {
    return undefined;
  }
};

const malformed = (path: string): never => {
  throw new EdgetableError(
    "plan.invalidOption",
    `"${path}" is not a path within an attribute. Write "address.city", "tags[0]", or settings["a.b"] for a name with a dot or a bracket; at most ${LEVELS} levels.`,
    { details: { path } },
  );
};

/** Whether a name is a path into an attribute: it has a dot or a bracket in it. */
export const isPath = (name: string): boolean => name.includes(".") || name.includes("[");

/** A path as messages show it. */
export const pathText = (steps: readonly (string | number)[]): string =>
  steps.map((step, at) => (typeof step === "number" ? `[${step}]` : at === 0 ? step : `.${step}`)).join("");

/**
 * The steps of a path such as `address.city`, `tags[0]` or `settings["a.b"]`.
 *
 * @throws {plan.invalidOption} for a text that is no path
 */
export const stepsOf = (path: string): PathSteps => {
  const steps: (string | number)[] = [];
  for (let at = 0; at < path.length; at = STEP.lastIndex) {
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (!found) return malformed(path);
    const [text, name, position, quoted] = found;
    if (name !== undefined && text.startsWith(".") !== at > 0) return malformed(path);
    steps.push(name ?? (position === undefined ? (nameInBrackets(quoted!) ?? malformed(path)) : Number(position)));
  }
  if (typeof steps[0] !== "string" || steps.length > LEVELS) return malformed(path);
  return steps as unknown as PathSteps;
};

/** The attribute that a name or path is about. */
const attributeIn = (name: string): string => (isPath(name) ? stepsOf(name)[0] : name);

/** A list of names of which each has its path replaced by its attribute. */
export const attributesIn = (names: readonly string[]): readonly string[] => (names.some(isPath) ? names.map(attributeIn) : names);

/** True if a value is a map: an object of no class. */
export const isMap = (value: unknown): value is Row => {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** The value that steps lead to; undefined where one is missing. */
export const valueWithin = (from: unknown, steps: readonly (string | number)[]): unknown => {
  let value = from;
  for (const step of steps) {
    if (typeof step === "number") value = Array.isArray(value) ? (value as unknown[])[step] : undefined;
    else value = isMap(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    if (value === undefined) return undefined;
  }
  return value;
};

// What has no values within it that a path could name.
type Leaf = string | number | bigint | boolean | Date | Uint8Array | ReadonlySet<unknown> | null | undefined;

/** A row without values that a path could lead to: one comparison tells, without resolving a path. */
export interface Flat {
  readonly [attribute: string]: Leaf;
}

// A member whose name has a dot or a bracket is named in brackets; one of a record may have any name.
type Member<Name extends string> = string extends Name
  ? `.${Name}` | `["${Name}"]`
  : Name extends `${string}.${string}` | `${string}[${string}`
    ? `["${Name}"]`
    : `.${Name}`;

// Three levels below the attribute; the list counts the ones that are left.
type Within<Value, Left extends readonly unknown[]> = Left extends readonly [unknown, ...infer Fewer]
  ? Value extends Leaf
    ? never
    : Value extends readonly (infer Element)[]
      ? `[${number}]` | (Element extends readonly unknown[] ? never : `[${number}]${Within<NonNullable<Element>, Fewer>}`)
      : { [Name in keyof Value & string]: Member<Name> | `${Member<Name>}${Within<NonNullable<Value[Name]>, Fewer>}` }[keyof Value & string]
  : never;

/** The paths into the attributes of a row, to three levels below an attribute. */
export type AttributePath<Row> = {
  [Field in keyof Row & string]: `${Field}${Within<NonNullable<Row[Field]>, readonly [1, 2, 3]>}`;
}[keyof Row & string];

type StepInto<Value, Step> = Step extends keyof Value
  ? NonNullable<Value[Step]>
  : Step extends `${infer Name}[${string}`
    ? Name extends keyof Value
      ? NonNullable<Value[Name]> extends readonly (infer Element)[]
        ? NonNullable<Element>
        : unknown
      : unknown
    : unknown;

/** The type of the value at a path. */
export type AtPath<Value, Path> = Path extends `${infer Parent}["${infer Name}"]`
  ? AtPath<Value, Parent> extends { readonly [One in Name]?: infer Found }
    ? NonNullable<Found>
    : unknown
  : Path extends `${infer Step}.${infer Rest}`
    ? AtPath<StepInto<Value, Step>, Rest>
    : StepInto<Value, Path>;
