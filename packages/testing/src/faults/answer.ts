import { type Operation, type OperationOutputs, isEdgetableError } from "edgetable";
import { faultError } from "./errors.ts";
import type { Call } from "./kinds.ts";
import type { Liar, Turn } from "./liar.ts";
import { readBatch, readItem, readQuery, readScan } from "./read.ts";
import { write, writeBatch } from "./write.ts";

type Output = OperationOutputs[Operation];

const administer = async (liar: Liar, call: Call, turn: Turn): Promise<Output> => {
  const output = await liar.inner.send(call.operation, call.input, turn.options);
  if (call.operation !== "DeleteTable" && call.operation !== "CreateTable") return output;
  liar.past.shapes.forget(call.input.TableName);
  liar.past.history.forget(call.input.TableName);
  return output;
};

const perform = (liar: Liar, call: Call, turn: Turn): Promise<Output> => {
  switch (call.operation) {
    case "GetItem":
      return readItem(liar, call.input, turn);
    case "BatchGetItem":
      return readBatch(liar, call.input, turn);
    case "Query":
      return readQuery(liar, call.input, turn);
    case "Scan":
      return readScan(liar, call.input, turn);
    case "BatchWriteItem":
      return writeBatch(liar, call.input, turn);
    case "PutItem":
    case "UpdateItem":
    case "DeleteItem":
    case "TransactWriteItems":
      return write(liar, call, turn);
    default:
      return administer(liar, call, turn);
  }
};

/** Once the write is under way its own refusal is lost with its answer, as on a broken line. */
const losingTheAnswer = async (work: Promise<Output>): Promise<void> => {
  try {
    await work;
  } catch (error) {
    if (!isEdgetableError(error) || error.code === "execute.aborted") throw error;
  }
};

/** Answers one request as its fate has it: with the truth, less than the truth, or an error. */
export const answer = async (liar: Liar, call: Call, turn: Turn): Promise<Output> => {
  const { fault, latency } = turn.decision;
  const { signal, timeout } = turn.options;
  if (latency[0] > 0) await liar.effects.sleep(latency[0], signal);
  const error = fault && faultError(call, fault);
  if (fault === undefined || error === undefined) {
    const output = await perform(liar, call, turn);
    if (latency[1] > 0) await liar.effects.sleep(latency[1], signal);
    return output;
  }
  liar.note(fault);
  if (fault.fault.endsWith("After")) await losingTheAnswer(perform(liar, call, turn));
  if (fault.fault.startsWith("timeout") && timeout !== undefined) await liar.effects.sleep(timeout, signal);
  throw error;
};
