import { expect, test } from "vitest";
import { loadOnce } from "./load-once.ts";

test("a module is kept once it is loaded, and asked for again where it could not be", async () => {
  const answers = [Promise.reject(new Error("no such file")), Promise.resolve("code"), Promise.resolve("never asked for")];
  const load = loadOnce(() => answers.shift() as Promise<string>);
  await expect(load()).rejects.toThrow("no such file");
  expect(await load()).toBe("code");
  expect(load()).toBe("code");
  expect(answers).toHaveLength(1);
});
