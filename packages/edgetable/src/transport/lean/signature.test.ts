import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSigner } from "./signature.ts";

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
      const ours = headersOf(createSigner({ host, loopback: false }, region)({ operation, body }, credentials, time));
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
  const signer = createSigner(local, "us-east-1");
  const days = [0, 86_399_999, 86_400_000, 86_400_001, 0].map((offset) => 1_700_000_000_000 + offset);
  for (const time of days) {
    for (const secretAccessKey of ["one", "two"]) {
      const [made, fresh] = [signer, createSigner(local, "us-east-1")].map((sign) =>
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
    headersOf(createSigner(to, "us-east-1")({ operation: "GetItem", body: "{}" }, credentials, 0)),
  );
  expect(told?.["user-agent"]).toBe("edgetable");
  expect(Object.keys(not ?? {})).toEqual(["host", "content-type", "x-amz-date", "x-amz-target", "authorization", "content-length"]);
});
