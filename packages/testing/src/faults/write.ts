import type { BatchWriteItemInput, BatchWriteItemOutput, Operation, OperationInputs, OperationOutputs } from "edgetable";
import { recordedWrite } from "../past/recorded-write.ts";
import { partialWrites } from "./batches.ts";
import type { Call } from "./kinds.ts";
import type { Liar, Turn } from "./liar.ts";

/** Sends a write; what it replaces is recorded first where reads may look back. */
export const write = <O extends Operation>(
  liar: Liar,
  call: { operation: O; input: OperationInputs[O] },
  turn: Turn,
): Promise<OperationOutputs[O]> => {
  const run = (): Promise<OperationOutputs[O]> => liar.inner.send(call.operation, call.input, turn.options);
  return liar.records ? recordedWrite(liar.past, call as unknown as Call, run) : run();
};

/** Sends a batch of writes, or that part of it which its fate lets through. */
export const writeBatch = (liar: Liar, input: BatchWriteItemInput, turn: Turn): Promise<BatchWriteItemOutput> => {
  const ask = (part: BatchWriteItemInput): Promise<BatchWriteItemOutput> => write(liar, { operation: "BatchWriteItem", input: part }, turn);
  const { fault } = turn.decision;
  if (fault === undefined) return ask(input);
  if (fault.fault === "unprocessed") {
    liar.note(fault);
    return partialWrites(input, fault, ask);
  }
  // A lost answer: `amount` is the share that took effect, so the rest is what stays undone.
  const share = fault.amount ?? 1;
  return share >= 1 ? ask(input) : partialWrites(input, { ...fault, amount: 1 - share }, ask);
};
