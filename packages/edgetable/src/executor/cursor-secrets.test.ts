import { expect, test } from "vitest";
import { ownGraph } from "../../../../conformance/bad-input/models.ts";
import { openCursor, sealCursor } from "../requests/cursor.ts";
import type { Transport } from "../transport/transport.ts";
import { secretsOf } from "./cursor-secrets.ts";

const bytes = Buffer.from("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", "hex");

test("random bytes are taken as they are, in each of their forms", async () => {
  const forms = [new Uint8Array(bytes), bytes.toString("hex"), bytes.toString("base64"), bytes.toString("base64url")];
  for (const form of forms) expect(await secretsOf(form, "T")).toEqual([bytes.toString("base64url")]);
});

test("a passphrase is stretched: the same for every process, another for each table", async () => {
  const [key] = await secretsOf("correct horse battery", "T");
  // What scrypt gives for N 16384, r 8, p 5: cursors that were given must open in the next release.
  expect(key).toBe("VFFrflGVErYlEKdYmbHx5HtVN8EJIKU239RTAIjhshA");
  expect(await secretsOf("correct horse battery", "U")).not.toEqual([key]);
  expect(await secretsOf(["correct horse battery", bytes], "T")).toEqual([key, bytes.toString("base64url")]);
});

test("the first secret of a list seals, and each opens", () => {
  const position = { source: 0, key: { pk: { S: "a" } }, backward: false };
  const cursor = sealCursor(position, "q", ["old"]);
  expect(openCursor(cursor, "q", ["new", "old"])).toEqual(position);
  expect(sealCursor(position, "q", ["old", "new"])).toBe(cursor);
  expect(() => openCursor(cursor, "q", ["new", "newer"])).toThrow(expect.objectContaining({ code: "cursor.invalid" }));
  expect(() => openCursor(cursor, "other", ["old"])).toThrow(expect.objectContaining({ code: "cursor.invalid" }));
});

const transport: Transport = { close: () => undefined, send: () => Promise.reject(new Error("nothing is sent")) };

test.each([
  ["is empty", ""],
  ["has 14 characters", "x".repeat(14)],
  ["has 31 bytes", new Uint8Array(31)],
  ["is an empty list", []],
  ["has 5 characters", ["x".repeat(43), "short"]],
  ["takes text, bytes, or a list of them", 5],
])("a secret that %s is refused, with a command that makes one", (says, cursorSecret) => {
  const connect = () => ownGraph("Test").connect({ transport, cursorSecret: cursorSecret as string });
  expect(connect).toThrow(expect.objectContaining({ code: "plan.invalidOption", message: expect.stringContaining(says) }));
  expect(connect).toThrow("randomBytes(32)");
});
