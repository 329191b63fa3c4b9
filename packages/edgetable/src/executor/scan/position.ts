import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Key } from "../../transport/operations.ts";

/** Where a scan goes on: everything before it was given. */
export interface ScanPosition {
  readonly segments: number;
  /** The first segment that was not begun; all before it that are not open are done. */
  readonly begun: number;
  /** The key after which each open segment goes on; null: from its beginning. */
  readonly open: Readonly<Record<string, Key | null>>;
}

/** A position as text. It holds keys of the table in the clear. */
export const positionText = (table: string, { segments, begun, open }: ScanPosition): string =>
  Buffer.from(JSON.stringify([table, segments, begun, open])).toString("base64url");

const isKey = (value: unknown): boolean => value === null || (typeof value === "object" && !Array.isArray(value));

const parse = (text: string, table: string): ScanPosition | undefined => {
  try {
    const given: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    const [of, segments, begun, open] = given as readonly [string, number, number, ScanPosition["open"]];
    if (of !== table) return undefined;
    if (!Number.isInteger(segments) || !Number.isInteger(begun) || typeof open !== "object" || open === null) return undefined;
    return Object.values(open).every(isKey) ? { segments, begun, open } : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Reads a position.
 *
 * @throws {cursor.invalid} when it is none of this table's
 */
export const readPosition = (text: string, table: string): ScanPosition => {
  const position = parse(text, table);
  if (position) return position;
  throw new EdgetableError(
    "cursor.invalid",
    `The position is none of a scan of "${table}". Give the \`position\` of an earlier scan's report, or leave \`from\` out to begin anew.`,
    { details: { from: text } },
  );
};
