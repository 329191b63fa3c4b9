import { startDynamoDBLocal, type DynamoDBLocal } from "./dynamodb-local/start.ts";
import { testEngineName } from "./engine-name.ts";

let running: readonly DynamoDBLocal[] = [];

/** As many as there are workers (`maxWorkers`): one DynamoDB Local answers one request at a time, on one core. */
const ENGINES = 2;

/**
 * Vitest's global setup: a DynamoDB Local for all test files of each worker, where that is the engine to test. `worker-setup`
 * chooses one of EDGETABLE_TEST_ENDPOINTS. Vitest resolves what a setup imports without the workspace's own condition, so
 * nothing here may import a package of this workspace.
 */
export const setup = async (): Promise<void> => {
  if (testEngineName() !== "dynamodb-local" || process.env["EDGETABLE_TEST_ENDPOINT"] !== undefined) return;
  running = [await startDynamoDBLocal()];
  while (running.length < ENGINES) running = [...running, await startDynamoDBLocal()];
  process.env["EDGETABLE_TEST_ENDPOINTS"] = running.map(({ endpoint }) => endpoint).join(" ");
};

export const teardown = async (): Promise<void> => {
  await Promise.all(running.map(async (one) => one.stop()));
};
