import { EdgetableError } from "../errors/edgetable-error.ts";
import type { ReadRequest } from "../executor/run-read.ts";
import { exactText } from "../keys/template.ts";
import {
  collectionForm,
  collectionPlan,
  type CollectionState,
  type Direction,
  lookupForm,
  lookupPlan,
  type LookupState,
} from "../query/reads.ts";
import type { NodeEntry } from "../schema/catalog.ts";
import { checkId, checkKey, checkNodeId, leadingIdFields } from "../schema/check-id.ts";
import { endRow } from "./end-row.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { toCollection } from "./collection.ts";
import { checkEdge } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import { consistentKinds, edgeLookup } from "./edge-reads.ts";
import { findNode } from "./find-node.ts";
import { NeighbourQuery } from "./neighbours.ts";
import { partsOf, type PartQuery } from "./part-query.ts";
import { readCall } from "./read-call.ts";
import type { Read } from "./read-types.ts";
import { WalkQuery, type AnyHop } from "./walk.ts";
import { levelOptions } from "./walk-options.ts";
import type { LevelOptions, PathsOptions, Reached, WalkCall, Walked, WalkLevel, WalkOptions } from "./walk-types.ts";
import { common, paths, suggest, type Start } from "./walks.ts";
import { checkOptions, type OptionChecks, listOf, namesIn } from "../util/check-options.ts";
import type { Row } from "../util/row.ts";

interface GetOptions {
  readonly consistent?: boolean;
  readonly given?: Row;
}

const getKinds: OptionChecks<GetOptions> = { ...consistentKinds, given: namesIn };

type SubtreeOptions = LevelOptions & { readonly depth?: number };

const subtreeKinds: OptionChecks<SubtreeOptions> = { ...levelOptions, depth: undefined };

const lookupOf = ({ name }: NodeEntry, options: GetOptions, many: boolean): LookupState => {
  const { given = {}, consistent = false } = checkOptions(options, getKinds);
  return { of: "node", name, many, given: Object.keys(given), consistent };
};

const getNode =
  (driver: Driver, entry: NodeEntry) =>
  (id: Row, options: GetOptions = {}): Read<Row | undefined> => {
    const state = lookupOf(entry, options, false);
    const request: ReadRequest = {
      plan: driver.plan(lookupForm(state), () => lookupPlan(state)),
      findNode: findNode(driver),
      binding: { row: rowOf(driver, entry, id, options), values: [] },
    };
    return readCall(driver, request, ([one]) => one?.row);
  };

const rowOf = ({ catalog }: Driver, entry: NodeEntry, id: Row, { given }: GetOptions): Row => {
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
    const idOf = (row: Row): string => exactText(entry.idFields.map((field) => row[field]));
    if (request.plan.sources[0]?.kind === "query") {
      throw new EdgetableError(
        "plan.unsupported",
        `The key of "${entry.name}" holds more than its id: give the rest by { given }, or get one at a time.`,
        { details: { node: entry.name } },
      );
    }
    return readCall(driver, request, (found) => {
      const byId = new Map(found.map((one) => [idOf(one.row), one.row]));
      return rows.map((row) => byId.get(idOf(row)));
    });
  };

const collect = (
  driver: Driver,
  entry: NodeEntry,
  { id, ...from }: { readonly id: Row } & Omit<CollectionState, "node">,
): Read<unknown> => {
  const state = { node: entry.name, ...from };
  const request: ReadRequest = {
    plan: driver.plan(collectionForm(state), () => collectionPlan(state)),
    findNode: findNode(driver),
    binding: { row: checkNodeId(driver.catalog, entry, id), values: [] },
  };
  return readCall(driver, request, (found) => toCollection(entry, id, found));
};

/** What `db.node(id)` gives. */
export class NodeHandle {
  readonly #driver: Driver;
  readonly #entry: NodeEntry;
  readonly #id: Row;
  readonly #anchor: readonly string[];

  constructor(driver: Driver, entry: NodeEntry, anchor: { readonly id: Row; readonly fields: readonly string[] }) {
    this.#driver = driver;
    this.#entry = entry;
    this.#id = anchor.id;
    this.#anchor = anchor.fields;
  }

  get(options?: GetOptions): Read<Row | undefined> {
    return getNode(this.#driver, this.#entry)(this.#id, options);
  }

  collection(options: { readonly consistent?: boolean } = {}): Read<unknown> {
    const { consistent = false } = checkOptions(options, consistentKinds);
    return collect(this.#driver, this.#entry, { id: this.#id, direction: "out", consistent, index: undefined });
  }

  incoming(options: { readonly index?: string } = {}): Read<unknown> {
    return collect(this.#driver, this.#entry, {
      id: this.#id,
      direction: "in",
      consistent: false,
      index: checkOptions(options, { index: "string" }).index,
    });
  }

  out(edge: string): NeighbourQuery {
    return this.#neighbours(edge, "out");
  }

  in(edge: string): NeighbourQuery {
    return this.#neighbours(edge, "in");
  }

  both(edge: string): NeighbourQuery {
    return this.#neighbours(edge, "both");
  }

  has(edge: string, to: Row, key: Row = {}, options: { readonly consistent?: boolean } = {}): Read<boolean> {
    checkEdge(this.#driver, [this.#entry.name], { edge, direction: "out" });
    const entry = this.#driver.catalog.edges[edge];
    const ends = {
      from: endRow(this.#driver.catalog, entry?.from ?? [], {
        ...(entry && entry.from.length > 1 ? { type: this.#entry.name } : {}),
        ...this.#id,
      }),
      to: endRow(this.#driver.catalog, entry?.to ?? [], to),
    };
    const request = edgeLookup(this.#driver, edge, {
      rows: [{ ...checkKey(edge, entry?.key ?? [], key), ...ends }],
      many: false,
      consistent: checkOptions(options, consistentKinds).consistent ?? false,
    });
    return readCall(this.#driver, request, (found) => found.length > 0);
  }

  walk(): WalkQuery {
    return this.#from(this.#entry.name, this.#id);
  }

  neighbourhood(hop: AnyHop, depth: number): WalkQuery {
    return this.walk().repeat(hop, { depth, emit: "all" }).except("start");
  }

  dependencies(edge: string): WalkQuery {
    return this.walk().closure({ out: edge }).dedupe().except("start");
  }

  dependents(edge: string): WalkQuery {
    return this.walk().closure({ in: edge }).dedupe().except("start");
  }

  subtree(hop: AnyHop, all: SubtreeOptions = {}): WalkCall<Walked<WalkLevel>> {
    const { depth, ...options } = checkOptions(all, subtreeKinds);
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

  #neighbours(edge: string, direction: Direction): NeighbourQuery {
    checkEdge(this.#driver, [this.#entry.name], { edge, direction });
    return new NeighbourQuery(this.#driver, {
      node: this.#entry.name,
      id: this.#id,
      anchor: this.#anchor,
      edge,
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

/** The reading side of `db.<node>`: a function that gives a handle, with its own methods. */
export const nodeReads = (driver: Driver, entry: NodeEntry): ((id: Row) => NodeHandle) & object => {
  const handle = (id: Row): NodeHandle =>
    new NodeHandle(driver, entry, { id: checkNodeId(driver.catalog, entry, id), fields: entry.idFields });
  const within = (id: Row): NodeHandle =>
    new NodeHandle(driver, entry, { id, fields: leadingIdFields(entry.name, entry.idFields, checkId(entry.name, [], id)) });
  return Object.assign(handle, {
    within,
    get: getNode(driver, entry),
    getMany: getNodes(driver, entry),
  });
};
