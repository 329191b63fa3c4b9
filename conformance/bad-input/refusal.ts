import { isEdgetableError, type EdgetableError, type ErrorCode, type Item, type Transport } from "edgetable";
import { expect } from "vitest";

/** What is handed in, by the code and the words that refuse it. */
export type Case = readonly [what: string, code: ErrorCode, says: readonly string[], call: () => unknown];

/** A table, and how it is reached. */
export interface Table {
  readonly transport: Transport;
  readonly name: string;
}

/** Everything in a table, in a fixed order. */
export const scan = async ({ transport, name: TableName }: Table): Promise<readonly string[]> => {
  const found: string[] = [];
  let ExclusiveStartKey: Item | undefined;
  do {
    const page = await transport.send("Scan", { TableName, ConsistentRead: true, ...(ExclusiveStartKey && { ExclusiveStartKey }) });
    found.push(...(page.Items ?? []).map((item) => JSON.stringify(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return found.toSorted();
};

/** What a call is refused with; fails where it is not refused, or not by an error of the library. */
export const errorOf = async (call: () => unknown): Promise<EdgetableError> => {
  try {
    await call();
  } catch (error) {
    if (isEdgetableError(error)) return error;
    throw error;
  }
  throw new Error("the call was not refused");
};

/** Which code a refusal has, and which words its message must hold: the value, and what to do. */
export interface Expected {
  readonly code: ErrorCode;
  readonly says: readonly string[];
}

/** Makes the call and checks its refusal, and that the table holds what it held before. */
export const expectRefusal = async (call: () => unknown, { code, says }: Expected, table: Table): Promise<EdgetableError> => {
  const before = await scan(table);
  const error = await errorOf(call);
  expect(error.code).toBe(code);
  for (const words of says) expect(error.message).toContain(words);
  expect(await scan(table)).toEqual(before);
  return error;
};
