import { scrypt } from "node:crypto";
import { promisify } from "node:util";
import type { Secrets } from "../requests/cursor.ts";

const KEY_BYTES = 32;
const HEX = /^(?:[0-9a-f]{2}){32,}$/i;
// 43 characters of base64, padded or not, are 32 bytes.
const BASE64 = /^[A-Za-z0-9+/_-]{43,}={0,2}$/;

// "Password Storage Cheat Sheet", OWASP, scrypt: of its equal settings the one that takes 16 MB, for small Lambda functions.
const SLOW = { N: 2 ** 14, r: 8, p: 5 };

const stretch = promisify<string, string, number, typeof SLOW, Buffer>(scrypt);

// Connections that share a secret stretch it once. A program has few secrets; one that makes them up must not fill the memory.
const MOST_KNOWN = 100;
const known = new Map<string, Promise<string>>();

const stretched = (passphrase: string, table: string): Promise<string> => {
  const id = JSON.stringify([table, passphrase]);
  const found = known.get(id);
  if (found) return found;
  if (known.size >= MOST_KNOWN) known.clear();
  // Every process that has the passphrase must find the same key: the salt follows from the table.
  const made = stretch(passphrase.normalize("NFC"), `edgetable cursors of ${table}`, KEY_BYTES, SLOW).then((key) =>
    key.toString("base64url"),
  );
  known.set(id, made);
  return made;
};

const secretOf = async (given: string | Uint8Array, table: string): Promise<string> => {
  if (typeof given !== "string") return Buffer.from(given).toString("base64url");
  if (HEX.test(given)) return Buffer.from(given, "hex").toString("base64url");
  return BASE64.test(given) ? Buffer.from(given, "base64").toString("base64url") : stretched(given, table);
};

/** The secrets that `cursorSecret` stands for: random bytes as they are, passphrases stretched by scrypt. */
export const secretsOf = async (given: string | Uint8Array | readonly (string | Uint8Array)[], table: string): Promise<Secrets> => {
  const list = Array.isArray(given) ? (given as readonly (string | Uint8Array)[]) : [given as string | Uint8Array];
  return (await Promise.all(list.map((secret) => secretOf(secret, table)))) as unknown as Secrets;
};
