import { randomBytes } from "node:crypto";
import { cursorSecret, SECRET, systemKeyItem } from "../schema/system-items.ts";
import type { Item } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { CallContext, Session } from "./session.ts";

const SECRET_BYTES = 32;

const secretOf = (item: Item | undefined): string | undefined => {
  const value = item?.[SECRET];
  return value && "S" in value ? value.S : undefined;
};

/** The secret in the table; undefined where no page was ever read. */
export const readSecret = async (session: Session, context: CallContext): Promise<string | undefined> => {
  const { catalog } = session;
  const input = { TableName: catalog.table, Key: systemKeyItem(catalog, cursorSecret), ConsistentRead: true };
  // Shown as it is: but an error's cause might quote the answer.
  const output = await session.send("GetItem", input, { ...context, shown: input });
  return secretOf(output.Item);
};

/** The secret that seals cursors. Every process that shares a table shares its cursors: the first to need a secret leaves one in it. */
export const leaveSecret = async (session: Session, context: CallContext): Promise<string> => {
  const existing = await readSecret(session, context);
  if (existing !== undefined) return existing;
  const { catalog } = session;
  // Of several at a time the first stands, and each is told what stands. Not drawn by `effects`: a seed would tell it.
  const update = {
    TableName: catalog.table,
    Key: systemKeyItem(catalog, cursorSecret),
    UpdateExpression: "SET #s = if_not_exists(#s, :s)",
    ExpressionAttributeNames: { "#s": SECRET },
    ReturnValues: "ALL_NEW",
  } as const;
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  const output = await session.send(
    "UpdateItem",
    { ...update, ExpressionAttributeValues: { ":s": { S: secret } } },
    { ...context, shown: { ...update, ExpressionAttributeValues: { ":s": { S: "(secret)" } } } },
  );
  return defined(secretOf(output.Attributes), "the secret of cursors");
};
