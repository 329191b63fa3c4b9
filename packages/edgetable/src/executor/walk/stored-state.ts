import { createHash, randomBytes } from "node:crypto";
import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import { keyId } from "../../ir/write-plan.ts";
import { openSealed, sealText, type Secrets } from "../../requests/cursor.ts";
import { keyOfItem } from "../../requests/encode-item.ts";
import { EXPIRES, STATE, storedCursor, systemKeyItem } from "../../schema/system-items.ts";
import type { Key, WriteRequest } from "../../transport/operations.ts";
import { batchGet, batchWrite } from "../batch.ts";
import type { CallContext, Session } from "../session.ts";
import { openStateBytes, sealStateBytes, STORED, type Bound } from "./seal-state.ts";

/** The most bytes of a state in one item: an item holds 409,600, its key and names included (ServiceQuotas). */
const PIECE_BYTES = 350_000;
/** Items of one BatchWriteItem: 1.9 MB as JSON, which a slow line sends within the timeout of an attempt. */
const PIECES_AT_ONCE = 4;
const ID_BYTES = 16;
const HASH_BYTES = 16;

/** What a cursor says of the state that it names. */
interface Handle {
  readonly id: string;
  readonly pieces: number;
  /** Seconds since 1970. */
  readonly expires: number;
  /** Of the query that the state belongs to, so that a cursor of another walk is told from a forged one. */
  readonly hash: string;
}

const hashOf = (query: string): string => createHash("sha256").update(query).digest().subarray(0, HASH_BYTES).toString("base64url");
const handleQuery = ({ catalog }: Session): string => `stored|${catalog.table}`;
// Bound to its place, too: a state that somebody copies into the items of another does not open.
const boundAt = <Known>(id: string, { query, secrets }: Bound<Known>): Bound<Known> => ({ query: `${id}|${query}`, secrets });

const keysOf = ({ catalog }: Session, { id, pieces }: Pick<Handle, "id" | "pieces">): readonly Key[] =>
  Array.from({ length: pieces }, (_, piece) => systemKeyItem(catalog, storedCursor(id, piece)));

/** Makes the puts or deletions, a few a request, until one of them fails; gives the error. */
const write = async (session: Session, requests: readonly WriteRequest[], context: CallContext): Promise<EdgetableError | undefined> => {
  for (let at = 0; at < requests.length; at += PIECES_AT_ONCE) {
    const [unwritten] = await batchWrite(session, requests.slice(at, at + PIECES_AT_ONCE), context);
    if (unwritten) return unwritten.error;
  }
  return undefined;
};

/**
 * Writes a sealed state into the table.
 *
 * @returns a cursor of less than 200 characters that names it; undefined where the table did not take it in time
 */
export const storeState = async (
  session: Session,
  { state, seconds, bound }: { readonly state: unknown; readonly seconds: number; readonly bound: Bound },
  context: CallContext,
): Promise<string | undefined> => {
  // Not drawn by `effects`: two processes with one seed would overwrite each other's states.
  const id = randomBytes(ID_BYTES).toString("base64url");
  const sealed = sealStateBytes(state, boundAt(id, bound));
  const expires = Math.ceil(session.effects.now() / 1000) + seconds;
  const pieces = Math.ceil(sealed.length / PIECE_BYTES);
  const attribute = session.catalog.ttl ?? EXPIRES;
  const puts = keysOf(session, { id, pieces }).map((key, piece): WriteRequest => {
    const bytes = sealed.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
    return { PutRequest: { Item: { ...key, [STATE]: { B: bytes.toString("base64") }, [attribute]: { N: String(expires) } } } };
  });
  const error = await write(session, puts, context);
  if (error && (error.retryable || error.code === "execute.timeout")) return undefined;
  if (error) throw error;
  const handle = JSON.stringify([id, pieces, expires, hashOf(bound.query)]);
  return STORED + sealText(handle, handleQuery(session), bound.secrets);
};

const invalid = (message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown): EdgetableError =>
  new EdgetableError("cursor.invalid", message, { details, cause });

const openHandle = (session: Session, cursor: string, secrets: Secrets | undefined): Handle => {
  try {
    return openSealed(cursor.slice(STORED.length), { query: handleQuery(session), secrets }, (bytes) => {
      const [id, pieces, expires, hash] = JSON.parse(bytes.toString("utf8")) as [string, number, number, string];
      return { id, pieces, expires, hash };
    });
  } catch (error) {
    if (!isEdgetableError(error, "cursor.invalid")) throw error;
    throw invalid(
      "The cursor cannot be opened: it is damaged, forged, from another table, or sealed with another secret. Start the walk again without it.",
      {},
      error.cause,
    );
  }
};

// Where the model has a `ttl`, DynamoDB deletes the items without a charge.
const refuseExpired = async (session: Session, handle: Handle, context: CallContext): Promise<never> => {
  if (session.catalog.ttl === undefined)
    await write(
      session,
      keysOf(session, handle).map((key) => ({ DeleteRequest: { Key: key } })),
      context,
    );
  const expires = new Date(handle.expires * 1000).toISOString();
  throw invalid(
    `The cursor expired at ${expires}. Start the walk again without it; to go on later than that, give storeCursor more seconds.`,
    { expires },
  );
};

/**
 * Reads the state that a cursor names: strongly consistent, and as often as the caller likes until it expires.
 *
 * @throws {cursor.invalid} when the cursor is forged, expired or of another walk, and when an item of the state is missing or altered
 */
export const readState = async (
  session: Session,
  { cursor, bound }: { readonly cursor: string; readonly bound: Bound<Secrets | undefined> },
  context: CallContext,
): Promise<unknown> => {
  const handle = openHandle(session, cursor, bound.secrets);
  if (handle.hash !== hashOf(bound.query))
    throw invalid(
      "The cursor belongs to another walk: from another start, over other hops, or to another end. Give it to the walk that gave it, or start this one without it.",
    );
  if (handle.expires * 1000 <= session.effects.now()) return refuseExpired(session, handle, context);
  const keys = keysOf(session, handle);
  const items = await batchGet(session, { keys, consistent: true }, context);
  const stored = new Map(items.map((item) => [keyId(keyOfItem(session.catalog, item)), item[STATE]]));
  const bytes = keys.flatMap((key) => {
    const value = stored.get(keyId(key));
    return value && "B" in value ? [Buffer.from(value.B, "base64")] : [];
  });
  const missing = keys.length - bytes.length;
  if (missing > 0)
    throw invalid(
      `${missing} of the ${keys.length} items that hold the state of this walk are missing: they were deleted. Start the walk again without the cursor.`,
      { missing },
    );
  try {
    return openStateBytes(Buffer.concat(bytes), boundAt(handle.id, bound));
  } catch (error) {
    if (!isEdgetableError(error, "cursor.invalid")) throw error;
    throw invalid("The stored state of this walk was altered in the table. Start the walk again without the cursor.", {}, error.cause);
  }
};
