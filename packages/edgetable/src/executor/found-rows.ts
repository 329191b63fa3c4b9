import { inKeysCase, sameValue } from "../keys/template.ts";
import { type Row, valueAt } from "../util/row.ts";
import { acceptItems, type Found, nextPage, openPartition, type ReadRun, type Rows } from "./read-rows.ts";

/** Reads the range of a row's key up to the row that is asked for, in whatever case the table's keys hold its id. */
const findRow = async (run: ReadRun, identity: readonly string[]): Promise<readonly Found[]> => {
  const { binding } = run;
  const partition = openPartition(run, 0);
  const isAsked = ({ shape: { folded }, row }: Found): boolean =>
    identity.every((path) => sameValue(inKeysCase(folded[path], valueAt(row, path)), inKeysCase(folded[path], valueAt(binding.row, path))));
  for (;;) {
    const output = await nextPage(run, partition, { limit: undefined });
    const found = acceptItems(run, 0, output?.Items ?? []).find(isAsked);
    if (found) return [found];
    if (!output || partition.done) return [];
  }
};

/**
 * Finds rows by their ids, where the sort key holds more: each by a Query of its own, in the order of the ids.
 *
 * @param identity the fields of the id, which the key condition does not take
 */
export const findRows = async (run: ReadRun, identity: readonly string[], rows: readonly Row[]): Promise<Rows> => {
  const found = await Promise.all(rows.map(async (row) => findRow({ ...run, binding: { row, values: [] } }, identity)));
  return { found: found.flat(), next: undefined };
};
