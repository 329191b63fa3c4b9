import { EdgetableError, type OperationInputs, type OperationOutputs, type Transport } from "edgetable";
import type { Sabotage } from "../clients.ts";
import { repeatsLate, throwsAnything } from "../sabotage.ts";

type Batch = OperationInputs["BatchWriteItem"];
type Send = Transport["send"];
type Operation = Parameters<Send>[0];

/** A transport that does something else in place of an operation. */
const instead =
  <O extends Operation>(
    operation: O,
    make: (input: OperationInputs[O], send: () => Promise<OperationOutputs[O]>, transport: Transport) => Promise<OperationOutputs[O]>,
  ): Sabotage =>
  (transport) => {
    const send: Send = (asked, input, options) => {
      const honest = (): Promise<never> => transport.send(asked, input, options) as Promise<never>;
      return (asked as string) === operation ? (make(input as never, honest, transport) as Promise<never>) : honest();
    };
    return { send, close: () => transport.close() };
  };

/** Acknowledges what was left unprocessed. */
const forgetsLeft = instead("BatchWriteItem", async (_, send) => ({ ...(await send()), UnprocessedItems: {} }));

/** Does everything, and says that it did not. */
const deniesAll = instead("BatchWriteItem", async (input: Batch, send) => ({ ...(await send()), UnprocessedItems: input.RequestItems }));

const isJob = (key: unknown): boolean => JSON.stringify(key).includes("~job");

const keepsJobs = instead("DeleteItem", async (input, send) => (isJob(input.Key) ? {} : send()));

/** Every index seems empty, so that nothing is found that only it can find. */
const blindIndex = instead("Query", async (input, send) =>
  input.IndexName === undefined ? send() : { Items: [], Count: 0, ScannedCount: 0 },
);

const saysNeverAgain = instead("BatchWriteItem", async (_, send) => {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof EdgetableError)) throw error;
    throw new EdgetableError(error.code, error.message, { retryable: !error.retryable, details: error.details });
  }
});

/** Ways to break the word of batches, loads and jobs, and what the checker has to say of each. */
export const sabotages: readonly { readonly name: string; readonly sabotage: Sabotage; readonly complaint: RegExp }[] = [
  { name: "what a batch left unprocessed is forgotten", sabotage: forgetsLeft, complaint: /item:.*no order of these calls/ },
  { name: "what is named as not written was written", sabotage: deniesAll, complaint: /item:.*no order of these calls/ },
  {
    name: "a batch's writes happen again after others",
    sabotage: repeatsLate("BatchWriteItem"),
    complaint: /item:.*no order of these calls/,
  },
  { name: "a job that ended stays", sabotage: keepsJobs, complaint: /is left behind, though every such call ended well/ },
  { name: "a cascade does not find its edges", sabotage: blindIndex, complaint: /outlived (user|group):/ },
  { name: "a resharding does not find its items", sabotage: blindIndex, complaint: /stale attribute/ },
  { name: "an error of a batch has no type", sabotage: throwsAnything, complaint: /no EdgetableError/ },
  { name: "an error of a batch says wrongly whether to try again", sabotage: saysNeverAgain, complaint: /with retryable (true|false)/ },
];
