import { randomBytes } from "node:crypto";
import { startEngine } from "@edgetable/local";
import { createLeanTransport, type Transport } from "edgetable";
import { startDynamoDBLocal } from "./dynamodb-local/start.ts";
import { testEngineName, type EngineName } from "./engine-name.ts";

/** An engine that a test suite has for itself, or a share of. */
export interface TestEngine {
  readonly name: EngineName;
  readonly endpoint: string;
  readonly transport: Transport;
  /** A table name that no other test uses, on any engine, in any process. */
  readonly freshTableName: (label?: string) => string;
  /** Closes the open shard of every stream and continues it with another. Undefined where an engine cannot. */
  readonly rollShards?: () => Promise<void>;
  close(): Promise<void>;
}

const tableNames = (): TestEngine["freshTableName"] => {
  const run = randomBytes(5).toString("hex");
  let count = 0;
  return (label = "test") => `${label}-${run}-${++count}`;
};

const openDynoxide = async (): Promise<TestEngine> => {
  const engine = await startEngine();
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  const close = async (): Promise<void> => {
    await transport.close();
    await engine.stop();
  };
  return { name: "dynoxide", endpoint: engine.endpoint, transport, freshTableName: tableNames(), close };
};

/** The one that the global setup started and all test files share, or one of its own. */
const openDynamoDBLocal = async (shared: string | undefined): Promise<TestEngine> => {
  const own = shared === undefined ? await startDynamoDBLocal() : undefined;
  const endpoint = own?.endpoint ?? shared ?? "";
  const transport = createLeanTransport({ endpoint, requestTimeout: 30_000 });
  const close = async (): Promise<void> => {
    await transport.close();
    await own?.stop();
  };
  const rollShards = async (): Promise<void> => {
    await transport.send("PutItem", { TableName: "[TEST_CONTROL]", Item: { ACTION: { S: "ROLLOVER" } } });
  };
  return { name: "dynamodb-local", endpoint, transport, freshTableName: tableNames(), rollShards, close };
};

/**
 * Opens the engine a suite runs against: one of its own for dynoxide (15 ms), a shared one for
 * DynamoDB Local (3 s), where EDGETABLE_TEST_ENDPOINT says so.
 *
 * A suite that creates indexes takes one of its own: DynamoDB Local has ten threads for its tasks, each table with expiry
 * occupies one until the table is deleted, and an index that finds none free takes minutes.
 */
export const openEngine = (name: EngineName = testEngineName(), { alone = false } = {}): Promise<TestEngine> =>
  name === "dynoxide" ? openDynoxide() : openDynamoDBLocal(alone ? undefined : process.env["EDGETABLE_TEST_ENDPOINT"]);
