import { startDynamoDBLocal, type DynamoDBLocal } from "./dynamodb-local/start.ts";
import { testEngineName } from "./engine-name.ts";

let shared: DynamoDBLocal | undefined;

/**
 * Vitest's global setup: one DynamoDB Local for all test files, where that is the engine to test.
 * Workers see it as EDGETABLE_TEST_ENDPOINT. Vitest resolves what a setup imports without the
 * workspace's own condition, so nothing here may import a package of this workspace.
 */
export const setup = async (): Promise<void> => {
  if (testEngineName() !== "dynamodb-local" || process.env["EDGETABLE_TEST_ENDPOINT"] !== undefined) return;
  shared = await startDynamoDBLocal();
  process.env["EDGETABLE_TEST_ENDPOINT"] = shared.endpoint;
};

export const teardown = async (): Promise<void> => {
  await shared?.stop();
};
