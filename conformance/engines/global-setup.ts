import { startDynamoDBLocal } from "./dynamodb-local/start.ts";
import { testEngineName } from "./open-engine.ts";

/**
 * Vitest's global setup: one DynamoDB Local for all test files, where that is the engine to test.
 * Workers see it as EDGETABLE_TEST_ENDPOINT. Gives the teardown.
 */
export default async (): Promise<(() => Promise<void>) | undefined> => {
  if (testEngineName() !== "dynamodb-local" || process.env["EDGETABLE_TEST_ENDPOINT"] !== undefined) return undefined;
  const engine = await startDynamoDBLocal();
  process.env["EDGETABLE_TEST_ENDPOINT"] = engine.endpoint;
  return () => engine.stop();
};
