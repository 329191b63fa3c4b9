import type {
  AdviceAnswer,
  ItemAnswer,
  ModelAnswer,
  NeighboursAnswer,
  PatternAnswer,
  ScratchAnswer,
  WireNode,
  WirePattern,
  WirePlan,
  WireSort,
  WireType,
} from "@edgetable/studio";
import { type AnyGraph, type AnyPattern, type Catalog, type ConnectOptions, didYouMean, type Explanation, type Transport } from "edgetable";
import { checkGraph, explanationLines, isFieldPart, listedAttributes, partitionOf } from "edgetable/check";
import { type AnyRead, endOf, type UntypedDb } from "../connection.ts";
import { failureOf, usageError } from "../failure.ts";
import { planPatterns, type Model } from "../model.ts";
import { fromJson, isRow, toExactJson, type Row } from "../output/json.ts";
import { changeField, gridOf, readGrid, readGroups } from "./fields.ts";
import { readGraph } from "./graph.ts";
import { healthAnswer, migrationAnswer, verifyAnswer, type Watch, watchChanges } from "./live.ts";
import { type ResultFiles, resultFiles } from "./results.ts";
import { readOnly, timed, timelines, type Timeline } from "./read-only.ts";
import {
  changeEdge,
  changeRow,
  createRow,
  deleteRow,
  edgeRow,
  importRows,
  linkNodes,
  readRows,
  sortsOf,
  unlinkNodes,
  writePart,
} from "./rows.ts";
import { keptAttributes } from "../text/attribute-schema.ts";
import { countShards, isSharded, shardsAnswer } from "./shards.ts";
import { readItem, readItems } from "./stored-items.ts";
import type { Api, ApiRequest } from "./studio-server.ts";

export interface StudioSource {
  readonly model: Model;
  readonly graph: AnyGraph;
  readonly transport: Transport;
  readonly options: ConnectOptions;
  /** The host or region that is shown beside the table's name. */
  readonly place: string;
  readonly local: boolean;
  /** Where the table's stream is. */
  readonly stream: ConnectOptions;
  /** Whether the page may write. */
  readonly writes: boolean;
  /** A folder or file with results of batch jobs. */
  readonly results?: string | undefined;
}

/** Characters of an answer's JSON beyond which its lists are cut. */
const MAX_ANSWER = 1_000_000;
const CUT_LIST = 100;
/** Milliseconds for one call of a pattern. */
const DEADLINE = 30_000;

type Shape = Catalog["shapes"][number];

type OfKind = Pick<WireType, "from" | "to" | "stored"> & Partial<Pick<WireType, "sorts" | "grid" | "own" | "symmetric">>;

const typeOf = (catalog: Catalog, shape: Shape, ofKind: OfKind, idFields: readonly string[]): WireType => ({
  kind: shape.kind,
  name: shape.definition,
  derived: keptAttributes(catalog, shape.definition),
  sorts: [],
  ...ofKind,
  keys: Object.fromEntries(Object.entries(shape.keys).map(([attribute, { source }]) => [attribute, source])),
  idFields,
  attributes: listedAttributes(catalog, shape) ?? [],
});

const typesOf = (catalog: Catalog, sorts: ReadonlyMap<string, readonly WireSort[]>): readonly WireType[] => {
  const nodes = Object.values(catalog.nodes).map(({ shape, idFields, definition }) => {
    const grid = gridOf(catalog, shape.definition);
    return typeOf(
      catalog,
      shape,
      {
        ...(grid ? { grid } : {}),
        from: [],
        to: [],
        stored: definition.stored === false ? "keys only" : "item",
        sorts: sorts.get(shape.definition) ?? [],
      },
      idFields,
    );
  });
  const edges = Object.values(catalog.edges).flatMap(({ shapes, from, to, definition, orderBy, key }) => {
    const [shape] = shapes;
    if (!shape) return [];
    const stored = definition.stored ?? (definition.symmetric ? "twice" : "once");
    const both = definition.symmetric ? { symmetric: true as const } : {};
    const type = typeOf(catalog, shape, { from, to, stored, ...both }, key);
    return [orderBy === undefined ? type : { ...type, orderBy }];
  });
  const parts = Object.values(catalog.parts).map(({ shape, idFields, definition }) => {
    const own = isFieldPart(definition) ? { own: true as const } : {};
    const end = catalog.ends[shape.definition];
    const type = typeOf(catalog, shape, { from: [definition.of], to: [], stored: "item", ...own }, idFields);
    return end ? { ...type, endFields: end.idFields } : type;
  });
  return [...nodes, ...edges, ...parts];
};

interface NamedPattern {
  readonly name: string;
  readonly pattern: AnyPattern;
}

const patternsOf = ({ model, graph }: StudioSource): readonly NamedPattern[] =>
  model.patterns
    .filter(({ value }) => value.graph === graph)
    .flatMap(({ value }) => Object.entries(value.patterns).map(([name, pattern]) => ({ name, pattern })));

const modelAnswer = async (source: StudioSource): Promise<ModelAnswer> => {
  const { model, graph, place, local, writes } = source;
  const { catalog } = graph;
  const exported = model.graphs.find(({ value }) => value === graph)?.name ?? "graph";
  const { typeAttribute, ttl, index: table, indexes } = catalog;
  return {
    table: catalog.table,
    file: model.file,
    graph: exported,
    place,
    local,
    writes,
    types: typesOf(catalog, await sortsOf(graph)),
    indexes: [table, ...indexes].map(({ name, partitionKey, sortKey, partitionKeys, sortKeys, projection }) => ({
      ...(name === undefined ? {} : { name }),
      partitionKey,
      ...(sortKey === undefined ? {} : { sortKey }),
      partitionKeys,
      sortKeys,
      projection,
      ...(isSharded(catalog, name) ? { sharded: true as const } : {}),
    })),
    ...(typeAttribute === undefined ? {} : { typeAttribute }),
    ...(ttl === undefined ? {} : { ttl }),
    patterns: patternsOf(source).map(({ name, pattern: { question, example, ask } }): WirePattern => ({
      name,
      question,
      example,
      source: String(ask),
    })),
  };
};

const adviceAnswer = async ({ model, graph }: StudioSource): Promise<AdviceAnswer> => {
  const planned = (
    await Promise.all(model.patterns.filter(({ value }) => value.graph === graph).map(({ value }) => planPatterns(value)))
  ).flat();
  const unplanned = planned.flatMap(({ name, problem }) =>
    problem
      ? [
          {
            rule: problem.code,
            definition: name,
            severity: "error" as const,
            message: problem.message,
            mend: "Change the pattern or the model.",
          },
        ]
      : [],
  );
  const asked = planned.flatMap(({ name, explanation }) => (explanation ? [{ name, explanation }] : []));
  return { advice: [...unplanned, ...checkGraph(graph, asked)] };
};

const text = (query: URLSearchParams, name: string): string | undefined => query.get(name) ?? undefined;

const required = (query: URLSearchParams, name: string): string => {
  const value = query.get(name);
  if (value === null) throw usageError(`The parameter "${name}" is missing.`);
  return value;
};

const limitOf = (query: URLSearchParams, most: number, otherwise: number): number => {
  const given = query.get("limit");
  const limit = given === null ? otherwise : Number(given);
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit;
  throw usageError(`The limit must be a whole number from 1 to ${most}.`);
};

/** A node for the page: its type, id and the partition of its item. */
const wireNode = ({ catalog }: AnyGraph, type: string, row: Row, found: Row | undefined): WireNode => {
  const entry = catalog.ends[type];
  const id = Object.fromEntries((entry?.idFields ?? []).map((field) => [field, row[field]]));
  return { type, id, ...(found === undefined ? {} : { row: found }), partition: partitionOf(catalog, type, id) ?? "" };
};

/** The type of the node at the other end of an edge, whose row names it if there are several. */
const otherType = (names: readonly string[], end: unknown): string => {
  const given = isRow(end) ? end["type"] : undefined;
  return typeof given === "string" ? given : (names[0] ?? "");
};

const neighboursAnswer = async (source: StudioSource, db: UntypedDb, { query, signal }: ApiRequest): Promise<NeighboursAnswer> => {
  const { graph } = source;
  const { edges } = graph.catalog;
  const name = required(query, "edge");
  const entry = Object.hasOwn(edges, name) ? edges[name] : undefined;
  if (!entry) throw usageError(`There is no edge type "${name}".${didYouMean(name, Object.keys(edges))}`);
  const direction = required(query, "direction");
  const handle = endOf(db, required(query, "type"))(jsonOf(query, "id"));
  const list = entry.definition.symmetric ? handle.both(name) : direction === "in" ? handle.in(name) : handle.out(name);
  // A path is searched by the edges alone, which saves the reads of their nodes.
  const isBare = query.get("bare") === "1";
  const page = list.page({ limit: limitOf(query, 1000, 40), cursor: text(query, "cursor"), ...(isBare ? {} : { of: "entries" }) });
  const { value, cost } = await page.report({ signal, deadline: DEADLINE });
  const rows = (isBare ? value.items.map((edge) => ({ edge, node: undefined })) : value.items) as readonly {
    readonly edge: Row;
    readonly node: Row | undefined;
  }[];
  return {
    entries: rows.map(({ edge: row, node }) => {
      const { from, to, ...attributes } = row;
      const [end, names] = direction === "in" ? [from, entry.from] : [to, entry.to];
      return { node: wireNode(graph, otherType(names, end), (node ?? end ?? {}) as Row, node), attributes };
    }),
    ...(value.next === undefined ? {} : { next: value.next }),
    cost: { requests: cost.requests, readUnits: cost.readUnits },
  };
};

/** Cuts long lists until the answer can be shown. */
const cutLists = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, CUT_LIST).map(cutLists);
  return isRow(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutLists(one)])) : value;
};

const planOf = (explanation: Explanation): WirePlan => {
  const { kind, plan, requests, consistency, cost, notes } = explanation as Explanation & WirePlan;
  const { assumptions, logical } = explanation as { readonly assumptions?: readonly string[]; readonly logical?: unknown };
  return {
    kind,
    ...(logical === undefined ? {} : { logical }),
    plan,
    requests,
    consistency,
    cost,
    notes,
    ...(assumptions ? { assumptions } : {}),
    lines: explanationLines(explanation),
  };
};

/** A walk continued from a cursor. @throws {cli.usage} for a call that has none */
const continuedFrom = (call: AnyRead, cursor: unknown): AnyRead => {
  if (cursor === undefined) return call;
  const { from } = call as { readonly from?: (cursor: string) => AnyRead };
  if (!from || typeof cursor !== "string") throw usageError("Only a walk is continued from a cursor.");
  return from(cursor);
};

/** Plans a call, and runs it if `runs`. */
const callAnswer = async (call: AnyRead, signal: AbortSignal, runs: boolean): Promise<PatternAnswer> => {
  const plan = planOf(await call.explain());
  if (!runs) return { plan };
  const timeline: Timeline = { began: performance.now(), attempts: [] };
  const { value, cost } = await timelines.run(timeline, () => call.report({ signal, deadline: DEADLINE }));
  const duration = performance.now() - timeline.began;
  const cut = toExactJson(value).length > MAX_ANSWER;
  const { requests, readUnits, writeUnits } = cost;
  const spent = { requests, readUnits, ...(writeUnits > 0 ? { writeUnits } : {}) };
  return { plan, run: { answer: cut ? cutLists(value) : (value ?? null), cost: spent, attempts: timeline.attempts, duration, cut } };
};

/** Plans or runs a call that a person typed. What it may not say is an answer, with the place. */
const scratchAnswer = async (
  { db, writer }: { readonly db: UntypedDb; readonly writer: UntypedDb | undefined },
  { body, signal }: ApiRequest,
  runs: boolean,
): Promise<ScratchAnswer> => {
  const { call: given, cursor } = isRow(body) ? body : {};
  if (typeof given !== "string") throw usageError('The body must be { "call": … }.');
  const { buildScratch, readScratch, ScratchError } = await import("./scratch.ts");
  const { chainMethods } = await import("@edgetable/studio");
  try {
    const read = readScratch(db, chainMethods, given);
    const { writes } = read;
    const whole = { start: 0, end: given.length };
    if (runs && writes && !writer) throw new ScratchError("This call writes: start the studio with --write to run it.", whole);
    // A plan sends nothing that writes; only what writes goes to the connection that may.
    const call = continuedFrom(buildScratch(runs && writes && writer ? writer : db, read), cursor);
    try {
      return { writes, ...(await callAnswer(call, signal, runs)) };
    } catch (error) {
      // Of a plan, whatever is refused is a remark on what is being typed.
      if (runs) throw error;
      throw new ScratchError(failureOf(error).message, whole);
    }
  } catch (error) {
    if (error instanceof ScratchError) return { problem: error.problem };
    throw error;
  }
};

/** Plans a pattern with given parameters, and runs it if `runs`. */
const patternAnswer = async (source: StudioSource, db: UntypedDb, { body, signal }: ApiRequest, runs: boolean): Promise<PatternAnswer> => {
  const { name, parameters, cursor } = (isRow(body) ? body : {}) as Readonly<Record<"name" | "parameters" | "cursor", unknown>>;
  if (typeof name !== "string") throw usageError('The body must be { "name": …, "parameters": … }.');
  const named = patternsOf(source);
  const found = named.find((one) => one.name === name);
  if (!found)
    throw usageError(
      `There is no pattern "${name}".${didYouMean(
        name,
        named.map((one) => one.name),
      )}`,
    );
  return callAnswer(continuedFrom(found.pattern.ask(db, parameters), cursor), signal, runs);
};

const jsonOf = (query: URLSearchParams, name: string): Row => {
  let value: unknown;
  try {
    value = fromJson(required(query, name));
  } catch {
    // Reported below.
  }
  if (isRow(value)) return value;
  throw usageError(`The parameter "${name}" must be a JSON object, such as {"studentId":"S1"}.`);
};

const filtersOf = (query: URLSearchParams): Readonly<Record<string, string>> => {
  let filters: unknown;
  try {
    filters = JSON.parse(query.get("filters") ?? "{}");
  } catch {
    // Reported below.
  }
  if (isRow(filters) && Object.values(filters).every((one) => typeof one === "string")) return filters as Readonly<Record<string, string>>;
  throw usageError('The filters must be a JSON object of texts, such as {"name":"Ann"}.');
};

/** The routes that read a grid of users' fields; undefined for others. */
const gridAnswer = (db: UntypedDb, { route, query, signal }: ApiRequest): Promise<unknown> | undefined => {
  if (route !== "GET /api/grid" && route !== "GET /api/grid/groups") return undefined;
  const asked = { type: required(query, "type"), parent: jsonOf(query, "parent"), filters: filtersOf(query) };
  if (route === "GET /api/grid/groups") return readGroups(db, { ...asked, column: required(query, "column") }, signal);
  const order = { sort: text(query, "sort"), reverse: query.get("reverse") === "1" };
  return readGrid(db, { ...asked, ...order, cursor: text(query, "cursor"), limit: limitOf(query, 1000, 100) }, signal);
};

/** An item with its row; the copy of an edge with the row of the edge in its source's partition. */
const itemAnswer = async ({ graph, transport }: StudioSource, db: UntypedDb, { query, signal }: ApiRequest): Promise<ItemAnswer> => {
  const { item, row } = await readItem(graph, transport, required(query, "key"), signal);
  const own = item?.mirror && row ? await edgeRow(db, item.name, row) : row;
  return { ...(item && { item }), ...(own && { row: own }) };
};

/** The routes of Live; undefined for others. */
const liveAnswer = (
  {
    db,
    watch,
    results,
    stream,
  }: { readonly db: UntypedDb; readonly watch: Watch; readonly results: ResultFiles; readonly stream: ConnectOptions },
  { route, query, signal }: ApiRequest,
): Promise<unknown> | undefined => {
  switch (route) {
    case "GET /api/live":
      return watch.changes(Number(query.get("after") ?? 0), signal);
    case "GET /api/results":
      return results.list();
    case "GET /api/results/file":
      return results.read(text(query, "file"));
    case "GET /api/health":
      return healthAnswer(db, stream, signal);
    case "GET /api/migration":
      return migrationAnswer(db, signal);
    case "POST /api/verify":
      return verifyAnswer(db, signal);
    default:
      return undefined;
  }
};

/** The routes that write; undefined for others. */
const writeAnswer = (writer: UntypedDb, { route, body, signal }: ApiRequest): Promise<unknown> | undefined => {
  switch (route) {
    case "POST /api/rows/change":
      return changeRow(writer, body);
    case "POST /api/rows/create":
      return createRow(writer, body);
    case "POST /api/rows/delete":
      return deleteRow(writer, body);
    case "POST /api/fields":
      return changeField(writer, body, signal);
    case "POST /api/rows/import":
      return importRows(writer, body, signal);
    case "POST /api/edges/link":
      return linkNodes(writer, body);
    case "POST /api/edges/change":
      return changeEdge(writer, body);
    case "POST /api/edges/unlink":
      return unlinkNodes(writer, body);
    case "POST /api/parts/create":
      return writePart(writer, body, "create");
    case "POST /api/parts/change":
      return writePart(writer, body, "change");
    case "POST /api/parts/delete":
      return writePart(writer, body, "delete");
    default:
      return undefined;
  }
};

/**
 * The API of the studio over a model and its table. What reads has a transport that refuses writes, patterns included. Only with
 * `writes` is there a connection that writes, which the routes for writing use alone.
 */
export const studioApi = (given: StudioSource): { readonly api: Api; readonly close: () => Promise<void> } => {
  const source = { ...given, transport: readOnly(given.transport) };
  const { graph, transport, options } = source;
  const db = graph.connect({ ...options, transport: timed(transport) }) as unknown as UntypedDb;
  const kept: Transport = { ...given.transport, send: (...sent) => given.transport.send(...sent), close: () => undefined };
  const writer = given.writes ? (graph.connect({ ...options, transport: timed(kept) }) as unknown as UntypedDb) : undefined;
  const watch = watchChanges(graph, db, given.stream);
  const live = { db, watch, results: resultFiles(graph.catalog, given.results), stream: given.stream };
  const api: Api = async (request) => {
    const { route, query, body, signal } = request;
    switch (route) {
      case "GET /api/model":
        return modelAnswer(source);
      case "GET /api/advice":
        return adviceAnswer(source);
      case "GET /api/items":
        return readItems(
          graph,
          transport,
          {
            index: text(query, "index"),
            partition: text(query, "partition"),
            types: (text(query, "types") ?? "").split(",").filter(Boolean),
            cursor: text(query, "cursor"),
            limit: limitOf(query, 1000, 200),
          },
          signal,
        );
      case "GET /api/item":
        return itemAnswer(source, db, request);
      case "GET /api/node": {
        const type = required(query, "type");
        const id = jsonOf(query, "id");
        const row = await endOf(db, type)(id).get().run({ signal, deadline: DEADLINE });
        return wireNode(graph, type, id, row);
      }
      case "GET /api/graph":
        return readGraph(graph, transport, text(query, "cursor"), signal);
      case "GET /api/neighbours":
        return neighboursAnswer(source, db, request);
      case "POST /api/patterns/plan":
        return patternAnswer(source, db, request, false);
      case "POST /api/patterns/run":
        return patternAnswer(source, db, request, true);
      case "POST /api/scratch/plan":
        return scratchAnswer({ db, writer }, request, false);
      case "POST /api/scratch/run":
        return scratchAnswer({ db, writer }, request, true);
      case "GET /api/rows": {
        const page = {
          type: required(query, "type"),
          sort: text(query, "sort"),
          reverse: query.get("reverse") === "1",
          filters: filtersOf(query),
          cursor: text(query, "cursor"),
          limit: limitOf(query, 1000, 200),
        };
        return readRows(graph, { db, transport }, page, signal);
      }
      case "GET /api/shards":
        return shardsAnswer(graph, text(query, "index"), text(query, "partition"));
      case "POST /api/shards/count":
        return countShards(graph, transport, body, signal);
      default:
        return gridAnswer(db, request) ?? liveAnswer(live, request) ?? (writer && writeAnswer(writer, request));
    }
  };
  const close = async (): Promise<void> => {
    watch.close();
    await db.close();
    await writer?.close();
  };
  return { api, close };
};
