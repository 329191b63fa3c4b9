import type { OperationInputs, TransactWriteItem, Transport } from "edgetable";
import type { Sabotage } from "./clients.ts";

type Send = Transport["send"];
type Input = OperationInputs[keyof OperationInputs];

/** A transport that changes each request before it is sent. */
const changing =
  (change: (operation: string, input: Input) => Input): Sabotage =>
  (transport) => {
    const send: Send = (operation, input, options) => transport.send(operation, change(operation, input) as never, options);
    return { send, close: () => transport.close() };
  };

const withoutToken = (_: string, input: Input): Input => {
  if (!("ClientRequestToken" in input)) return input;
  const { ClientRequestToken: _token, ...rest } = input;
  return rest;
};

const keyText = (item: TransactWriteItem): string =>
  JSON.stringify("Put" in item ? item.Put.Item : "Delete" in item ? item.Delete.Key : {});

/** Leaves out the last copy of an edge that a transaction writes. */
const half = (_: string, input: Input): Input => {
  if (!("TransactItems" in input)) return input;
  const items = input.TransactItems as readonly TransactWriteItem[];
  const copies = items.filter((item) => /friend|tagged/.test(keyText(item)));
  return copies.length < 2 ? input : ({ ...input, TransactItems: items.filter((item) => item !== copies.at(-1)) } as never);
};

const neverConsistent = (operation: string, input: Input): Input => {
  if (operation === "GetItem" || operation === "Query") return { ...input, ConsistentRead: false } as never;
  return input;
};

const staleIndexKeys = (operation: string, input: Input): Input => {
  if (operation !== "UpdateItem") return input;
  const { ExpressionAttributeValues: values = {}, ...rest } = input as OperationInputs["UpdateItem"];
  const key = Object.entries(values).find(([, value]) => "S" in value && /^follows./.test(value.S))?.[0];
  const old = Object.entries(values).map(([name, value]) => [name, name === key && "S" in value ? { S: `${value.S}old` } : value]);
  return { ...rest, ExpressionAttributeValues: Object.fromEntries(old) } as never;
};

/** Says that it wrote, and did not. */
const acknowledgesNothing: Sabotage = (transport) => {
  let count = 0;
  const send: Send = async (operation, input, options) => {
    if (operation === "TransactWriteItems" && ++count % 5 === 0) return {} as never;
    return transport.send(operation, input, options);
  };
  return { send, close: () => transport.close() };
};

export const throwsAnything: Sabotage = (transport) => {
  let count = 0;
  const send: Send = (operation, input, options) =>
    ++count % 10 === 0 ? Promise.reject(new TypeError("fetch failed")) : transport.send(operation, input, options);
  return { send, close: () => transport.close() };
};

/** Runs writes that no token guards a second time, some requests later. */
export const repeatsLate =
  (...operations: readonly string[]): Sabotage =>
  (transport) => {
    const waiting: (() => Promise<unknown>)[] = [];
    const send: Send = async (operation, input, options) => {
      if (waiting.length > 1)
        await waiting
          .shift()?.()
          .catch(() => undefined);
      const output = await transport.send(operation, input, options);
      if (operations.includes(operation)) waiting.push(() => transport.send(operation, input, options));
      return output;
    };
    return { send, close: () => transport.close() };
  };

/** Ways to break the library's word, and what the checker has to say of each. */
export const sabotages: readonly { readonly name: string; readonly sabotage: Sabotage; readonly complaint: RegExp }[] = [
  { name: "transactions lose their token", sabotage: changing(withoutToken), complaint: /applied twice|no order of these calls/ },
  { name: "an edge's second copy is left out", sabotage: changing(half), complaint: /torn (friend|tagged)/ },
  { name: "consistent reads are not", sabotage: changing(neverConsistent), complaint: /no order of these calls|is lost/ },
  { name: "index keys go stale", sabotage: changing(staleIndexKeys), complaint: /stale attribute/ },
  { name: "a write is acknowledged and lost", sabotage: acknowledgesNothing, complaint: /is lost|no order of these calls/ },
  { name: "an error has no type", sabotage: throwsAnything, complaint: /no EdgetableError/ },
  { name: "a write happens again after another", sabotage: repeatsLate("UpdateItem", "PutItem"), complaint: /no order of these calls/ },
];
