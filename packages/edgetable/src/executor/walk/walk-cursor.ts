import { createHash, randomBytes } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import { keyId } from "../../ir/write-plan.ts";
import { openSealed, sealBytes, sealText, type Secrets } from "../../requests/cursor.ts";
import { keyOfItem } from "../../requests/encode-item.ts";
import { EXPIRES, STATE } from "../../schema/system-items.ts";
import { storedCursor, systemKeyItem } from "../../schema/system-key-item.ts";
import type { AttributeValue, Key, WriteRequest } from "../../transport/operations.ts";
import { batchGet } from "../batch.ts";
import { batchWrite } from "../batch-write.ts";
import type { CallContext, Session } from "../session.ts";
import { ONE_PATH } from "./walk-state.ts";

/** What a cursor of a walk is bound to, and the secrets that seal and open it. */
interface Bound<Known = Secrets> {
  readonly query: string;
  readonly secrets: Known;
}

// No other object of a state has a member with one of these names that is a list or a text.
const MAP = "~map";
const SET = "~set";
const BIG = "~big";

const plainOf = (_: string, value: unknown): unknown => {
  // By far the most common object of a state is written as {}: no other one is empty.
  if (value === ONE_PATH) return {};
  if (typeof value === "bigint") return { [BIG]: String(value) };
  if (value instanceof Map) return { [MAP]: [...value] };
  return value instanceof Set ? { [SET]: [...value] } : value;
};

const valueOf = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if (MAP in value && Array.isArray(value[MAP])) return new Map(value[MAP] as readonly [unknown, unknown][]);
  if (SET in value && Array.isArray(value[SET])) return new Set(value[SET]);
  if (BIG in value && typeof value[BIG] === "string") return BigInt(value[BIG]);
  for (const _name in value) return value;
  return ONE_PATH;
};

// Deflated, because it grows with what was walked.
const pack = (state: unknown): Buffer => deflateRawSync(JSON.stringify(state, plainOf));
const unpack = (bytes: Buffer): unknown => JSON.parse(inflateRawSync(bytes).toString("utf8"), valueOf);

/** Seals what a walk or a search must remember: plain data, bigints, Maps and Sets. */
export const sealState = (state: unknown, { query, secrets }: Bound): string => sealText(pack(state).toString("base64"), query, secrets);

/**
 * Opens what {@link sealState} sealed.
 *
 * @throws {cursor.invalid} when it was not sealed for this call
 */
export const openState = (cursor: string, bound: Bound<Secrets | undefined>): unknown =>
  openSealed(cursor, bound, (bytes) => unpack(Buffer.from(bytes.toString("latin1"), "base64")));

/** What the cursor of a stored state begins with. No other cursor has a full stop. */
export const STORED = "stored.";

/** Bytes of a state in one item: an item holds 409,600, its key and names included (ServiceQuotas). */
const PIECE_BYTES = 350_000;
/** Items of one BatchWriteItem: 1.9 MB as JSON, which a slow line sends within the timeout of an attempt. */
const PIECES_AT_ONCE = 4;
const ID_BYTES = 16;
const HASH_BYTES = 16;

// The cursor of a stored state is bound to the table, and has a hash of the walk's query. So another walk's cursor is not
// reported as forged.
const handleQuery = ({ catalog }: Session): string => `stored|${catalog.table}`;
const hashOf = (query: string): string => createHash("sha256").update(query).digest().subarray(0, HASH_BYTES).toString("base64url");
// The state is bound to its place too: copied into other items, it does not open.
const stateQuery = (id: string, { query }: Pick<Bound, "query">): string => `${id}|${query}`;

const keysOf = ({ catalog }: Session, id: string, pieces: number): readonly Key[] =>
  Array.from({ length: pieces }, (_, piece) => systemKeyItem(catalog, storedCursor(id, piece)));

/** Puts or deletes items, a few a request, until one of them fails; returns its error. */
const write = async (session: Session, requests: readonly WriteRequest[], context: CallContext): Promise<EdgetableError | undefined> => {
  for (let at = 0; at < requests.length; at += PIECES_AT_ONCE) {
    const [unwritten] = await batchWrite(session, requests.slice(at, at + PIECES_AT_ONCE), context);
    if (unwritten) return unwritten.error;
  }
  return undefined;
};

/**
 * Writes a sealed state to the table.
 *
 * @returns a cursor of less than 200 characters that names it; undefined if the table did not take it in time
 */
export const storeState = async (
  session: Session,
  { state, seconds, bound }: { readonly state: unknown; readonly seconds: number; readonly bound: Bound },
  context: CallContext,
): Promise<string | undefined> => {
  // Not drawn by `effects`: two processes with one seed would overwrite each other's states.
  const id = randomBytes(ID_BYTES).toString("base64url");
  const sealed = sealBytes(pack(state), stateQuery(id, bound), bound.secrets);
  const expires = Math.ceil(session.effects.now() / 1000) + seconds;
  const pieces = Math.ceil(sealed.length / PIECE_BYTES);
  const attribute = session.catalog.ttl ?? EXPIRES;
  const puts = keysOf(session, id, pieces).map((key, piece): WriteRequest => {
    const bytes = sealed.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
    return { PutRequest: { Item: { ...key, [STATE]: { B: bytes.toString("base64") }, [attribute]: { N: String(expires) } } } };
  });
  const error = await write(session, puts, context);
  if (error && (error.retryable || error.code === "execute.timeout")) return undefined;
  if (error) throw error;
  return STORED + sealText(JSON.stringify([id, pieces, expires, hashOf(bound.query)]), handleQuery(session), bound.secrets);
};

const invalid = (message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown): EdgetableError =>
  new EdgetableError("cursor.invalid", `${message} Start the walk again without the cursor.`, { details, cause });

/** Opens what was sealed, and reports a failure with a message that fits it. */
const openStored = <T>(
  sealed: string | Buffer,
  bound: Bound<Secrets | undefined>,
  at: { readonly message: string; readonly read: (bytes: Buffer) => T },
): T => {
  try {
    return openSealed(sealed, bound, at.read);
  } catch (error) {
    if (!isEdgetableError(error, "cursor.invalid")) throw error;
    throw invalid(at.message, {}, error.cause);
  }
};

/**
 * Reads the state that a cursor names, strongly consistent. Until it expires it can be read any number of times.
 *
 * @throws {cursor.invalid} when the cursor is forged, expired or of another walk, and when an item of the state is missing or altered
 */
export const readState = async (
  session: Session,
  { cursor, bound }: { readonly cursor: string; readonly bound: Bound<Secrets | undefined> },
  context: CallContext,
): Promise<unknown> => {
  const { secrets } = bound;
  const [id, pieces, seconds, hash] = openStored(
    cursor.slice(STORED.length),
    { query: handleQuery(session), secrets },
    {
      message: "The cursor cannot be opened: it is damaged, forged, from another table, or sealed with another secret.",
      read: (bytes) => JSON.parse(bytes.toString("utf8")) as [string, number, number, string],
    },
  );
  if (hash !== hashOf(bound.query))
    throw invalid(
      "The cursor belongs to another walk: from another start, over other hops, or with another result. Pass it to the walk that returned it.",
    );
  const keys = keysOf(session, id, pieces);
  if (seconds * 1000 <= session.effects.now()) {
    // If the model has a `ttl`, DynamoDB deletes the items free of charge.
    const deletions = keys.map((key): WriteRequest => ({ DeleteRequest: { Key: key } }));
    if (session.catalog.ttl === undefined) await write(session, deletions, context);
    const expires = new Date(seconds * 1000).toISOString();
    throw invalid(`The cursor expired at ${expires}. To continue later than that, set storeCursor.seconds higher.`, { expires });
  }
  const stored = new Map<string, AttributeValue | undefined>();
  for (const item of await batchGet(session, { keys, consistent: true }, context))
    stored.set(keyId(keyOfItem(session.catalog, item)), item[STATE]);
  const bytes: Buffer[] = [];
  for (const key of keys) {
    const value = stored.get(keyId(key));
    if (value && "B" in value) bytes.push(Buffer.from(value.B, "base64"));
  }
  const missing = keys.length - bytes.length;
  if (missing > 0) throw invalid(`${missing} of the ${keys.length} items with the state of this walk were deleted.`, { missing });
  return openStored(
    Buffer.concat(bytes),
    { query: stateQuery(id, bound), secrets },
    {
      message: "The stored state of this walk was altered in the table.",
      read: unpack,
    },
  );
};
