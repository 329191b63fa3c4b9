import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createLeanStreamTransport } from "edgetable/streams";
import { expect, test } from "vitest";
import { testEngineName } from "./engine-name.ts";
import { openEngine, type TestEngine } from "./open-engine.ts";

const listeningAddresses = (endpoint: string): readonly string[] => {
  const port = new URL(endpoint).port;
  const rows = execFileSync("ss", ["-Hltn", `sport = :${port}`], { encoding: "utf8" }).trim();
  return rows.split("\n").map((row) => row.trim().split(/\s+/)[3] ?? "");
};

const writeAndRead = async ({ transport, freshTableName }: TestEngine): Promise<unknown> => {
  const TableName = freshTableName("round-trip");
  await transport.send("CreateTable", {
    TableName,
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    BillingMode: "PAY_PER_REQUEST",
  });
  await transport.send("PutItem", { TableName, Item: { id: { S: "ada 🜁" } } });
  const { Item } = await transport.send("GetItem", { TableName, Key: { id: { S: "ada 🜁" } }, ConsistentRead: true });
  await transport.send("DeleteTable", { TableName });
  return Item;
};

const hasSocketStatistics = ["/usr/bin/ss", "/usr/sbin/ss", "/bin/ss", "/sbin/ss"].some((path) => existsSync(path));

test("the engine that was asked for stores and answers", async () => {
  const engine = await openEngine();
  expect(engine.name).toBe(testEngineName());
  expect(await writeAndRead(engine)).toEqual({ id: { S: "ada 🜁" } });
  await engine.close();
});

test.skipIf(!hasSocketStatistics)("the engine listens on 127.0.0.1 alone (skipped where there is no `ss`)", async () => {
  const engine = await openEngine();
  const port = new URL(engine.endpoint).port;
  const addresses = listeningAddresses(engine.endpoint);
  await engine.close();
  // Java writes an IPv4 address of a dual-stack socket as ::ffff:127.0.0.1.
  expect(addresses.map((address) => address.replace("[::ffff:127.0.0.1]", "127.0.0.1"))).toEqual([`127.0.0.1:${port}`]);
});

test("table names never repeat, and an unknown engine is refused", async () => {
  const engine = await openEngine();
  expect(engine.freshTableName("a")).not.toBe(engine.freshTableName("a"));
  await engine.close();
  expect(() => testEngineName({ EDGETABLE_TEST_ENGINE: "dynalite" })).toThrow("dynoxide, dynamodb-local");
});

test.skipIf(testEngineName() !== "dynamodb-local")("shards roll on request (skipped for other engines)", async () => {
  const engine = await openEngine(undefined, { alone: true });
  const { transport, endpoint } = engine;
  const TableName = engine.freshTableName("rolls");
  await transport.send("CreateTable", {
    TableName,
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    BillingMode: "PAY_PER_REQUEST",
    StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
  });
  for (const id of ["a", "b"]) {
    await transport.send("PutItem", { TableName, Item: { id: { S: id } } });
    await engine.rollShards?.();
  }
  const streams = createLeanStreamTransport({ endpoint });
  const { Streams = [] } = await streams.send("ListStreams", { TableName });
  const { StreamDescription } = await streams.send("DescribeStream", { StreamArn: Streams[0]?.StreamArn ?? "" });
  const shards = StreamDescription?.Shards ?? [];
  expect(shards.map(({ SequenceNumberRange }) => SequenceNumberRange?.EndingSequenceNumber !== undefined)).toEqual([true, true, false]);
  expect(shards.map(({ ParentShardId }) => ParentShardId)).toEqual([undefined, shards[0]?.ShardId, shards[1]?.ShardId]);
  await streams.close();
  await engine.close();
});

test("the launcher of DynamoDB Local names one address", () => {
  const source = readFileSync(new URL("./dynamodb-local/Launcher.java", import.meta.url), "utf8");
  expect(source).toContain('new InetSocketAddress("127.0.0.1", 0)');
});
