import { BATCH_WRITE_ITEMS } from "../../requests/encode-batch-write.ts";
import type { WriteRequest } from "../../transport/operations.ts";
import type { RowItem } from "./plan-row.ts";

// An input that makes one key over and over must not keep a batch open for ever.
const MOST_OVERTAKING = 10 * BATCH_WRITE_ITEMS;

/** Something to wait for, where there is anything: most rows only fill a batch. */
export type Pause = Promise<unknown> | undefined;

/** Items of several rows, written by one request. */
export interface Batch {
  readonly firstRow: number;
  /** By key, so that a key is in a batch once, as the last row left it. */
  readonly requests: Map<string, { readonly request: WriteRequest; readonly rows: number[] }>;
  /** Items put into it, those that were overtaken included. */
  items: number;
}

/** The batch that rows fill. */
export interface Batches {
  /** Adds a row's items; gives what to wait for where that fills a batch. */
  add(row: number, items: readonly RowItem[]): Pause;
  /** Sends the open batch as it is, where there is one. */
  flush(): Promise<void>;
  /** Whether the open batch writes to one of these keys. */
  writes(ids: readonly string[]): boolean;
  /** The first row of the open batch, or `end` where none is open. */
  firstRow(end: number): number;
}

/** Fills one batch after the other. `send` resolves when there is room for the next. */
export const openBatches = (send: (batch: Batch) => Promise<void>): Batches => {
  let open: Batch | undefined;
  const flush = async (): Promise<void> => {
    const batch = open;
    open = undefined;
    if (batch) await send(batch);
  };
  return {
    flush,
    add: (row, items) => {
      let pause: Pause;
      for (const { id, item } of items) {
        const batch = (open ??= { firstRow: row, requests: new Map(), items: 0 });
        const rows = batch.requests.get(id)?.rows ?? [];
        rows.push(row);
        batch.requests.set(id, { request: { PutRequest: { Item: item } }, rows });
        batch.items++;
        if (batch.requests.size < BATCH_WRITE_ITEMS && batch.items < MOST_OVERTAKING) continue;
        const sent = flush();
        pause = pause ? Promise.all([pause, sent]) : sent;
      }
      return pause;
    },
    writes: (ids) => open !== undefined && ids.some((id) => open?.requests.has(id)),
    firstRow: (end) => open?.firstRow ?? end,
  };
};
