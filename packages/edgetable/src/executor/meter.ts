import type { ConsumedCapacity, Operation, OperationInputs, OperationOutputs } from "../transport/operations.ts";
import type { Drift, DriftedItem } from "./reading-options.ts";

/** One request that was sent, as hooks and reports see it. */
export interface SentRequest {
  readonly operation: Operation;
  /** The index that was queried. */
  readonly index: string | undefined;
  readonly input: unknown;
  /** Attempts made, the answered one included. */
  readonly attempts: number;
  /** Milliseconds from the first attempt to the answer. */
  readonly duration: number;
  /** Items that DynamoDB read to answer, before filters. */
  readonly itemsRead: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** What a call consumed. */
export interface Cost {
  readonly requests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** What nothing consumes. */
export const NO_COST: Cost = { requests: 0, readUnits: 0, writeUnits: 0 };

/** What two consume together. */
export const addCosts = (a: Cost, b: Cost): Cost => ({
  requests: a.requests + b.requests,
  readUnits: a.readUnits + b.readUnits,
  writeUnits: a.writeUnits + b.writeUnits,
});

const READS: ReadonlySet<Operation> = new Set<Operation>(["GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"]);

type Consumed = ConsumedCapacity | readonly ConsumedCapacity[] | undefined;

const isList = (consumed: Consumed): consumed is readonly ConsumedCapacity[] => Array.isArray(consumed);

/** Capacity units of an answer, table and indexes together. */
const consumedUnits = (output: object): number => {
  const consumed = (output as { readonly ConsumedCapacity?: Consumed }).ConsumedCapacity;
  if (!isList(consumed)) return consumed?.CapacityUnits ?? 0;
  return consumed.reduce((sum, one) => sum + (one.CapacityUnits ?? 0), 0);
};

const itemsRead = <O extends Operation>(operation: O, output: OperationOutputs[O]): number => {
  switch (operation) {
    case "GetItem":
      return (output as OperationOutputs["GetItem"]).Item ? 1 : 0;
    case "Query":
    case "Scan":
      return (output as OperationOutputs["Query"]).ScannedCount ?? (output as OperationOutputs["Query"]).Count ?? 0;
    case "BatchGetItem":
      return Object.values((output as OperationOutputs["BatchGetItem"]).Responses ?? {}).reduce((sum, items) => sum + items.length, 0);
    case "TransactGetItems":
      return ((output as OperationOutputs["TransactGetItems"]).Responses ?? []).filter((response) => response.Item).length;
    default:
      return 0;
  }
};

/** Describes an answered request. */
export const describeRequest = <O extends Operation>(
  request: { readonly operation: O; readonly input: OperationInputs[O]; readonly attempts: number; readonly duration: number },
  output: OperationOutputs[O],
): SentRequest => {
  const units = consumedUnits(output);
  const reads = READS.has(request.operation);
  const { operation, input, attempts, duration } = request;
  return {
    operation,
    input,
    attempts,
    duration,
    index: (input as { readonly IndexName?: string }).IndexName,
    itemsRead: itemsRead(operation, output),
    readUnits: reads ? units : 0,
    writeUnits: reads ? 0 : units,
  };
};

/** How many drifted items are named; all are counted. */
const MOST_DRIFTED = 10;

/** Sums what a call's requests consumed. Only the first `most` requests are kept; all are counted. */
export class Meter {
  readonly requests: SentRequest[] = [];
  readonly #most: number;
  #count = 0;
  readUnits = 0;
  writeUnits = 0;
  /** Items that could not be read as rows. */
  strays = 0;
  readonly #drifted: DriftedItem[] = [];
  #drifts = 0;

  constructor(most: number = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  add(request: SentRequest): void {
    this.#count++;
    this.readUnits += request.readUnits;
    this.writeUnits += request.writeUnits;
    if (this.requests.length < this.#most) this.requests.push(request);
  }

  /** Notes a copy that disagrees with its key. */
  drifts(one: DriftedItem): void {
    this.#drifts++;
    if (this.#drifted.length < MOST_DRIFTED) this.#drifted.push(one);
  }

  get drifted(): Drift {
    return { items: this.#drifts, first: this.#drifted };
  }

  get cost(): Cost {
    return { requests: this.#count, readUnits: this.readUnits, writeUnits: this.writeUnits };
  }
}
