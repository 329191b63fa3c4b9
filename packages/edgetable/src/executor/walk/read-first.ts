import type { QueryStep } from "../../ir/physical-plan.ts";
import type { PlannedHop } from "../../ir/walk-plan.ts";
import { comparePrimary, type Partition } from "../../keys/template.ts";
import { partitionsOf, shareOf } from "../../requests/encode-scatter.ts";
import type { Item } from "../../transport/operations.ts";
import { sortTextOf } from "../lane.ts";
import { FIRST_ITEMS } from "../page-of.ts";
import { nameOf } from "../ties.ts";
import { isAmount } from "./amount.ts";
import { pageLimit, takeFirst, type Ends, type Reading, type Source } from "./reading.ts";
import type { WalkRun } from "./walk-run.ts";
import type { FirstEdge, Merge, Work } from "./walk-state.ts";

interface FirstOf {
  readonly work: Work;
  readonly reading: Reading;
  readonly id: Readonly<Record<string, unknown>>;
  readonly source: Source;
}

type Place = Pick<FirstEdge, "sort" | "order">;

const comparePlaces = (step: QueryStep, a: Place, b: Place): number => {
  const order = comparePrimary(a.sort, b.sort) || a.order - b.order;
  return step.forward ? order : -order;
};

/** One partition that may hold edges before the last of those that are known. */
interface Open {
  readonly order: number;
  readonly partition: Partition;
}

const isOpen = (merge: Merge, step: QueryStep, at: { readonly order: number; readonly wanted: number }): boolean => {
  const start = merge.lanes[at.order]?.start;
  const last = merge.first[at.wanted - 1];
  if (start === null || start === undefined || !last) return start !== null;
  return comparePlaces(step, { sort: sortTextOf(step, start), order: at.order }, last) < 0;
};

// While shards grow, an edge leaves for a later turn's partition: whoever has read its own by then meets it there.
const openLanes = (
  merge: Merge,
  step: QueryStep,
  at: { readonly partitions: readonly Partition[]; readonly wanted: number },
): readonly Open[] => {
  const open = at.partitions.flatMap((partition, order) =>
    isOpen(merge, step, { order, wanted: at.wanted }) ? [{ order, partition }] : [],
  );
  const turn = Math.min(...open.map(({ partition }) => partition.turn));
  return open.filter(({ partition }) => partition.turn === turn);
};

const edgesIn = (
  run: WalkRun,
  { source, reading }: FirstOf,
  { order, items }: { readonly order: number; readonly items: readonly Item[] },
): readonly FirstEdge[] =>
  items.flatMap((item): readonly FirstEdge[] => {
    const ends: Ends = { keys: [], values: reading.ends.values && [] };
    source.take({ Items: [item] }, ends);
    const [end] = ends.keys;
    if (end === undefined) return [];
    const value = ends.values?.[0];
    const name = nameOf(run.session.catalog, item);
    return [{ sort: sortTextOf(source.step, item), order, name, end, value: isAmount(value) ? value : undefined }];
  });

const addFirst = (
  merge: Merge,
  step: QueryStep,
  { more, wanted }: { readonly more: readonly FirstEdge[]; readonly wanted: number },
): void => {
  const known = new Set(merge.first.map(({ name }) => name));
  const all = [...merge.first, ...more.filter(({ name }) => !known.has(name))];
  merge.first = all.toSorted((a, b) => comparePlaces(step, a, b)).slice(0, wanted);
};

const readLane = async (
  run: WalkRun,
  first: FirstOf,
  { merge, open, limit }: { readonly merge: Merge; readonly open: Open; readonly limit: number },
): Promise<readonly FirstEdge[]> => {
  const { order, partition } = open;
  const lane = merge.lanes[order];
  const input = first.source.query.encode(first.id, {
    partition: partition.text,
    limit,
    start: lane?.start ?? undefined,
    livingAt: run.context.livingAt,
  });
  const output = input && (await run.session.send("Query", input, run.context));
  run.width.answered();
  first.reading.read += output?.ScannedCount ?? output?.Items?.length ?? 0;
  merge.lanes[order] = { start: output?.LastEvaluatedKey ?? null, rounds: (lane?.rounds ?? 0) + 1 };
  return edgesIn(run, first, { order, items: output?.Items ?? [] });
};

// A partition that has to be asked again holds more than its share.
const roundOf = (
  run: WalkRun,
  hop: PlannedHop,
  {
    merge,
    lanes,
    wanted,
    read,
  }: { readonly merge: Merge; readonly lanes: readonly Open[]; readonly wanted: number; readonly read: number },
): readonly { readonly open: Open; readonly limit: number }[] => {
  const filters = hop.conditions.length > 0;
  const share = filters ? Math.max(FIRST_ITEMS, shareOf(wanted, lanes.length)) : shareOf(wanted, lanes.length);
  let left = pageLimit(run, { ...hop, limit: undefined }, { read, found: 0 });
  return lanes.slice(0, run.width.now()).flatMap((open) => {
    if (left <= 0) return [];
    const asked = share * 2 ** Math.min(merge.lanes[open.order]?.rounds ?? 0, 10);
    const limit = Math.min(left, asked);
    left -= limit;
    return [{ open, limit }];
  });
};

const finish = (reading: Reading): void => {
  takeFirst(reading);
  reading.part++;
};

/**
 * Reads on in the partitions of a source that a hop's limit is over: one round of Queries, side by side.
 * When none of them can hold an earlier edge any more, the first ones are taken.
 *
 * @throws what its requests throw, once what the others gave is kept
 */
export const readFirst = async (run: WalkRun, hop: PlannedHop, first: FirstOf): Promise<void> => {
  const { reading, source, id, work } = first;
  const { step } = source;
  const partitions = partitionsOf(run.session.catalog, step, { row: { from: id, to: id }, values: run.request.values });
  const wanted = (hop.limit ?? 0) - work.taken - reading.ends.keys.length;
  const merge = (reading.merge ??= { lanes: [], first: [] });
  const lanes = openLanes(merge, step, { partitions, wanted });
  if (lanes.length === 0) return finish(reading);
  const round = roundOf(run, hop, { merge, lanes, wanted, read: reading.read });
  const answers = await Promise.allSettled(round.map(async ({ open, limit }) => readLane(run, first, { merge, open, limit })));
  const more = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  addFirst(merge, step, { more, wanted });
  const failed = answers.find((answer) => answer.status === "rejected");
  if (failed) throw failed.reason;
  if (openLanes(merge, step, { partitions, wanted }).length === 0) finish(reading);
};
