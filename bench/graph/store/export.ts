import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createGzip } from "node:zlib";
import type { BatchWriteItemInput, Operation, OperationInputs, OperationOutputs, Transport, WriteRequest } from "edgetable";

const itemsOf = ({ RequestItems }: BatchWriteItemInput): string =>
  Object.values(RequestItems)
    .flat()
    .map((request: WriteRequest) => `${JSON.stringify({ Item: "PutRequest" in request ? request.PutRequest.Item : undefined })}\n`)
    .join("");

/** A transport that takes BatchWriteItem alone, and gives each request's items to `write`, a line each, as DynamoDB exports them. */
export const exporting = (write: (lines: string) => void | Promise<void>): Transport => ({
  async send<O extends Operation>(operation: O, input: OperationInputs[O]): Promise<OperationOutputs[O]> {
    if (operation !== "BatchWriteItem") throw new Error(`a load into a file sent ${operation}`);
    await write(itemsOf(input as BatchWriteItemInput));
    return {} as OperationOutputs[O];
  },
  close: () => undefined,
});

/** Where the engine's import looks for the items of a table. */
export const exportFile = (folder: string, table: string): string => {
  mkdirSync(join(folder, table, "data"), { recursive: true });
  return join(folder, table, "data", "items.json.gz");
};

/** Runs a load into a file in DynamoDB's export format. */
export const exportLoad = async (file: string, load: (transport: Transport) => Promise<void>): Promise<void> => {
  const gzip = createGzip({ level: 1 });
  const written = once(gzip.pipe(createWriteStream(file)), "finish");
  const write = (lines: string): Promise<void> => new Promise((resolve) => gzip.write(lines, () => resolve()));
  await load(exporting(write));
  gzip.end();
  await written;
};
