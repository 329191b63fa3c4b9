import { deflateRawSync, inflateRawSync } from "node:zlib";
import { openText, sealText } from "../../requests/cursor.ts";

/** What a cursor of a walk is bound to, and the secret that seals it. */
export interface Bound<Secret = string> {
  readonly query: string;
  readonly secret: Secret;
}

// No other object of a state has a member of one of these names that is a list.
const MAP = "~map";
const SET = "~set";

const plainOf = (_: string, value: unknown): unknown => {
  if (value instanceof Map) return { [MAP]: [...value] };
  return value instanceof Set ? { [SET]: [...value] } : value;
};

const valueOf = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (MAP in value && Array.isArray(value[MAP])) return new Map(value[MAP] as readonly [unknown, unknown][]);
  return SET in value && Array.isArray(value[SET]) ? new Set(value[SET]) : value;
};

/** Seals what a walk or a search must remember, plain data, Maps and Sets: deflated, for it grows with what was walked. */
export const sealState = (state: unknown, { query, secret }: Bound): string =>
  sealText(deflateRawSync(JSON.stringify(state, plainOf)).toString("base64"), query, secret);

/**
 * Opens what {@link sealState} sealed.
 *
 * @throws {cursor.invalid} when it was not sealed for this very call
 */
export const openState = (cursor: string, bound: Bound<string | undefined>): unknown =>
  openText(cursor, bound, (text) => JSON.parse(inflateRawSync(Buffer.from(text, "base64")).toString("utf8"), valueOf) as unknown);
