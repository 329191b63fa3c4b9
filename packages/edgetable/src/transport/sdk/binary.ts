/**
 * Attribute values between the wire's form (`{ B: base64 text }`) and the SDK's (`{ B: Uint8Array }`),
 * wherever in an input or output they stand. No request has a field called `B` or `BS` but attribute
 * values: table and index names have 3 characters or more, and an attribute of that name holds an
 * object or is replaced by a placeholder, never a text or an array of texts. What holds no binary is
 * given back as it is, without a copy.
 */
type Replace = (value: unknown) => unknown;

const mapEntries = (value: object, replace: Replace): object => {
  let copy: Record<string, unknown> | undefined;
  for (const [name, before] of Object.entries(value)) {
    const after = replace(before);
    if (after !== before) (copy ??= { ...value })[name] = after;
  }
  return copy ?? value;
};

const mapElements = (value: readonly unknown[], replace: Replace): readonly unknown[] => {
  let copy: unknown[] | undefined;
  for (const [index, before] of value.entries()) {
    const after = replace(before);
    if (after !== before) (copy ??= [...value])[index] = after;
  }
  return copy ?? value;
};

const replaceIn = (value: unknown, leaf: (value: object) => object | undefined): unknown => {
  if (typeof value !== "object" || value === null) return value;
  const into: Replace = (inner) => replaceIn(inner, leaf);
  return Array.isArray(value) ? mapElements(value, into) : (leaf(value) ?? mapEntries(value, into));
};

interface Binary {
  readonly B?: unknown;
  readonly BS?: unknown;
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text, "base64");
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((each) => typeof each === "string");
const isBytes = (value: unknown): value is Uint8Array[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => each instanceof Uint8Array);

const leafToSdk = ({ B, BS }: Binary): object | undefined => {
  if (typeof B === "string") return { B: bytesOf(B) };
  return isTexts(BS) ? { BS: BS.map(bytesOf) } : undefined;
};

const leafToWire = (value: Binary): object | undefined => {
  if (value.B instanceof Uint8Array) return { B: textOf(value.B) };
  if (isBytes(value.BS)) return { BS: value.BS.map(textOf) };
  return undefined;
};

/** An input as the SDK takes it. */
export const toSdk = (input: unknown): unknown => replaceIn(input, leafToSdk);

/** An output, or a part of an error, as the wire has it. */
export const toWire = (output: unknown): unknown => replaceIn(output, leafToWire);
