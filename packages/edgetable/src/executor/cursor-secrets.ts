import { randomBytes, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import type { Secrets } from "../requests/cursor.ts";
import { encodeSingle } from "../requests/encode-write.ts";
import { SECRET } from "../schema/system-items.ts";
import { cursorSecret, systemKeyItem } from "../schema/system-key-item.ts";
import type { Item, UpdateItemInput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { CallContext, Session } from "./session.ts";

const SECRET_BYTES = 32;

const storedSecret = (item: Item | undefined): string | undefined => {
  const value = item?.[SECRET];
  return value && "S" in value ? value.S : undefined;
};

/** The secret in the table; undefined if no page was ever read. */
export const readSecret = async (session: Session, context: CallContext): Promise<string | undefined> => {
  const { catalog } = session;
  const input = { TableName: catalog.table, Key: systemKeyItem(catalog, cursorSecret), ConsistentRead: true };
  // The input contains no secret, but `shown` also removes the cause of an error, which might quote the response.
  const output = await session.send("GetItem", input, { ...context, shown: input });
  return storedSecret(output.Item);
};

/**
 * The secret that seals cursors. Processes that share a table also share its cursors: the first process that needs a secret stores
 * it in the table.
 */
export const leaveSecret = async (session: Session, context: CallContext): Promise<string> => {
  const existing = await readSecret(session, context);
  if (existing !== undefined) return existing;
  const { catalog } = session;
  // If several processes store a secret at the same time, the first one is kept and all of them use it.
  const storing = (value: string): UpdateItemInput => {
    const changes = { set: {}, defaults: { [SECRET]: { S: value } }, remove: [], add: {}, append: {} };
    const key = systemKeyItem(catalog, cursorSecret);
    const target = { table: catalog.table, partitionKey: catalog.index.partitionKey };
    return encodeSingle(target, { kind: "update", key, terms: [], shape: undefined, changes }).input as UpdateItemInput;
  };
  // Not from `effects`, because a seed would reveal it.
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  const output = await session.send("UpdateItem", storing(secret), { ...context, shown: storing("(secret)") }).catch((cause: unknown) => {
    if (!isEdgetableError(cause, "execute.accessDenied")) throw cause;
    const { code, details, request } = cause;
    const message = `The first page stores the secret that seals cursors. Allow that, or pass connect({ cursorSecret }). ${cause.message}`;
    throw new EdgetableError(code, message, { cause, details, ...(request && { request }) });
  });
  return defined(storedSecret(output.Attributes), "the secret of cursors");
};

const HEX = /^(?:[0-9a-f]{2}){32,}$/i;
// 43 characters of base64, padded or not, are 32 bytes.
const BASE64 = /^[A-Za-z0-9+/_-]{43,}={0,2}$/;

// "Password Storage Cheat Sheet", OWASP, scrypt: the one of its equal settings that takes 16 MB, for small Lambda functions.
const SCRYPT = { N: 2 ** 14, r: 8, p: 5 };

const stretch = promisify<string, string, number, typeof SCRYPT, Buffer>(scrypt);

// Connections that share a secret stretch it once. The number is limited, so that a program with ever new secrets does not fill the
// memory.
const KNOWN_LIMIT = 100;
const stretchedSecrets = new Map<string, Promise<string>>();

const stretched = (passphrase: string, table: string): Promise<string> => {
  const id = JSON.stringify([table, passphrase]);
  const found = stretchedSecrets.get(id);
  if (found) return found;
  if (stretchedSecrets.size >= KNOWN_LIMIT) stretchedSecrets.clear();
  // The salt follows from the table, so that every process with the passphrase derives the same key.
  const made = stretch(passphrase.normalize("NFC"), `edgetable cursors of ${table}`, SECRET_BYTES, SCRYPT).then((key) =>
    key.toString("base64url"),
  );
  stretchedSecrets.set(id, made);
  return made;
};

/** The secrets for the option `cursorSecret`: random bytes unchanged, passphrases stretched by scrypt. */
export const secretsOf = async (given: string | Uint8Array | readonly (string | Uint8Array)[], table: string): Promise<Secrets> => {
  const list = Array.isArray(given) ? (given as readonly (string | Uint8Array)[]) : [given as string | Uint8Array];
  const secrets = list.map(async (secret) => {
    if (typeof secret !== "string") return Buffer.from(secret).toString("base64url");
    if (HEX.test(secret)) return Buffer.from(secret, "hex").toString("base64url");
    return BASE64.test(secret) ? Buffer.from(secret, "base64").toString("base64url") : stretched(secret, table);
  });
  return (await Promise.all(secrets)) as unknown as Secrets;
};
