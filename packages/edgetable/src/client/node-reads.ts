import { EdgetableError } from "../errors/edgetable-error.ts";
import { deferCall } from "../executor/call.ts";
import type { ReadRequest } from "../executor/run-read.ts";
import { type CollectionState, type Direction, lookupForm, lookupPlan, type LookupState } from "../query/reads.ts";
import { type EndEntry, idText, type NodeEntry } from "../schema/catalog.ts";
import { checkId, checkNodeId, leadingIdFields, ofTenant } from "../schema/check-values.ts";
import { checkOptions, listOf, namesIn, type OptionChecks } from "../util/check-options.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import { loadOnce } from "../util/load-once.ts";
import type { Row } from "../util/row.ts";
import { checkEdge, type KeyOption, onlySelected, ownKey, selectedFields } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import { consistentOption, edgeLookup, edgeOptions, endRow } from "./edge-reads.ts";
import { type PartQuery, partsOf } from "./part-reads.ts";
import { NeighbourQuery } from "./neighbours.ts";
import { findNode, readCall } from "./read-call.ts";
import type { Read } from "./page-types.ts";
import { levelOptions } from "./walk-options.ts";
import type { LevelOptions, PathsOptions, Reached, WalkCall, Walked, WalkLevel, WalkOptions } from "./walk-types.ts";
import { type AnyHop, type EdgeNames, WalkQuery } from "./walk.ts";
import { common, paths, type Start, suggest } from "./walks.ts";

const loadCollections = loadOnce(async () => import("./collections.ts"));

interface GetOptions {
  readonly consistent?: boolean;
  readonly given?: Row;
  readonly select?: readonly string[];
}

const getOptions: OptionChecks<GetOptions> = { ...consistentOption, given: namesIn, select: undefined };

const byOptions: OptionChecks<Pick<GetOptions, "consistent" | "select">> = { ...consistentOption, select: undefined };

type SubtreeOptions = LevelOptions & { readonly depth?: number };

const subtreeOptions: OptionChecks<SubtreeOptions> = { ...levelOptions, depth: undefined };

const lookupOf = (entry: EndEntry, options: GetOptions, many: boolean): LookupState => {
  const { given = {}, consistent = false, select } = checkOptions(options, getOptions);
  const kind = entry.shape.kind === "part" ? "part" : "node";
  const state = { of: kind, name: entry.name, many, given: Object.keys(given), consistent } as const;
  return select === undefined ? state : { ...state, select: selectedFields({ kind, further: entry.idFields, ...entry }, select) };
};

const getNode =
  (driver: Driver, entry: EndEntry) =>
  (id: Row, options: GetOptions = {}): Read<Row | undefined> => {
    const state = lookupOf(entry, options, false);
    const request: ReadRequest = {
      plan: driver.plan(lookupForm(state), () => lookupPlan(state)),
      findNode: findNode(driver),
      binding: { row: rowOf(driver, entry, id, options), values: [] },
    };
    return readCall(driver, request, ([one]) => one && onlySelected(state.select, one.row));
  };

const UNIQUE_TYPES = new Set(["string", "number", "bigint", "boolean"]);

const getBy =
  (driver: Driver, entry: NodeEntry) =>
  (given: Row, options: Pick<GetOptions, "consistent" | "select"> = {}): Read<Row | undefined> => {
    const { name, definition } = entry;
    const { unique = [] } = definition;
    const names = namesIn(given, "by", unique[0]);
    const [by = ""] = names;
    const value = given[by];
    if (!unique.includes(by) || names.length > 1) {
      const known = unique.length > 0 ? `Give one of: ${unique.join(", ")}.` : `Declare unique: [${JSON.stringify(by)}], or use find().`;
      throw new EdgetableError(
        "plan.invalidOption",
        names.length !== 1
          ? `by() takes one attribute, not ${names.length}. ${known}`
          : `"${by}" of "${name}" is not unique.${didYouMean(by, unique)} ${known}`,
        { details: { node: name, given } },
      );
    }
    if (!UNIQUE_TYPES.has(typeof value) && !(value instanceof Date)) {
      throw new EdgetableError("plan.invalidOption", `by() takes a text, number, boolean or Date for "${by}", got ${jsonText(value)}.`, {
        details: { node: name, given },
      });
    }
    const { consistent = false, select } = checkOptions(options, byOptions);
    const fields = selectedFields({ kind: "node", ...entry }, select);
    // The read checks in the node's row that it still has the value.
    const read = fields && { select: [...new Set([...fields, by])] };
    const state: LookupState = { of: "node", name, many: false, given: [], by, consistent, ...read };
    const plan = driver.plan(lookupForm(state), () => lookupPlan(state));
    const request = { plan, findNode: findNode(driver), binding: { row: {}, values: [value] } };
    return readCall(driver, request, ([one]) => one && onlySelected(fields, one.row));
  };

const rowOf = ({ catalog }: Driver, entry: EndEntry, id: Row, { given }: GetOptions): Row => {
  const checked = checkNodeId(catalog, entry, id);
  return given ? { ...given, ...checked } : { ...checked };
};

const getNodes =
  (driver: Driver, entry: NodeEntry) =>
  (ids: readonly Row[], options: GetOptions = {}): Read<readonly (Row | undefined)[]> => {
    const state = lookupOf(entry, options, true);
    const rows = listOf(ids).map((id) => rowOf(driver, entry, id, options));
    const request: ReadRequest = {
      plan: driver.plan(lookupForm(state), () => lookupPlan(state)),
      findNode: findNode(driver),
      binding: { row: {}, values: [] },
      rows,
    };
    return readCall(driver, request, (found) => {
      const byId = new Map(found.map((one) => [idText(entry, one.row), onlySelected(state.select, one.row)]));
      return rows.map((row) => byId.get(idText(entry, row)));
    });
  };

/** What `db.<node>(id)` returns, and `db.<part>(id)` of a part at the ends of edges. */
export class NodeHandle {
  readonly #driver: Driver;
  readonly #entry: EndEntry;
  readonly #id: Row;
  readonly #anchor: readonly string[];

  constructor(driver: Driver, entry: EndEntry, anchor: { readonly id: Row; readonly fields: readonly string[] }) {
    this.#driver = driver;
    this.#entry = entry;
    this.#id = anchor.id;
    this.#anchor = anchor.fields;
  }

  get(options?: GetOptions): Read<Row | undefined> {
    return getNode(this.#driver, this.#entry)(this.#id, options);
  }

  collection(options: { readonly consistent?: boolean } = {}): Read<unknown> {
    const { consistent = false } = checkOptions(options, consistentOption);
    return this.#collect({ direction: "out", consistent, index: undefined });
  }

  incoming(options: { readonly index?: string } = {}): Read<unknown> {
    return this.#collect({ direction: "in", consistent: false, index: checkOptions(options, { index: "string" }).index });
  }

  #collect(from: Omit<CollectionState, "node">): Read<unknown> {
    const id = checkNodeId(this.#driver.catalog, this.#entry, this.#id);
    return deferCall(loadCollections, ({ collect }) => collect(this.#driver, this.#entry, { id, ...from }));
  }

  out(edge: EdgeNames): NeighbourQuery | WalkQuery {
    return this.#neighbours(edge, "out");
  }

  in(edge: EdgeNames): NeighbourQuery | WalkQuery {
    return this.#neighbours(edge, "in");
  }

  both(edge: EdgeNames): NeighbourQuery | WalkQuery {
    return this.#neighbours(edge, "both");
  }

  has(edge: string, to: Row, options: KeyOption & { readonly consistent?: boolean } = {}): Read<boolean> {
    checkEdge(this.#driver, [this.#entry.name], { edge, direction: "out" });
    const entry = this.#driver.catalog.edges[edge];
    const key = entry && ownKey(entry, options);
    const ends = {
      from: endRow(this.#driver.catalog, entry?.from ?? [], {
        ...(entry && entry.from.length > 1 ? { type: this.#entry.name } : {}),
        ...this.#id,
      }),
      to: endRow(this.#driver.catalog, entry?.to ?? [], to),
    };
    const request = edgeLookup(this.#driver, edge, {
      rows: [{ ...key, ...ends }],
      many: false,
      consistent: checkOptions(options, edgeOptions).consistent ?? false,
    });
    return readCall(this.#driver, request, (found) => found.length > 0);
  }

  walk(): WalkQuery {
    return this.#from(this.#entry.name, this.#id);
  }

  neighbourhood(hop: AnyHop, depth: number): WalkQuery {
    return this.walk().repeat(hop, { depth, emit: "all" }).except("start");
  }

  dependencies(edge: EdgeNames): WalkQuery {
    return this.walk().closure({ out: edge }).dedupe().except("start");
  }

  dependents(edge: EdgeNames): WalkQuery {
    return this.walk().closure({ in: edge }).dedupe().except("start");
  }

  subtree(hop: AnyHop, all: SubtreeOptions = {}): WalkCall<Walked<WalkLevel>> {
    const { depth, ...options } = checkOptions(all, subtreeOptions);
    const walk = depth === undefined ? this.walk().closure(hop) : this.walk().repeat(hop, { depth, emit: "all" });
    return walk.levels(options);
  }

  common(hop: AnyHop, others: readonly Row[], options: WalkOptions = {}): WalkCall<Walked<Row>> {
    return common(this.#start(), hop, { others, options });
  }

  suggest(hop: AnyHop, options: WalkOptions & { readonly top: number }): WalkCall<Walked<Reached<Row>>> {
    return suggest(this.#start(), hop, options);
  }

  shortestPath(to: Row, hop: AnyHop, options: PathsOptions = {}): WalkCall<Walked<readonly Row[]>> {
    return paths(this.#start(), hop, { to, which: "one", options: { ...options, limit: 1 } });
  }

  shortestPaths(to: Row, hop: AnyHop, options: PathsOptions = {}): WalkCall<Walked<readonly Row[]>> {
    return paths(this.#start(), hop, { to, which: "shortest", options });
  }

  allPaths(to: Row, hop: AnyHop, options: PathsOptions = {}): WalkCall<Walked<readonly Row[]>> {
    return paths(this.#start(), hop, { to, which: "all", options });
  }

  cycle(hop: AnyHop, options: PathsOptions = {}): WalkCall<Walked<readonly Row[]>> {
    return this.shortestPath({ type: this.#entry.name, ...this.#id }, hop, options);
  }

  parts(part: string): PartQuery {
    const known = this.#driver.catalog.parts[part];
    if (known?.shape.from === this.#entry.name) return partsOf(this.#driver, known, this.#id);
    const own = Object.values(this.#driver.catalog.parts).filter((one) => one.shape.from === this.#entry.name);
    throw new EdgetableError(
      "schema.unknownNode",
      `"${this.#entry.name}" has no part "${part}".${didYouMean(
        part,
        own.map((one) => one.name),
      )}`,
      { details: { part } },
    );
  }

  readonly #from = (node: string, id: Row): WalkQuery => {
    const anchor = node === this.#entry.name && id === this.#id ? this.#anchor : Object.keys(id);
    const { idFields, name } = this.#entry;
    if (node === name && anchor.length < idFields.length) {
      throw new EdgetableError(
        "traverse.start",
        `A walk from all of "${name}" below a level begins with a hop: within(…).out("…") or .in("…").`,
        {
          details: { node: { type: node, id } },
        },
      );
    }
    return new WalkQuery(this.#driver, { node, id, anchor, steps: [], values: [], at: [node] });
  };

  #start(): Start {
    return { driver: this.#driver, node: this.#entry.name, id: this.#id, from: this.#from };
  }

  // Several edge types make a walk, because each has its own order, attributes and cursors.
  #neighbours(edge: EdgeNames, direction: Direction): NeighbourQuery | WalkQuery {
    const { name } = this.#entry;
    if (Array.isArray(edge)) {
      const start = { node: name, id: this.#id, anchor: this.#anchor, steps: [], values: [], at: [name] };
      return new WalkQuery(this.#driver, start).hop({ [direction]: edge });
    }
    checkEdge(this.#driver, [name], { edge: edge as string, direction });
    return new NeighbourQuery(this.#driver, {
      node: this.#entry.name,
      id: this.#id,
      anchor: this.#anchor,
      edge: edge as string,
      direction,
      conditions: [],
      values: [],
      ordered: true,
      forward: true,
      consistent: false,
      index: undefined,
      select: undefined,
      limit: undefined,
    });
  }
}

/** Makes the function that returns handles on nodes of a type, or on parts of a kind, by their ids. */
export const handlesOf =
  (driver: Driver, entry: EndEntry) =>
  (id: Row): NodeHandle => {
    const handle = new NodeHandle(driver, entry, { id: checkNodeId(driver.catalog, entry, id), fields: entry.idFields });
    // A part has no collection: it is in the collection of its node.
    return entry.shape.kind === "part" ? Object.assign(handle, { collection: undefined }) : handle;
  };

/** The reading side of `db.<node>`: a function that returns a handle, and the methods of the node type. */
export const nodeReads = (driver: Driver, entry: NodeEntry): ((id: Row) => NodeHandle) & object => {
  const within = (given: Row): NodeHandle => {
    const id = ofTenant(driver.catalog, entry.idFields, checkId(entry.name, [], given));
    return new NodeHandle(driver, entry, { id, fields: leadingIdFields(entry.name, entry.idFields, id) });
  };
  return Object.assign(handlesOf(driver, entry), {
    within,
    get: getNode(driver, entry),
    by: getBy(driver, entry),
    getMany: getNodes(driver, entry),
  });
};
