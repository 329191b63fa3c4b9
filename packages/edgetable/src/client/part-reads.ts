import { fieldsIn, readWhere } from "../ir/condition.ts";
import type { Found } from "../executor/read-rows.ts";
import type { ReadRequest } from "../executor/run-read.ts";
import { lookupForm, lookupPlan, type LookupState, partForm, partPlan, type PartState, type PartWant } from "../query/reads.ts";
import { idText, ownerFields, type PartEntry } from "../schema/catalog.ts";
import { checkKey, checkNodeId, refuseStoredNames } from "../schema/check-values.ts";
import { checkOptions, inRange, listOf, type OptionChecks } from "../util/check-options.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import { checkNames, onlySelected, readNames, selectedFields } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import { consistentOption } from "./edge-reads.ts";
import type { ReadExplanation } from "./explanation.ts";
import {
  countCall,
  countOptions,
  filteredCall,
  filteringFor,
  type Filtering,
  findNode,
  pageCall,
  pageOptions,
  readCall,
  readInParts,
  refuseLimit,
} from "./read-call.ts";
import type { CountOptions, Page, Read, SearchPageOptions } from "./page-types.ts";

/** The request that reads a node's parts. */
const partsRequest = (driver: Driver, given: PartState, want: PartWant, filtering?: Filtering): ReadRequest => {
  const state = { ...given, ...filtering?.conditionsForKeys(driver.catalog, [{ of: "part", name: given.part }], given) };
  const plan = driver.plan(partForm(state, want), () => partPlan(state, want), { filtering: filtering?.filterRules });
  const binding = { row: state.id, values: state.values };
  return {
    plan,
    binding,
    limit: state.limit,
    findNode: findNode(driver),
    empty: filtering?.contradict(state.conditions, state.values) ?? false,
  };
};

/** The request that reads all parts of one kind in a node. */
export const allParts = (driver: Driver, part: string, id: Row, consistent: boolean): ReadRequest =>
  partsRequest(driver, { part, id, conditions: [], values: [], forward: true, consistent, select: undefined, limit: undefined }, "rows");

/** The builder behind {@link PartList}; each method returns a new one. */
export class PartQuery {
  readonly #driver: Driver;
  readonly #entry: PartEntry;
  readonly #state: PartState;

  constructor(driver: Driver, entry: PartEntry, state: PartState) {
    this.#driver = driver;
    this.#entry = entry;
    this.#state = state;
  }

  #with(change: Partial<PartState>): PartQuery {
    return new PartQuery(this.#driver, this.#entry, { ...this.#state, ...change });
  }

  where(filter: Row): PartQuery {
    const { definition, name, shape } = this.#entry;
    const names = fieldsIn(filter, "where");
    refuseStoredNames(shape, names);
    checkNames(names, { kind: "part", name }, readNames(definition));
    const { conditions, values } = this.#state;
    const more = readWhere(filter, [], values.length, [shape]);
    return this.#with({ conditions: [...conditions, ...more.conditions], values: [...values, ...more.values] });
  }

  reverse(): PartQuery {
    return this.#with({ forward: !this.#state.forward });
  }

  limit(limit: number): PartQuery {
    return this.#with({ limit: inRange("limit", limit, [1, Number.MAX_SAFE_INTEGER]) });
  }

  select(...fields: readonly string[]): PartQuery {
    return this.#with({
      select: selectedFields({ kind: "part", ...this.#entry, further: ownerFields(this.#driver.catalog, this.#entry.name) }, fields),
    });
  }

  consistent(): PartQuery {
    return this.#with({ consistent: true });
  }

  first(): Read<Row | undefined> {
    return this.limit(1).#rows(([one]) => one && this.#row(one));
  }

  page(options: SearchPageOptions = {}): Read<Page<Row>> {
    checkOptions(options, pageOptions);
    const { id, values, conditions, limit } = this.#state;
    refuseLimit(limit);
    const form = partForm({ ...this.#state, select: undefined }, "rows");
    return filteredCall(conditions, (filtering) =>
      pageCall(this.#driver, { request: this.#request("rows", filtering), form, values: [id, values], options }, (found) =>
        found.map((one) => this.#row(one)),
      ),
    );
  }

  all(): Read<readonly Row[]> {
    return this.#rows((found) => found.map((one) => this.#row(one)));
  }

  count(options: CountOptions = {}): Read<number> {
    const { kept = "transaction" } = checkOptions(options, countOptions);
    const { shape, name } = this.#entry;
    const { id, conditions, values, consistent, limit } = this.#state;
    const counted = { node: shape.from ?? "", over: { kind: "part", name }, conditions, values } as const;
    const asked = { counted, id, consistent, kept, limit };
    return filteredCall(conditions, (filtering) => countCall(this.#driver, () => this.#request("count", filtering), asked));
  }

  async explain(): Promise<ReadExplanation> {
    return this.all().explain();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    const filtering = await filteringFor(this.#state.conditions);
    for await (const found of readInParts(this.#driver, this.#request("rows", filtering))) for (const one of found) yield this.#row(one);
  }

  #row({ row }: Found): Row {
    return onlySelected(this.#state.select, row);
  }

  #rows<T>(give: (found: readonly Found[]) => T): Read<T> {
    return filteredCall(this.#state.conditions, (filtering) => readCall(this.#driver, this.#request("rows", filtering), give));
  }

  #request(want: PartWant, filtering?: Filtering): ReadRequest {
    return partsRequest(this.#driver, this.#state, want, filtering);
  }
}

/** Begins `db.<node>(id).parts(name)`: the parts of one kind in a node. */
export const partsOf = (driver: Driver, entry: PartEntry, id: Row): PartQuery =>
  new PartQuery(driver, entry, {
    part: entry.name,
    id,
    conditions: [],
    values: [],
    forward: true,
    consistent: false,
    select: undefined,
    limit: undefined,
  });

interface PartGetOptions {
  readonly consistent?: boolean | undefined;
  readonly select?: readonly string[] | undefined;
}

const getOptions: OptionChecks<PartGetOptions> = { ...consistentOption, select: undefined };

/** The reading side of `db.<part>`. */
export const partReads = (driver: Driver, entry: PartEntry): Record<string, unknown> => {
  const { name, definition, idFields } = entry;
  const owner = defined(driver.catalog.nodes[definition.of], `the owner of "${name}"`);
  const ownerOf = (node: Row): Row => checkNodeId(driver.catalog, owner, node);
  const request = (many: boolean, options: PartGetOptions) => {
    const { consistent = false, select: given } = checkOptions(options, getOptions);
    const select = selectedFields({ kind: "part", ...entry, further: owner.idFields }, given);
    // Parts are matched to the given ids.
    const read = select && { select: [...new Set([...select, ...idFields])] };
    const state: LookupState = { of: "part", name, many, given: [], consistent, ...read };
    return { select, made: { plan: driver.plan(lookupForm(state), () => lookupPlan(state)), findNode: findNode(driver) } };
  };
  return {
    get: (node: Row, id: Row, options: PartGetOptions = {}): Read<Row | undefined> => {
      const row = { ...checkKey(name, idFields, id), ...ownerOf(node) };
      const { select, made } = request(false, options);
      return readCall(driver, { ...made, binding: { row, values: [] } }, ([one]) => one && onlySelected(select, one.row));
    },
    getMany: (node: Row, ids: readonly Row[], options: PartGetOptions = {}): Read<readonly (Row | undefined)[]> => {
      const of = ownerOf(node);
      const rows = listOf(ids).map((id) => ({ ...checkKey(name, idFields, id), ...of }));
      const { select, made } = request(true, options);
      return readCall(driver, { ...made, binding: { row: {}, values: [] }, rows }, (found) => {
        const byId = new Map(found.map((one) => [idText(entry, one.row), onlySelected(select, one.row)]));
        return rows.map((row) => byId.get(idText(entry, row)));
      });
    },
  };
};
