// How requests are signed: the credentials in use, which are replaced in time, and AWS Signature Version 4 by them.
import { createHmac, hash } from "node:crypto";
import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import { type CredentialProvider, type Credentials, checkCredentials } from "./credentials.ts";
import type { Endpoint } from "./surroundings.ts";

/** Keeps one set of credentials and replaces it in time. */
export interface CredentialCache {
  /** The credentials to sign with now, or undefined if `refresh` has to fetch them first. */
  current(now: number): Credentials | undefined;
  /** Fetches fresh credentials. Concurrent callers share one call of the provider. */
  refresh(): Promise<Credentials>;
  /** Forgets these credentials. Returns true if a later request may get others. */
  drop(used: Credentials): boolean;
}

// Credentials are replaced 5 minutes before they expire, as by the AWS SDK's memoizer.
const refreshAhead = 300_000;

const MEND = "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; for a local engine, give its `endpoint`.";

/**
 * A cache over fixed credentials, which have been checked, or over a provider.
 *
 * @throws {execute.credentials} from `refresh` if the provider fails or returns incomplete ones
 */
export const cacheCredentials = (source: Credentials | CredentialProvider): CredentialCache => {
  if (typeof source !== "function") {
    return { current: () => source, refresh: () => Promise.resolve(source), drop: () => false };
  }
  let cached: Credentials | undefined;
  let refreshing: Promise<Credentials> | undefined;
  const fetch = async (): Promise<Credentials> => {
    try {
      return (cached = checkCredentials(await source()));
    } catch (cause) {
      if (isEdgetableError(cause)) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new EdgetableError("execute.credentials", `No AWS credentials: ${reason.replace(/[.]$/, "")}. ${MEND}`, { cause });
    }
  };
  const refresh = (): Promise<Credentials> => (refreshing ??= fetch().finally(() => (refreshing = undefined)));
  return {
    current(now) {
      const left = (cached?.expiration?.getTime() ?? Number.POSITIVE_INFINITY) - now;
      if (left <= 0) return undefined;
      // If an early refresh fails, these still work and the next request tries again.
      if (left < refreshAhead) refresh().catch(() => undefined);
      return cached;
    },
    refresh,
    drop(used) {
      if (cached === used) cached = undefined;
      return true;
    },
  };
};

/** The parts of a request that a signature covers. */
export interface Unsigned {
  readonly operation: string;
  readonly body: string;
}

/** Makes the head of a signed request, from the request line to the blank line. */
export type Signer = (request: Unsigned, credentials: Credentials, time: number) => string;

const hmac = (key: Buffer | string, text: string): Buffer => createHmac("sha256", key).update(text).digest();

const BLOCK = 64;

const padded = (key: Buffer, pad: number): Buffer => {
  const block = Buffer.alloc(BLOCK, pad);
  for (const [at, byte] of key.entries()) block[at] = byte ^ pad;
  return block;
};

/** HMAC-SHA-256 (RFC 2104) under a key of 32 bytes, as hexadecimal: two one-shot hashes take half of createHmac's 1.8 µs. */
const createMac = (key: Buffer): ((text: string) => string) => {
  const outer = Buffer.concat([padded(key, 0x5c), Buffer.alloc(32)]);
  let inner = padded(key, 0x36);
  return (text) => {
    const length = BLOCK + Buffer.byteLength(text);
    if (inner.length !== length) inner = Buffer.concat([inner.subarray(0, BLOCK)], length);
    inner.write(text, BLOCK);
    outer.write(hash("sha256", inner, "binary"), BLOCK, "binary");
    return hash("sha256", outer, "hex");
  };
};

const contentType = "application/x-amz-json-1.0";

/** Derived once for each day and set of credentials. */
interface DayKey {
  readonly day: string;
  readonly credentials: Credentials;
  readonly sessionToken: string | undefined;
  readonly scope: string;
  readonly mac: (text: string) => string;
  /** Names of the signed headers. */
  readonly names: string;
  /** The `Authorization` header up to the signature. */
  readonly authorization: string;
}

const deriveKey = (credentials: Credentials, day: string, region: string): DayKey => {
  const scope = `${day}/${region}/dynamodb/aws4_request`;
  const key = [region, "dynamodb", "aws4_request"].reduce<Buffer>(hmac, hmac(`AWS4${credentials.secretAccessKey}`, day));
  const names = `content-type;host;x-amz-date;${credentials.sessionToken === undefined ? "" : "x-amz-security-token;"}x-amz-target`;
  const authorization = `authorization: AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=`;
  return { day, credentials, sessionToken: credentials.sessionToken, scope, mac: createMac(key), names, authorization };
};

/**
 * AWS Signature Version 4 for DynamoDB's only kind of request, POST to `/`. It keeps the day's signing key and the second's
 * timestamp between requests.
 *
 * @param target the service's name and version before an operation's name
 */
export const createSigner = ({ host, loopback }: Pick<Endpoint, "host" | "loopback">, region: string, target: string): Signer => {
  // For CloudTrail. A local engine has no such log, and a seventh header costs it 18 µs (docs/transport.md).
  const agent = loopback ? "" : "user-agent: edgetable\r\n";
  let kept: DayKey | undefined;
  let second = Number.NaN;
  // Such as `20260102T030405Z`.
  let stamp = "";
  return ({ operation, body }, credentials, time) => {
    const now = Math.floor(time / 1000);
    if (now !== second) {
      second = now;
      stamp = `${new Date(time).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
    }
    const day = stamp.slice(0, 8);
    if (kept?.day !== day || kept.credentials !== credentials) kept = deriveKey(credentials, day, region);
    const { sessionToken: token, mac, names, scope, authorization } = kept;
    const tokenLine = token === undefined ? "" : `x-amz-security-token:${token}\n`;
    const lines = `content-type:${contentType}\nhost:${host}\nx-amz-date:${stamp}\n${tokenLine}x-amz-target:${target}${operation}\n`;
    const canonical = `POST\n/\n\n${lines}\n${names}\n${hash("sha256", body, "hex")}`;
    const signature = mac(`AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${hash("sha256", canonical, "hex")}`);
    return (
      `POST / HTTP/1.1\r\nhost: ${host}\r\ncontent-type: ${contentType}\r\nx-amz-date: ${stamp}\r\n` +
      `${token === undefined ? "" : `x-amz-security-token: ${token}\r\n`}x-amz-target: ${target}${operation}\r\n` +
      `${authorization}${signature}\r\n${agent}content-length: ${Buffer.byteLength(body)}\r\n\r\n`
    );
  };
};
