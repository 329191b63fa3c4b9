import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { shown } from "../util/check-options.ts";
import type { Key } from "../transport/operations.ts";

/** Where a page ended. */
export interface Position {
  /** The position of the plan's source that was being read. */
  readonly source: number;
  /** The key after which to continue; undefined at the source's beginning. */
  readonly key: Key | undefined;
  /** True to read the page before this position. */
  readonly backward: boolean;
  /** For a read over shards: the rows with the key's sort key that were returned. */
  readonly ties?: Ties | undefined;
}

/**
 * Where a page ends among rows with the same sort key. Rows that move change their place among them, so the rows are named. The
 * next page then neither repeats returned rows nor loses the others.
 */
export interface Ties {
  /** Names of the returned rows, from their table keys; with `left`, names of the other rows. */
  readonly named: readonly string[];
  readonly left: boolean;
  /** True if there were more rows than are named. */
  readonly more: boolean;
  /** Number of partitions that were read; 0 if their rows may have moved, so that only names identify them. */
  readonly partitions: number;
}

/** The secrets of cursors, as texts: the first one seals, and all of them open. */
export type Secrets = readonly [string, ...string[]];

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const MORE = 1;
const LEFT = 2;

const keyOf = (secret: string): Buffer => createHash("sha256").update(secret).digest();

/** Seals bytes, so that they cannot be read, altered or used with another query (law 7). */
export const sealBytes = (bytes: Buffer, query: string, [secret]: Secrets): Buffer => {
  // The nonce is derived from the content: the same page always has the same cursor, and two different texts never share a nonce.
  const nonce = createHash("sha256").update(secret).update(query).update(bytes).digest().subarray(0, NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyOf(secret), nonce).setAAD(Buffer.from(query));
  const sealed = [cipher.update(bytes), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]);
};

/** Seals a text as {@link sealBytes} does, into a text. */
export const sealText = (text: string, query: string, secrets: Secrets): string =>
  sealBytes(Buffer.from(text), query, secrets).toString("base64url");

/** Seals a position. */
export const sealCursor = (position: Position, query: string, secrets: Secrets): string => {
  const { ties } = position;
  const tied = ties ? [ties.partitions, (ties.more ? MORE : 0) + (ties.left ? LEFT : 0), ...ties.named] : undefined;
  const text = JSON.stringify([position.source, position.backward ? 1 : 0, position.key ?? null, ...(tied ? [tied] : [])]);
  return sealText(text, query, secrets);
};

const invalid = (cause?: unknown): EdgetableError =>
  new EdgetableError(
    "cursor.invalid",
    "The cursor is not one of this query: it is damaged, forged, from another query, or sealed with another secret. Start again without it.",
    { cause },
  );

/** @throws {cursor.invalid} for a value that is not text, and for empty text: callers often intend the first page */
export const checkGiven = (cursor: unknown, answer = "page"): void => {
  if (typeof cursor === "string" && cursor !== "") return;
  throw new EdgetableError(
    "cursor.invalid",
    `cursor is ${shown(cursor)}: pass the text next of a ${answer}, or leave it out for the first one.`,
  );
};

/**
 * Checks the form of a cursor, before any request to the table.
 *
 * @throws {cursor.invalid} if it cannot be a cursor
 */
export const checkCursor = (cursor: string): void => {
  checkGiven(cursor);
  const bytes = /^[\w-]+$/.test(cursor) ? Buffer.from(cursor, "base64url").length : 0;
  if (bytes <= NONCE_BYTES + TAG_BYTES) throw invalid();
};

/**
 * Opens what {@link sealBytes} or {@link sealText} sealed, and reads it.
 *
 * @param secrets undefined if there is no secret; then no cursor is valid
 * @throws {cursor.invalid} if it was not sealed for this query with one of the secrets
 */
export const openSealed = <T>(
  sealed: string | Buffer,
  { query, secrets }: { readonly query: string; readonly secrets: Secrets | undefined },
  read: (bytes: Buffer) => T,
): T => {
  let cause: unknown;
  for (const secret of secrets ?? []) {
    try {
      const bytes = typeof sealed === "string" ? Buffer.from(sealed, "base64url") : sealed;
      const decipher = createDecipheriv("aes-256-gcm", keyOf(secret), bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(query)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return read(Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]));
    } catch (error) {
      cause = error;
    }
  }
  throw invalid(cause);
};

/**
 * Opens a cursor.
 *
 * @throws {cursor.invalid} if {@link sealCursor} did not seal it for this query with one of the secrets
 */
export const openCursor = (cursor: string, query: string, secrets: Secrets | undefined): Position =>
  openSealed(cursor, { query, secrets }, (bytes) => {
    const [source, backward, key, tied] = JSON.parse(bytes.toString("utf8")) as [
      number,
      number,
      Key | null,
      (readonly [number, number, ...string[]])?,
    ];
    const [partitions, flags, ...named] = tied ?? [0, 0];
    const ties: Ties = { partitions, more: flags % LEFT === MORE, left: flags >= LEFT, named };
    return { source, backward: backward === 1, key: key ?? undefined, ...(tied ? { ties } : {}) };
  });
