import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Credentials, checkCredentials } from "./credentials.ts";
import { cacheCredentials, createSigner } from "./signing.ts";

/** What @smithy/signature-v4 asks for: SHA-256, with a key or without. */
class Sha256 {
  readonly #hash: { update(data: Uint8Array | string): unknown; digest(): Buffer };
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret as Uint8Array);
  }
  update(data: Uint8Array | string): void {
    this.#hash.update(data);
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
  reset(): void {}
}

const headersOf = (head: string): Record<string, string> =>
  Object.fromEntries(
    head
      .split("\r\n")
      .slice(1)
      .filter((line) => line !== "")
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );

const visible = fc.stringMatching(/^[!-~]{1,60}$/);
const request = fc.record({
  region: fc.constantFrom("us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1"),
  host: fc.constantFrom("dynamodb.us-east-1.amazonaws.com", "127.0.0.1:8000", "[::1]:8000"),
  accessKeyId: fc.stringMatching(/^[A-Z0-9]{16,20}$/),
  secretAccessKey: visible,
  sessionToken: fc.option(visible, { nil: undefined }),
  operation: fc.constantFrom("GetItem", "TransactWriteItems"),
  body: fc.json(),
  time: fc.integer({ min: 0, max: 4_102_444_800_000 }),
});

test("signatures equal those of the AWS SDK's signer", async () => {
  await fc.assert(
    fc.asyncProperty(request, async ({ region, host, operation, body, time, ...credentials }) => {
      const ours = headersOf(createSigner({ host, loopback: false }, region, "DynamoDB_20120810.")({ operation, body }, credentials, time));
      const given = ["host", "content-type", "x-amz-target"].map((name) => [name, ours[name] as string]);
      const theirs = await new SignatureV4({
        service: "dynamodb",
        region,
        credentials: credentials as never,
        sha256: Sha256 as never,
        applyChecksum: false,
      }).sign(
        { method: "POST", protocol: "https:", hostname: host, path: "/", headers: Object.fromEntries(given), body },
        { signingDate: new Date(time) },
      );
      expect(ours["authorization"]).toBe(theirs.headers["authorization"]);
      expect(ours["x-amz-date"]).toBe(theirs.headers["x-amz-date"]);
      expect(ours["x-amz-security-token"]).toBe(theirs.headers["x-amz-security-token"]);
      expect(ours["content-length"]).toBe(String(Buffer.byteLength(body)));
    }),
  );
});

const local = { host: "localhost:8000", loopback: true };

test("a signer kept over days and credentials signs as a fresh one does", () => {
  const signer = createSigner(local, "us-east-1", "DynamoDB_20120810.");
  const days = [0, 86_399_999, 86_400_000, 86_400_001, 0].map((offset) => 1_700_000_000_000 + offset);
  for (const time of days) {
    for (const secretAccessKey of ["one", "two"]) {
      const [made, fresh] = [signer, createSigner(local, "us-east-1", "DynamoDB_20120810.")].map((sign) =>
        sign({ operation: "GetItem", body: "{}" }, { accessKeyId: "A", secretAccessKey }, time),
      );
      expect(made).toBe(fresh);
    }
  }
});

test("DynamoDB is told who asks, and an engine on this machine is not", () => {
  const service = { host: "dynamodb.us-east-1.amazonaws.com", loopback: false };
  const credentials = { accessKeyId: "A", secretAccessKey: "B" };
  const [told, not] = [service, local].map((to) =>
    headersOf(createSigner(to, "us-east-1", "DynamoDB_20120810.")({ operation: "GetItem", body: "{}" }, credentials, 0)),
  );
  expect(told?.["user-agent"]).toBe("edgetable");
  expect(Object.keys(not ?? {})).toEqual(["host", "content-type", "x-amz-date", "x-amz-target", "authorization", "content-length"]);
});

const minute = 60_000;
const until = (end: number, accessKeyId = "A"): Credentials => ({ accessKeyId, secretAccessKey: "s", expiration: new Date(end) });

/** A provider whose answers are numbered and end an hour after each other. */
const provider = () => {
  const calls = { count: 0, failing: false };
  const next = (): Promise<Credentials> => {
    calls.count++;
    return calls.failing ? Promise.reject(new Error("no network")) : Promise.resolve(until(calls.count * 60 * minute, `A${calls.count}`));
  };
  return { calls, next };
};

test("fixed credentials are there at once, for ever, and cannot be renewed", () => {
  const fixed = { accessKeyId: "A", secretAccessKey: "s" };
  const cache = cacheCredentials(fixed);
  expect(cache.current(0)).toBe(fixed);
  expect(cache.drop(fixed)).toBe(false);
  expect(cache.current(Number.MAX_SAFE_INTEGER)).toBe(fixed);
});

test("callers at the same time share one call of the provider", async () => {
  const { calls, next } = provider();
  const cache = cacheCredentials(next);
  expect(cache.current(0)).toBeUndefined();
  const all = await Promise.all([cache.refresh(), cache.refresh(), cache.refresh()]);
  expect(all.map(({ accessKeyId }) => accessKeyId)).toEqual(["A1", "A1", "A1"]);
  expect(calls.count).toBe(1);
});

test("five minutes ahead of the end they are refreshed in the background, and used meanwhile", async () => {
  const { calls, next } = provider();
  const cache = cacheCredentials(next);
  await cache.refresh();
  expect(cache.current(54 * minute)?.accessKeyId).toBe("A1");
  expect(calls.count).toBe(1);
  expect(cache.current(56 * minute)?.accessKeyId).toBe("A1");
  expect(cache.current(56 * minute)?.accessKeyId).toBe("A1");
  expect(calls.count).toBe(2);
  await new Promise(setImmediate);
  expect(cache.current(56 * minute)?.accessKeyId).toBe("A2");
});

test("a failed refresh ahead of the end is not noticed; after the end it is", async () => {
  const { calls, next } = provider();
  const cache = cacheCredentials(next);
  await cache.refresh();
  calls.failing = true;
  expect(cache.current(56 * minute)?.accessKeyId).toBe("A1");
  await new Promise(setImmediate);
  expect(cache.current(57 * minute)?.accessKeyId).toBe("A1");
  expect(cache.current(60 * minute)).toBeUndefined();
  await expect(cache.refresh()).rejects.toMatchObject({
    code: "execute.credentials",
    message: expect.stringMatching(/^No AWS credentials: no network[.] Set AWS_PROFILE/) as unknown,
  });
  calls.failing = false;
  await expect(cache.refresh()).resolves.toMatchObject({ secretAccessKey: "s" });
});

test("dropping forgets the credentials that were refused, and no newer ones", async () => {
  const { next } = provider();
  const cache = cacheCredentials(next);
  const first = await cache.refresh();
  const second = await cache.refresh();
  expect(cache.drop(first)).toBe(true);
  expect(cache.current(0)).toBe(second);
  expect(cache.drop(second)).toBe(true);
  expect(cache.current(0)).toBeUndefined();
});

test.each([
  ["no secret", { accessKeyId: "A" }],
  ["an empty key id", { accessKeyId: "", secretAccessKey: "s" }],
  ["a line break in the token", { accessKeyId: "A", secretAccessKey: "s", sessionToken: "a\r\nx-evil: 1" }],
  ["an end that is no Date", { accessKeyId: "A", secretAccessKey: "s", expiration: "2031-01-01T00:00:00Z" }],
  ["an end that is no time", { accessKeyId: "A", secretAccessKey: "s", expiration: new Date("soon") }],
  ["nothing", undefined],
  ["null", null],
])("%s is refused, fixed or provided", async (_, given) => {
  if (given !== undefined)
    expect(() => checkCredentials(given as Credentials)).toThrow(
      expect.objectContaining({ code: "execute.credentials", message: expect.stringContaining("lack accessKeyId") as unknown }),
    );
  await expect(cacheCredentials(() => Promise.resolve(given as Credentials)).refresh()).rejects.toMatchObject({
    code: "execute.credentials",
  });
});

test("a provider that throws at once is a failure like any other", async () => {
  const throwing = (): never => {
    throw new Error("at once");
  };
  await expect(cacheCredentials(throwing).refresh()).rejects.toMatchObject({
    code: "execute.credentials",
    message: expect.stringContaining("at once. Set AWS_PROFILE") as unknown,
  });
});
