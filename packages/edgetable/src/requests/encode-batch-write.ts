import type { DeleteStep, PutStep } from "../ir/write-plan.ts";
import type { BatchWriteItemInput, WriteRequest } from "../transport/operations.ts";

/** "BatchWriteItem: 25 put or delete requests, 16 MB" (ServiceQuotas); 25 items of 400 KB are 10 MB. */
export const BATCH_WRITE_ITEMS = 25;

/** A step as a batch takes it: a batch knows no conditions. */
export const writeRequest = (step: PutStep | DeleteStep): WriteRequest =>
  step.kind === "put" ? { PutRequest: { Item: step.item } } : { DeleteRequest: { Key: step.key } };

export const encodeBatchWrite = (table: string, requests: readonly WriteRequest[]): BatchWriteItemInput => ({
  RequestItems: { [table]: requests },
  ReturnConsumedCapacity: "TOTAL",
});

/** Requests in as many batches as they take. */
export const inBatches = <T>(requests: readonly T[]): readonly (readonly T[])[] => {
  const batches: (readonly T[])[] = [];
  for (let at = 0; at < requests.length; at += BATCH_WRITE_ITEMS) batches.push(requests.slice(at, at + BATCH_WRITE_ITEMS));
  return batches;
};
