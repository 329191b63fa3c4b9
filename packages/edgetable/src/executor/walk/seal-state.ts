import { deflateRawSync, inflateRawSync } from "node:zlib";
import { openSealed, sealBytes, sealText, type Secrets } from "../../requests/cursor.ts";

/** What a cursor of a walk is bound to, and the secrets that seal and open it. */
export interface Bound<Known = Secrets> {
  readonly query: string;
  readonly secrets: Known;
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

// Deflated, for it grows with what was walked.
const packed = (state: unknown): Buffer => deflateRawSync(JSON.stringify(state, plainOf));
const unpacked = (bytes: Buffer): unknown => JSON.parse(inflateRawSync(bytes).toString("utf8"), valueOf);

/** Seals what a walk or a search must remember: plain data, Maps and Sets. */
export const sealState = (state: unknown, { query, secrets }: Bound): string => sealText(packed(state).toString("base64"), query, secrets);

/**
 * Opens what {@link sealState} sealed.
 *
 * @throws {cursor.invalid} when it was not sealed for this very call
 */
export const openState = (cursor: string, bound: Bound<Secrets | undefined>): unknown =>
  openSealed(cursor, bound, (bytes) => unpacked(Buffer.from(bytes.toString("latin1"), "base64")));

/** Seals the same into bytes, a quarter fewer than the text has characters. */
export const sealStateBytes = (state: unknown, { query, secrets }: Bound): Buffer => sealBytes(packed(state), query, secrets);

/**
 * Opens what {@link sealStateBytes} sealed.
 *
 * @throws {cursor.invalid} when it was not sealed for this very call
 */
export const openStateBytes = (sealed: Buffer, bound: Bound<Secrets | undefined>): unknown => openSealed(sealed, bound, unpacked);

/** What the cursor of a stored state begins with: no other cursor has a full stop. */
export const STORED = "stored.";
