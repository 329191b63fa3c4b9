import type { Student } from "../calls/calls.ts";

export interface LoadPlace {
  readonly endpoint: string;
  readonly table: string;
}

/** Writes every row of the iterable, with at most `requestsUnderWay` requests open, and resolves when all are written. */
export type Loader = (rows: AsyncIterable<Student>, place: LoadPlace) => Promise<unknown>;

/** Enough to keep the engine, which works on one request at a time, from ever waiting. */
export const requestsUnderWay = 8;
