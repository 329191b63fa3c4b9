/** Forms of values that JSON lacks, as `edgetable dump` writes them, with how to read them. */
const forms: Readonly<Record<string, (value: never) => unknown>> = {
  $bigint: (text: string) => (/^-?\d+$/.test(text) ? BigInt(text) : undefined),
  $date: (text: string) => new Date(text),
  $bytes: (text: string) => new Uint8Array(Buffer.from(text, "base64")),
  $set: (members: readonly unknown[]) => new Set(members),
};

// A Date and a Buffer have a toJSON of their own, so the value is read from its holder.
function withForm(this: unknown, name: string, value: unknown): unknown {
  const own = (this as Readonly<Record<string, unknown>>)[name];
  if (own instanceof Date) return { $date: own.toISOString() };
  if (own instanceof Uint8Array) return { $bytes: Buffer.from(own).toString("base64") };
  if (own instanceof Set) return { $set: [...(own as ReadonlySet<unknown>)] };
  return typeof value === "bigint" ? { $bigint: String(value) } : value;
}

const fromForm = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  const [[name, inner] = ["", undefined], another] = Object.entries(value);
  return another === undefined && Object.hasOwn(forms, name) ? (forms[name]?.(inner as never) ?? value) : value;
};

/** A list, a map or bytes as the text of a cell. */
export const writeJsonCell = (value: unknown): string => JSON.stringify(value, withForm);

/** The text of a cell as JSON; undefined where it is none. */
export const readJsonCell = (text: string): unknown => {
  try {
    return JSON.parse(text, fromForm) as unknown;
  } catch {
    return undefined;
  }
};
