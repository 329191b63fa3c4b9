import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { createLeanStreamTransport, streamEndpoint } from "./lean/lean-stream-transport.ts";
import { holdsRecords, streamOddityOf, type StreamTransport } from "./stream-operations.ts";

describe("on a real engine", () => {
  let engine: TestEngine;
  let streams: StreamTransport;
  let StreamArn = "";
  let TableName = "";
  beforeAll(async () => {
    engine = await openEngine();
    streams = createLeanStreamTransport({ endpoint: engine.endpoint });
    TableName = engine.freshTableName("stream");
    await engine.transport.send("CreateTable", {
      TableName,
      AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      BillingMode: "PAY_PER_REQUEST",
      StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
    });
  });
  afterAll(async () => {
    await streams.close();
    await engine.close();
  });

  test("changes are read from the first shard on", async () => {
    const Key = { pk: { S: "a" } };
    await engine.transport.send("PutItem", { TableName, Item: { ...Key, bytes: { B: "AQID" } } });
    await engine.transport.send("DeleteItem", { TableName, Key });
    const { Streams = [] } = await streams.send("ListStreams", { TableName });
    StreamArn = Streams[0]?.StreamArn ?? "";
    const { StreamDescription } = await streams.send("DescribeStream", { StreamArn });
    expect(StreamDescription).toMatchObject({ StreamStatus: "ENABLED", StreamViewType: "NEW_AND_OLD_IMAGES", TableName });
    const ShardId = StreamDescription?.Shards?.[0]?.ShardId ?? "";
    const { ShardIterator = "" } = await streams.send("GetShardIterator", { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" });
    const { Records = [], NextShardIterator } = await streams.send("GetRecords", { ShardIterator, Limit: 100 });
    expect(Records.map(({ eventName, dynamodb }) => [eventName, dynamodb?.NewImage, dynamodb?.OldImage])).toEqual([
      ["INSERT", { ...Key, bytes: { B: "AQID" } }, undefined],
      ["REMOVE", undefined, { ...Key, bytes: { B: "AQID" } }],
    ]);
    expect(await streams.send("GetRecords", { ShardIterator: NextShardIterator ?? "" })).toMatchObject({ Records: [] });
  });

  test("an unknown stream and a spent time are told as for every transport", async () => {
    const unknown = StreamArn.replace(TableName, engine.freshTableName("gone"));
    await expect(streams.send("DescribeStream", { StreamArn: unknown })).rejects.toMatchObject({
      code: "execute.streamNotFound",
      details: { fault: "ResourceNotFoundException", ambiguous: false },
    });
    await expect(streams.send("ListStreams", {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "execute.aborted" });
  });
});

test("the streams of AWS have a host of their own, those of a local engine have not", () => {
  expect(streamEndpoint("https://dynamodb.eu-central-1.amazonaws.com")).toBe("https://streams.dynamodb.eu-central-1.amazonaws.com");
  expect(streamEndpoint("https://dynamodb.cn-north-1.amazonaws.com.cn")).toBe("https://streams.dynamodb.cn-north-1.amazonaws.com.cn");
  expect(streamEndpoint("https://streams.dynamodb.eu-central-1.amazonaws.com")).toBe("https://streams.dynamodb.eu-central-1.amazonaws.com");
  expect(streamEndpoint("http://127.0.0.1:8000")).toBe("http://127.0.0.1:8000");
});

test.each([
  ["a record without its change", [{ eventID: "1" }]],
  ["an image that is not an item", [{ dynamodb: { NewImage: { a: { S: 1 } } } }]],
  ["a text", "none"],
])("%s is not DynamoDB's answer", (_, Records) => expect(holdsRecords({ Records })).toBe(false));

test.each([
  ["GetRecords", { NextShardIterator: 5 }, 'its "NextShardIterator" has another form'],
  ["GetRecords", { hello: 1 }, "it has no member that GetRecords answers"],
  ["DescribeStream", [], "it is not an object"],
  ["GetRecords", { Records: [], NextShardIterator: null }, undefined],
])("the answer of %s is checked", (operation, output, oddity) =>
  expect(streamOddityOf({ operation, input: {}, output, signed: true })).toBe(oddity),
);
