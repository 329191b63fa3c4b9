import { expect, test } from "vitest";
import { loadOnce } from "./load-once.ts";

test("a loaded module is kept, and a failed load is tried again", async () => {
  const answers = [Promise.reject(new Error("no such file")), Promise.resolve("code"), Promise.resolve("never asked for")];
  const load = loadOnce(() => answers.shift() as Promise<string>);
  await expect(load()).rejects.toThrow("no such file");
  expect(await load()).toBe("code");
  expect(load()).toBe("code");
  expect(answers).toHaveLength(1);
});
