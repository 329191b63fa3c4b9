import { readFirst } from "./read-first.ts";
import { EdgetableError } from "../../errors/edgetable-error.ts";
import { holds } from "../../ir/evaluate-condition.ts";
import type { QueryStep, ReadPlan } from "../../ir/physical-plan.ts";
import { foldedField, type PlannedHop } from "../../ir/walk-plan.ts";
import { hopQuery } from "../../requests/encode-scatter.ts";
import { refers, shapeOf } from "../../requests/decode-item.ts";
import type { QueryInput, QueryOutput } from "../../transport/operations.ts";
import type { TextColumn } from "../../transport/transport.ts";
import { defined } from "../../util/invariant.ts";
import type { CallContext } from "../session.ts";
import { endColumn, endReader } from "./end-reader.ts";
import type { NodeKey } from "./node-names.ts";
import { memberOf, type Work } from "./walk-state.ts";
import { pageLimit, takeFirst, type Ends, type Part, type Reading, type Source } from "./reading.ts";
import { isEnd, refuseSupernode, type WalkRun } from "./walk-run.ts";
import { type Row, own } from "../../util/row.ts";
import { readRow } from "../read-rows.ts";

/** What reading a node gave, and what of it is left. */
export interface Expanded extends Ends {
  readonly work: Work;
  readonly rest: Work | undefined;
  /** Why there is a rest. */
  readonly why: "stopped" | "breadth" | undefined;
}

/** Of a run, what its requests depend on. */
type Asked = Pick<WalkRun, "session" | "context" | "names" | "request">;

const takeEnds = (run: Asked, step: QueryStep, end: "from" | "to"): Pick<Source, "take" | "column"> => {
  const { catalog } = run.session;
  const read = endReader(catalog, run.names, { step, end });
  const ending = endColumn(catalog, run.names, { step, end });
  const take: Source["take"] = ({ Texts, Items = [] }, { keys }) => {
    const push = (key: NodeKey | undefined): void => void (key !== undefined && keys.push(key));
    if (Texts && ending) for (const text of Texts) push(ending.read(text));
    else for (const item of Items) push(read(item));
  };
  return { take, column: ending?.column };
};

const takeRows = (run: Asked, at: { readonly plan: ReadPlan; readonly step: QueryStep; readonly end: "from" | "to" }): Source["take"] => {
  const { catalog } = run.session;
  const field = foldedField(run.request.plan.collect);
  const shapes = at.step.shapes.map((id) => defined(catalog.shapesById[id], id));
  const conditions = at.plan.filter?.conditions ?? [];
  return ({ Items = [] }, { keys, values }) => {
    for (const item of Items) {
      const shape = shapeOf(catalog, shapes, item);
      const row = shape && readRow(run, [shape, item]);
      if (!row || !refers(shape, row) || conditions.some((condition) => !holds(condition, row, run.request.values))) continue;
      keys.push(run.names.pack(defined(shape[at.end], "end"), row[at.end] as Row));
      if (field !== undefined) values?.push(own(row, field));
    }
  };
};

const sourcesOf = (run: Asked, plan: ReadPlan): readonly Source[] =>
  plan.sources.flatMap((step, at) => {
    if (step.kind !== "query") return [];
    const near = plan.near[at] ?? "from";
    const end = near === "from" ? "to" : "from";
    const query = hopQuery(run.session.catalog, step, { near, values: run.request.values });
    const taking = step.attributes ? takeEnds(run, step, end) : { take: takeRows(run, { plan, step, end }), column: undefined };
    return [{ step, query, ...taking }];
  });

/** Reads the edges of one node after another. */
export type EdgeReader = (work: Work) => Promise<Expanded>;

const isFull = (hop: PlannedHop, { ends }: Reading, work: Work): boolean =>
  hop.limit !== undefined && work.taken + ends.keys.length >= hop.limit;

const trim = (hop: PlannedHop, { ends }: Reading, work: Work): void => {
  if (hop.limit === undefined) return;
  ends.keys.length = Math.min(ends.keys.length, hop.limit - work.taken);
  if (ends.values) ends.values.length = ends.keys.length;
};

interface ReadingAt {
  readonly work: Work;
  readonly reading: Reading;
  readonly id: Row;
  readonly contextOf: (source: Source) => CallContext;
}

const nextInput = (
  run: WalkRun,
  hop: PlannedHop,
  { reading, part, id }: Pick<ReadingAt, "reading" | "id"> & { readonly part: Part },
): QueryInput | undefined => {
  const page = {
    partition: part.partition,
    limit: pageLimit(run, hop, { read: reading.read, found: reading.ends.keys.length }),
    start: reading.start,
    livingAt: run.context.livingAt,
  };
  return part.source.query.encode(id, page);
};

const takePage = (run: WalkRun, { reading, source }: { readonly reading: Reading; readonly source: Source }, output: QueryOutput): void => {
  run.width.answered();
  source.take(output, reading.ends);
  reading.read += output.ScannedCount ?? output.Count ?? 0;
  reading.start = output.LastEvaluatedKey;
  if (reading.start === undefined) reading.part++;
};

const isOver = (run: WalkRun, reading: Reading): boolean => {
  const { budget, supernode } = run.request;
  if (supernode !== "page") return reading.read > budget.breadth;
  return reading.read >= budget.breadth && reading.part < reading.parts.length;
};

// One async function, because a walk of thousands of requests pays for every other.
const readNode = async (run: WalkRun, hop: PlannedHop, at: ReadingAt): Promise<Expanded["why"]> => {
  const { work, reading, id } = at;
  while (reading.part < reading.parts.length && !isFull(hop, reading, work)) {
    const part = defined(reading.parts[reading.part], "part");
    const { source, merges } = part;
    try {
      if (merges) await readFirst(run, hop, { ...at, source });
      else {
        const input = nextInput(run, hop, { reading, part, id });
        takePage(run, { reading, source }, input ? await run.session.send("Query", input, at.contextOf(source)) : {});
      }
    } catch (error) {
      if (isEnd(run, error)) return "stopped";
      throw error;
    }
    if (isFull(hop, reading, work)) return undefined;
    if (!isOver(run, reading)) continue;
    if (run.request.supernode === "refuse") refuseSupernode(run, hop, work);
    return "breadth";
  }
  return undefined;
};

// Where no source is spread over partitions, the parts are the same for every node. The first edges are those of all partitions.
const partsOf = (sources: readonly Source[], { limit }: PlannedHop): ((id: Row) => readonly Part[]) => {
  const merges = limit !== undefined;
  const whole = sources.map((source, at) => ({
    source,
    at,
    partition: undefined,
    merges: merges && source.query.partitions !== undefined,
  }));
  if (merges || sources.every(({ query }) => !query.partitions)) return () => whole;
  return (id) =>
    sources.flatMap((source, at): readonly Part[] => {
      if (!source.query.partitions) return [{ source, at, partition: undefined }];
      return source.query.partitions(id).map((partition) => ({ source, at, partition }));
    });
};

// Partitions that were added since stand behind those that were read.
const partOf = (parts: readonly Part[], { source, partition }: Work): number => {
  const at = parts.findIndex((part) => part.at === source && (partition === undefined || part.partition === partition));
  if (at !== -1 || parts.length === 0) return Math.max(0, at);
  throw new EdgetableError(
    "cursor.outgrown",
    `The cursor stands in the partition "${partition}", which the model has no longer. Start again without the cursor.`,
    { details: { partition } },
  );
};

const nowhere = (): readonly Part[] => [];

/** What is read of a node, by its type: requests are encoded and ends decoded as the plan says, the same for all nodes of a type. */
type PartsByType = ReadonlyMap<string, (id: Row) => readonly Part[]>;

const knownParts = new WeakMap<PlannedHop, PartsByType>();

/** What a hop reads: the same for every walk of a plan, unless it depends on the values that one walk asks for. */
export const hopParts = (run: Asked, hop: PlannedHop): PartsByType => {
  const known = knownParts.get(hop);
  if (known) return known;
  const parts = new Map(Object.entries(hop.reading).map(([type, plan]) => [type, partsOf(sourcesOf(run, plan), hop)]));
  if (hop.conditions.length === 0 && !hop.anchor) knownParts.set(hop, parts);
  return parts;
};

const contextsOf = ({ context }: WalkRun): ReadingAt["contextOf"] => {
  const contexts = new Map<TextColumn, CallContext>();
  return ({ column }) => (column ? memberOf(contexts, column, () => ({ column, ...context })) : context);
};

/** A reader of one hop's edges. */
export const edgeReader = (run: WalkRun, hop: PlannedHop): EdgeReader => {
  const byType = hopParts(run, hop);
  const contextOf = contextsOf(run);
  const folds = foldedField(run.request.plan.collect) !== undefined;
  return async (work) => {
    const { type, id } = run.names.unpack(work.key);
    const parts = byType.get(type) ?? nowhere;
    const all = parts(id);
    const reading: Reading = {
      parts: all,
      ends: { keys: [], values: folds ? [] : undefined },
      part: partOf(all, work),
      start: work.start,
      merge: work.merge,
      read: 0,
    };
    const why = await readNode(run, hop, { work, reading, id, contextOf });
    if (why === "breadth" && run.request.supernode === "sample") takeFirst(reading);
    trim(hop, reading, work);
    const { keys, values } = reading.ends;
    if (why === "breadth" && run.request.supernode === "sample") keys.length = Math.min(keys.length, run.request.budget.breadth);
    const { start, merge } = reading;
    const at = all[reading.part];
    const rest = why && { ...work, source: at?.at ?? 0, partition: at?.partition, start, taken: work.taken + keys.length, merge };
    return { work, keys, values, rest, why };
  };
};
