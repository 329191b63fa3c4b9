import { renderPartitions } from "../../keys/partitions.ts";
import { growthOf, type Template } from "../../keys/template.ts";
import { decodeItem, shapeOf } from "../../requests/decode-item.ts";
import { keyTextOf } from "../../requests/attribute-value.ts";
import { keyAttribute, keyOfItem } from "../../requests/encode-item.ts";
import { encodePartition } from "../../requests/encode-direct.ts";
import { encodeSingle } from "../../requests/encode-write.ts";
import type { UpdateStep, Term } from "../../ir/write-plan.ts";
import type { Catalog, Index, Shape } from "../../schema/catalog.ts";
import { otherPlace } from "../../schema/catalog.ts";
import { withShards } from "../../schema/between-models.ts";
import { descriptionHash, describeModel } from "../../schema/describe-model.ts";
import type { Item, Key, QueryOutput, UpdateItemInput } from "../../transport/operations.ts";
import { isEdgetableError } from "../../errors/edgetable-error.ts";
import { hexHashOf } from "../../util/hash-text.ts";
import { own } from "../../util/row.ts";
import { batchGet } from "../batch.ts";
import type { Cost } from "../call.ts";
import { isFailedCondition } from "../failed-term.ts";
import { readRecord } from "../model-record.ts";
import { writeRecord } from "../write-record.ts";
import { bookkeeping, type JobFacts, takeLease } from "../jobs/job-store.ts";
import { newRun, pace, REQUEST_DEADLINE, type Run, runJob, step, waitIn } from "../jobs/run-job.ts";
import type { CallContext, Session } from "../session.ts";

/** Options of a resharding. */
export interface ReshardSettings {
  readonly index: string | undefined;
  /** Maximum number of items moved per second. */
  readonly rate: number;
  readonly job: string;
  /** Milliseconds for which the job's lease is valid. */
  readonly lease: number;
  /** Milliseconds until the index is assumed to show moved items. */
  readonly indexLag: number;
  readonly signal: AbortSignal | undefined;
  /** Time (as `Effects.now` returns it) after which no step begins. */
  readonly deadline: number;
  readonly onProgress: ((progress: ReshardProgress) => void) | undefined;
  /** True to record in the table's record where the items are now. A migration writes the record at its own end. */
  readonly records: boolean;
  /** Distinguishes the job from one that an earlier migration left behind, whose position proves nothing. */
  readonly begun?: string;
}

/** The progress of a resharding. */
export interface ReshardProgress {
  /** Items moved, by every run of the job. */
  readonly moved: number;
  /** Items read. */
  readonly seen: number;
  /** The number of places that this pass has finished, and their total number. */
  readonly partitions: { readonly done: number; readonly all: number };
  /** Passes begun. The last one finds nothing to move. */
  readonly passes: number;
}

/** What a resharding did. */
export interface ReshardReport extends ReshardProgress {
  /** Of this run alone. */
  readonly cost: Cost;
}

/** A part of an index that may contain items which writers would now put into another shard. */
interface OldPlace {
  readonly index: Index;
  /** The key attribute with the shard. */
  readonly attribute: string;
  readonly shapes: readonly Shape[];
  /** One partition key; undefined if they cannot be listed: then the index is scanned. */
  readonly partition: string | undefined;
}

const partitionsOf = (template: Template): readonly (string | undefined)[] => {
  const partitions = renderPartitions(template, {});
  if (!partitions) return [undefined];
  // The greatest of the old counts: shards from this number on contain no old items.
  let oldCount = 0;
  for (const part of template.parts) {
    if (part.kind !== "field" || part.format.kind !== "shard") continue;
    const { counts, hot = {} } = part.format.sharding;
    for (const [, ...old] of [counts, ...Object.values(hot)]) oldCount = Math.max(oldCount, ...old);
  }
  return partitions.filter(({ shard }) => shard < oldCount).map(({ text }) => text);
};

/** The places whose items may have to move, of one index or of all, in an order that depends only on the model. */
const oldPlaces = ({ index: table, indexes, shapes }: Catalog, wanted: string | undefined): readonly OldPlace[] => {
  const all: OldPlace[] = [];
  for (const index of indexes) {
    if (wanted !== undefined && index.name !== wanted) continue;
    for (const attribute of index.partitionKeys) {
      if (attribute === table.partitionKey || attribute === table.sortKey) continue;
      const byPartition = new Map<string | undefined, Shape[]>();
      for (const shape of shapes) {
        const template = shape.keys[attribute];
        if (!template || !growthOf(template)) continue;
        // If the partition key has several attributes, a shard by itself is not a partition.
        const partitions = index.partitionKeys.length > 1 ? [undefined] : partitionsOf(template);
        for (const partition of partitions) byPartition.set(partition, [...(byPartition.get(partition) ?? []), shape]);
      }
      for (const [partition, found] of byPartition) all.push({ index, attribute, shapes: found, partition });
    }
  }
  return all;
};

/**
 * Records where the items are now, so that a model that does not read these shards is refused, and a model without the old count is
 * accepted. A program that may not read or write the record leaves it.
 */
const recordShards = async (run: Resharding): Promise<void> => {
  const { session, places } = run;
  const attributes = new Set(places.map(({ attribute }) => attribute));
  try {
    for (let isWritten = false; !isWritten;) {
      const record = await step(run, async (context) => readRecord(session, context));
      const { current } = record;
      if (!current || record.migration) return;
      const { model, kinds } = withShards(current.model, describeModel(session.catalog), (attribute) => attributes.has(attribute));
      if (kinds.length === 0) return;
      const now = { ...current, hash: descriptionHash(model), model };
      isWritten = await step(run, async (context) => writeRecord(session, record, { current: now, migration: undefined }, context));
    }
  } catch (error) {
    if (!isEdgetableError(error, "execute.accessDenied")) throw error;
  }
};

const PAGE = 100;

const STALE = { reason: "staleRead" } as const;

/** Moves one item to the shard where a writer would put it now. Returns false if it is already there, or has changed since it was read. */
const moveItem = async (session: Session, place: OldPlace, item: Item, context: CallContext): Promise<boolean> => {
  const { catalog } = session;
  const { attribute } = place;
  const from = own(item, attribute);
  const shape = shapeOf(catalog, place.shapes, item);
  if (!shape || from === undefined) return false;
  const value = keyAttribute(catalog, shape, attribute, decodeItem(catalog, shape, item));
  const to = value && keyTextOf(value);
  if (to === undefined || ("S" in from && from.S === to)) return false;
  // The key is changed only if it, and the attributes that decide its shard count, are as they were read.
  const deciding = (shape.keys[attribute]?.optional ?? []).flatMap((field) => [
    shape.stored[field] ?? field,
    otherPlace(shape, field) ?? field,
  ]);
  const terms: Term[] = [];
  for (const name of [attribute, ...deciding]) terms.push({ kind: "equals", attribute: name, value: own(item, name), failure: STALE });
  const changes = { set: { [attribute]: { S: to } }, remove: [], add: {}, append: {} };
  const move: UpdateStep = { kind: "update", key: keyOfItem(catalog, item), shape: undefined, terms, changes };
  const { input } = encodeSingle({ table: catalog.table, partitionKey: catalog.index.partitionKey }, move);
  try {
    await session.send("UpdateItem", input as UpdateItemInput, context);
    return true;
  } catch (error) {
    // Another writer has moved the item, or the response to an attempt that moved it was lost.
    if (isFailedCondition(error)) return false;
    throw error;
  }
};

/** Items moved at the same time. */
const MOVED_AT_ONCE = 8;

/** Moves the items of a page, and returns their number. */
const moveItems = async (session: Session, place: OldPlace, found: readonly Item[], context: CallContext): Promise<number> => {
  let items = found;
  if (place.index.projection !== "ALL" && found.length > 0) {
    const keys = found.map((item) => keyOfItem(session.catalog, item));
    items = await batchGet(session, { keys, consistent: true }, context);
  }
  let moved = 0;
  for (let at = 0; at < items.length; at += MOVED_AT_ONCE) {
    const done = await Promise.all(items.slice(at, at + MOVED_AT_ONCE).map((item) => moveItem(session, place, item, context)));
    moved += done.filter(Boolean).length;
  }
  return moved;
};

/** One run of a resharding, and its position: a place of the list, and a key in it. */
interface Resharding extends Run {
  readonly settings: ReshardSettings;
  readonly places: readonly OldPlace[];
  /** Tells the places from those of another model. */
  readonly list: string;
  at: number;
  start: Key | undefined;
  moved: number;
  seen: number;
  passes: number;
  movedInPass: number;
}

const progressOf = ({ moved, seen, passes, at, places }: Resharding): ReshardProgress => ({
  moved,
  seen,
  passes,
  partitions: { done: at, all: places.length },
});

const factsOf = ({ list, at, start, moved, seen, passes, movedInPass }: Resharding): JobFacts => ({
  list,
  at,
  start: start ? JSON.stringify(start) : "",
  moved,
  seen,
  passes,
  fresh: movedInPass,
});

/**
 * Passes over all places until a pass finds nothing to move. A pass that moved items may have missed concurrent writes. Before each
 * pass it waits until the indexes show all earlier writes.
 */
const moveAll = async (run: Resharding): Promise<void> => {
  const { session, settings, places } = run;
  const { table } = session.catalog;
  const readPage = ({ index, partition }: OldPlace, context: CallContext): Promise<QueryOutput> => {
    const { start } = run;
    if (partition !== undefined) return session.send("Query", encodePartition(table, { index, partition, start, limit: PAGE }), context);
    const input = { TableName: table, IndexName: index.name ?? "", Limit: PAGE, ...(start ? { ExclusiveStartKey: start } : {}) };
    return session.send("Scan", { ...input, ReturnConsumedCapacity: "TOTAL" }, context);
  };
  for (;;) {
    await waitIn(run, settings.indexLag);
    for (let place = places[run.at]; place; place = places[run.at]) {
      const current = place;
      const moved = await step(run, async (context) => {
        const { Items = [], LastEvaluatedKey } = await readPage(current, context);
        const count = await moveItems(session, current, Items, context);
        run.moved += count;
        run.movedInPass += count;
        run.seen += Items.length;
        run.start = LastEvaluatedKey;
        if (run.start === undefined) run.at++;
        return count;
      });
      settings.onProgress?.(progressOf(run));
      // Each item that is moved is a write of the table and two of the index.
      await pace(run, moved, settings.rate);
    }
    if (run.movedInPass === 0) return;
    Object.assign(run, { at: 0, start: undefined, movedInPass: 0, passes: run.passes + 1 });
  }
};

/**
 * Moves items to the shards where writers now put them. It may be interrupted and called again, and runs alongside writers: an item
 * is only changed if it has not changed since it was read.
 *
 * @throws {job.busy} while another process is running it
 */
export const runReshard = async (session: Session, settings: ReshardSettings): Promise<ReshardReport> => {
  const places = oldPlaces(session.catalog, settings.index);
  const limits = { signal: settings.signal, deadline: settings.deadline };
  const run: Resharding = {
    ...newRun(session, { what: "The resharding", advice: "Moved items stay moved; call again to resume.", ...limits }),
    settings,
    places,
    // Hashed, because every renewal of the lease writes it: a list of a thousand places would cost 20 units.
    list: hexHashOf(
      [
        ...(settings.begun === undefined ? [] : [settings.begun]),
        ...places.map(({ index, partition }) => `${index.name} ${partition ?? "*"}`),
      ].join(),
    ),
    at: 0,
    start: undefined,
    moved: 0,
    seen: 0,
    passes: 1,
    movedInPass: 0,
  };
  if (places.length === 0) return { ...progressOf(run), passes: 0, cost: run.cost };
  const reshard = async (): Promise<ReshardReport> => {
    const request = { id: settings.job, kind: "reshard", duration: settings.lease, facts: factsOf(run), resumes: false } as const;
    run.lease = await takeLease(session, request, { ...bookkeeping(session, REQUEST_DEADLINE), signal: run.signal });
    const { facts } = run.lease.job;
    run.moved = Number(facts["moved"] ?? 0);
    run.seen = Number(facts["seen"] ?? 0);
    run.passes = Number(facts["passes"] ?? 1);
    // If the list differs, it belongs to another model. The pass then begins again, which only costs reads.
    if (facts["list"] === run.list) {
      run.at = Number(facts["at"] ?? 0);
      run.movedInPass = Number(facts["fresh"] ?? 0);
      run.start = facts["start"] ? (JSON.parse(String(facts["start"])) as Key) : undefined;
    }
    const work = async (): Promise<void> => {
      await moveAll(run);
      if (settings.records) await recordShards(run);
    };
    await runJob(session, run.lease, { facts: () => factsOf(run), run: work });
    return { ...progressOf(run), cost: run.cost };
  };
  return run.track(reshard());
};
