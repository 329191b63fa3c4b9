import { expect, test } from "vitest";
import { cacheCredentials } from "./credentials.ts";
import type { Credentials } from "./credentials.ts";

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
])("%s is refused, fixed or provided", async (_, given) => {
  if (given !== undefined)
    expect(() => cacheCredentials(given as Credentials)).toThrow(expect.objectContaining({ code: "execute.credentials" }));
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
