import { randomUUID } from "node:crypto";
import { cursorSecret, SECRET, systemKeyItem } from "../schema/system-items.ts";
import type { CallContext, Session } from "./session.ts";

/** The secret in the table; undefined where no page was ever read. */
export const readSecret = async (session: Session, context: CallContext): Promise<string | undefined> => {
  const { catalog } = session;
  const output = await session.send(
    "GetItem",
    { TableName: catalog.table, Key: systemKeyItem(catalog, cursorSecret), ConsistentRead: true },
    context,
  );
  const value = output.Item?.[SECRET];
  return value && "S" in value ? value.S : undefined;
};

/** The secret that seals cursors. Every process that shares a table shares its cursors: the first to need a secret leaves one in it. */
export const secretInTable = async (session: Session, context: CallContext): Promise<string> => {
  const existing = await readSecret(session, context);
  if (existing !== undefined) return existing;
  const { catalog } = session;
  const input = {
    TableName: catalog.table,
    Key: systemKeyItem(catalog, cursorSecret),
    UpdateExpression: "SET #s = if_not_exists(#s, :s)",
    ExpressionAttributeNames: { "#s": SECRET },
    ExpressionAttributeValues: { ":s": { S: randomUUID() + randomUUID() } },
  };
  await session.send("UpdateItem", input, context);
  return (await readSecret(session, context)) ?? "";
};
