import { setTimeout as sleep } from "node:timers/promises";
import {
  createLeanTransport,
  EdgetableError,
  type Item,
  type LeanTransportOptions,
  type OperationInputs,
  type OperationOutputs,
  type Transport,
} from "edgetable";
import { failureOf } from "../failure.ts";

/** A scan of a whole table. */
export interface Scan {
  readonly table: string;
  /** Parts of the table that are read side by side, 1 to 100. */
  readonly segments: number;
  readonly connection: LeanTransportOptions;
  readonly signal: AbortSignal;
}

/** One page of a scan, and what it cost. */
export interface ScannedPage {
  readonly items: readonly Item[];
  readonly readUnits: number;
}

const attempts = 8;

// The library has no public scan: this is the one place that sends requests past it, and so it has to
// retry by itself.
const send = async (transport: Transport, input: OperationInputs["Scan"], signal: AbortSignal): Promise<OperationOutputs["Scan"]> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transport.send("Scan", input, { signal, timeout: 30_000 });
    } catch (error) {
      if (!(error instanceof EdgetableError) || !error.retryable || attempt >= attempts || signal.aborted) throw error;
      await sleep(Math.random() * Math.min(5_000, 50 * 2 ** attempt), undefined, { signal });
    }
  }
};

// The embedded engine reads all that is left for a page without a limit (ENGINES.md).
const pageLimit = 1_000;

const inputOf = ({ table, segments }: Scan, segment: number): OperationInputs["Scan"] => ({
  TableName: table,
  Limit: pageLimit,
  ReturnConsumedCapacity: "TOTAL",
  ...(segments === 1 ? {} : { Segment: segment, TotalSegments: segments }),
});

async function* scanSegment(transport: Transport, scan: Scan, segment: number): AsyncGenerator<ScannedPage> {
  let start: OperationInputs["Scan"]["ExclusiveStartKey"];
  do {
    const output = await send(
      transport,
      { ...inputOf(scan, segment), ...(start === undefined ? {} : { ExclusiveStartKey: start }) },
      scan.signal,
    );
    yield { items: output.Items ?? [], readUnits: output.ConsumedCapacity?.CapacityUnits ?? 0 };
    start = output.LastEvaluatedKey;
  } while (start !== undefined);
}

/**
 * Reads every item of a table by Scan: half a read unit for each 4 KB of the whole table.
 *
 * @param take is awaited before a segment goes on, so that memory does not grow with the table
 */
export const scanItems = async (scan: Scan, take: (page: ScannedPage) => Promise<void>): Promise<void> => {
  const transport = createLeanTransport(scan.connection);
  try {
    await Promise.all(
      Array.from({ length: scan.segments }, async (_, segment) => {
        for await (const page of scanSegment(transport, scan, segment)) await take(page);
      }),
    );
  } catch (error) {
    throw scan.signal.aborted
      ? new EdgetableError("execute.aborted", "The scan was aborted.", { cause: error })
      : error instanceof Error
        ? error
        : new Error(failureOf(error).message);
  } finally {
    await transport.close();
  }
};
