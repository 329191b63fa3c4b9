import type { AnySchema } from "./standard-schema.ts";

type Shaped = Readonly<Record<string, unknown>>;

const keysOf = (value: unknown): readonly string[] | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : undefined;

// Standard Schema has no way to list a schema's properties, so each vendor's own public one is asked.
// A schema that keeps what it does not know (zod's catchall, valibot's rest) has no closed list of names.
const isOpen = (schema: Shaped): boolean => {
  const definition = schema["def"] as { readonly catchall?: { readonly def?: { readonly type?: string } } } | undefined;
  const kept = definition?.catchall?.def?.type;
  return (kept !== undefined && kept !== "never") || schema["rest"] !== undefined || schema["type"] === "loose_object";
};

const readers: Readonly<Record<string, (schema: Shaped) => readonly string[] | undefined>> = {
  zod: (schema) => keysOf(schema["shape"]),
  valibot: (schema) => keysOf(schema["entries"]),
  arktype: (schema) => {
    const props = schema["props"];
    return Array.isArray(props) ? props.map((prop: { readonly key: unknown }) => String(prop.key)) : undefined;
  },
};

const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    // A vendor's getter may refuse (arktype's `props` on a union): then the names stay unknown.
    return undefined;
  }
};

/**
 * The names of the properties that an object schema declares, or undefined where the library gives
 * no way to ask: then only the type checker can tell a misspelt attribute.
 */
export const attributeNames = (schema: AnySchema): readonly string[] | undefined => {
  const read = readers[schema["~standard"].vendor];
  const shaped = schema as unknown as Shaped;
  return read && attempt(() => (isOpen(shaped) ? undefined : read(shaped)));
};
