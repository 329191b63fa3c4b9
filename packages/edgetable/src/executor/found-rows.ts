import type { HydrateStep, QueryStep } from "../ir/physical-plan.ts";
import { inKeysCase, sameValue } from "../keys/template.ts";
import { decodeOwn, isExpired } from "../requests/decode-item.ts";
import { isBetween } from "../requests/encode-read.ts";
import { defined } from "../util/invariant.ts";
import { type Row, valueAt } from "../util/row.ts";
import {
  acceptItems,
  endOf,
  type FindNode,
  type Found,
  nextPage,
  openPartition,
  readRow,
  type ReadRun,
  type Rows,
  shapesOf,
} from "./read-rows.ts";

/** Reads the range of a row's key until it finds the row, whose id may be in any case in the table's keys. */
const findRow = async (run: ReadRun, source: number, { identity = [] }: QueryStep): Promise<readonly Found[]> => {
  const { binding } = run;
  const partition = openPartition(run, source);
  const isAsked = ({ shape: { folded }, row }: Found): boolean =>
    identity.every((path) => sameValue(inKeysCase(folded[path], valueAt(row, path)), inKeysCase(folded[path], valueAt(binding.row, path))));
  for (;;) {
    const output = await nextPage(run, partition, { limit: undefined });
    const found = acceptItems(run, source, output?.Items ?? []).find(isAsked);
    if (found) return [found];
    if (!output || partition.done) return [];
  }
};

/**
 * Finds rows by their ids if the sort key contains more than the id: one Query for each, in the order of the ids. Edges between
 * several node types have a source for each pair.
 */
export const findRows = async (run: ReadRun, rows: readonly Row[]): Promise<Rows> => {
  const { catalog } = run.session;
  const steps = run.plan.sources as readonly QueryStep[];
  const finding = rows.flatMap((row) =>
    steps.map(async (step, source) =>
      shapesOf(catalog, step.shapes).some((shape) => isBetween(shape, row))
        ? findRow({ ...run, binding: { row, values: [] } }, source, step)
        : [],
    ),
  );
  return { found: (await Promise.all(finding)).flat(), next: undefined };
};

/**
 * Adds the node at the far end to each edge, if the node's key does not follow from its id, or if the edge is stored in the node's
 * item.
 */
export const hydrateOthers = async (
  run: ReadRun,
  found: readonly Found[],
  step: HydrateStep,
  findNode: FindNode | undefined,
): Promise<void> => {
  const { session, context } = run;
  const { catalog } = session;
  const add = async (one: Found): Promise<void> => {
    const type = one.shape[endOf(step, one)];
    const end = catalog.ends[type ?? ""];
    if (end?.definition.stored === false) return;
    const shape = end?.shape;
    const item = step.by === "none" ? one.item : undefined;
    let node: Row | undefined;
    if (!item) node = await defined(findNode, "what finds nodes")(defined(type, "node type"), one.row[endOf(step, one)] as Row, context);
    else if (!isExpired(catalog, item, context.livingAt)) node = readRow(run, [one.shape, item], decodeOwn);
    one.node = node && shape && run.parse ? run.parse({ shape, row: node, item }, step) : node;
  };
  await Promise.all(found.map(add));
};
