import type { WireStreamRecord } from "edgetable";
import { expect, test } from "vitest";
import { deliverToLambda, type LambdaDelivery } from "./deliver-to-lambda.ts";

const records = Array.from({ length: 200 }, (_, n): WireStreamRecord => ({
  eventID: String(n),
  eventName: "MODIFY",
  dynamodb: {
    Keys: { pk: { S: String(n % 9) } },
    NewImage: { n: { N: String(n) } },
    SequenceNumber: String(100 + n),
    ApproximateCreationDateTime: 5,
  },
}));

/** Delivers to a handler that fails now and then, and gives the changes that it accepted, by item. */
const deliver = async (delivery: Partial<LambdaDelivery>, fails = 0.2) => {
  const accepted = new Map<string, number[]>();
  let calls = 0;
  const report = await deliverToLambda(
    records,
    async ({ Records }) => {
      await new Promise(setImmediate);
      const changes = Records.map((record) => {
        const given = record as WireStreamRecord & { readonly kinesis?: { readonly data: string; readonly sequenceNumber: string } };
        const change = given.kinesis ? (JSON.parse(Buffer.from(given.kinesis.data, "base64").toString()) as WireStreamRecord) : given;
        return { change, identifier: given.kinesis?.sequenceNumber ?? given.dynamodb?.SequenceNumber ?? "" };
      });
      if (++calls % 11 === 0) throw new Error("out of memory");
      const failing = changes.findIndex((_, at) => (calls * 7 + at) % 10 < fails * 10);
      for (const { change } of failing === -1 ? changes : changes.slice(0, failing)) {
        const item = JSON.stringify(change.dynamodb?.Keys);
        accepted.set(item, [...(accepted.get(item) ?? []), Number(change.eventID)]);
      }
      return { batchItemFailures: failing === -1 ? [] : [{ itemIdentifier: changes[failing]?.identifier ?? "" }] };
    },
    { table: "t", ...delivery },
  );
  return { accepted, report };
};

test("batches come again from their lowest failure, in lanes that keep the order per item", async () => {
  const { accepted, report } = await deliver({ repeats: 0 });
  for (const [item, numbers] of accepted) expect([item, numbers]).toEqual([item, numbers.toSorted((a, b) => a - b)]);
  expect([...accepted.values()].flat()).toHaveLength(200);
  expect(report).toMatchObject({ discarded: [], repeated: 0 });
  expect(report.failed).toBeGreaterThan(5);
});

test("batches that succeeded come again, late", async () => {
  const { accepted, report } = await deliver({ repeats: 0.5, lanes: 2, batchSize: 5 });
  expect(report.repeated).toBeGreaterThan(5);
  expect(new Set([...accepted.values()].flat()).size).toBe(200);
  expect([...accepted.values()].flat().length).toBeGreaterThan(200);
});

test("Kinesis' records have no sequence, milliseconds, duplicates and no order", async () => {
  const { accepted } = await deliver({ format: "kinesis", lanes: 3 });
  const numbers = [...accepted.values()];
  expect(new Set(numbers.flat()).size).toBe(200);
  expect(numbers.some((one) => one.some((number, at) => number < (one[at - 1] ?? 0)))).toBe(true);
});

test("what keeps failing is discarded after its retries", async () => {
  const report = await deliverToLambda(records.slice(0, 5), () => Promise.reject(new Error("no")), {
    table: "t",
    retries: 2,
    lanes: 1,
    batchSize: 5,
  });
  expect(report.discarded.length).toBe(5);
  // An empty name stands for the whole batch; no answer for success.
  const empty = await deliverToLambda(records.slice(0, 1), async () => ({ batchItemFailures: [{ itemIdentifier: "" }] }), {
    table: "t",
    retries: 0,
  });
  expect(empty.discarded).toHaveLength(1);
  expect((await deliverToLambda(records, async () => undefined, { table: "t" })).failed).toBe(0);
});

test("options out of range are refused", async () => {
  await expect(
    deliverToLambda([], async () => undefined, { table: "t", lanes: 11, batchSize: 0, repeats: 2, retries: -1 }),
  ).rejects.toThrow(/lanes is 11.*batchSize is 0.*repeats is 2.*retries is -1/);
});
