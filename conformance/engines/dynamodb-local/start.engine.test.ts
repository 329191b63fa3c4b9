import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { testEngineName } from "../engine-name.ts";
import { install } from "./install.ts";
import { javaArguments, startDynamoDBLocal } from "./start.ts";

const answers = (endpoint: string): Promise<boolean> =>
  fetch(endpoint).then(
    () => true,
    () => false,
  );

const untilSilent = async (endpoint: string): Promise<boolean> => {
  for (let wait = 0; wait < 500 && (await answers(endpoint)); wait++) await sleep(20);
  return !(await answers(endpoint));
};

const skip = testEngineName() !== "dynamodb-local";

// A parent as start.ts is one: it holds the pipe to the launcher's standard input.
const parent = `require("node:child_process").spawn("java", JSON.parse(process.argv[1]), { stdio: ["pipe", "inherit", "ignore"] }); setInterval(() => undefined, 1000);`;

test.skipIf(skip)("kill -9 of the parent leaves no DynamoDB Local behind (skipped for other engines)", async () => {
  const child = spawn(process.execPath, ["-e", parent, JSON.stringify(javaArguments(await install()))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const endpoint = /http:\S+/.exec(String((await once(child.stdout, "data"))[0]))?.[0] ?? "";
  expect(await answers(endpoint)).toBe(true);
  child.kill("SIGKILL");
  expect(await untilSilent(endpoint)).toBe(true);
});

test.skipIf(skip)("a stop ends it, and its version is the one of the pom (skipped for other engines)", async () => {
  const engine = await startDynamoDBLocal();
  expect(engine.version).toMatch(/^2\./);
  await engine.stop();
  expect(await answers(engine.endpoint)).toBe(false);
});
