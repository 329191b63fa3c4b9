import type { ReadRequest } from "../executor/run-read.ts";
import { readWhere } from "../ir/condition.ts";
import { contradict } from "../ir/evaluate-condition.ts";
import { partForm, partPlan, type PartState, type PartWant } from "../query/reads.ts";
import { attributeNames } from "../schema/standard-schema.ts";
import { refuseStoredNames } from "../schema/check-id.ts";
import type { PartEntry } from "../schema/catalog.ts";
import { inRange, namesIn } from "../util/check-options.ts";
import { checkNames } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import type { ReadExplanation } from "./explanation.ts";
import { findNode } from "./find-node.ts";
import { countCall, readCall } from "./read-call.ts";
import type { Read } from "./read-types.ts";
import type { Row } from "../util/row.ts";

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
    refuseStoredNames(shape, namesIn(filter));
    checkNames(namesIn(filter), { kind: "part", name }, attributeNames(definition.schema));
    const { conditions, values } = this.#state;
    const more = readWhere(filter, [], values.length);
    return this.#with({ conditions: [...conditions, ...more.conditions], values: [...values, ...more.values] });
  }

  reverse(): PartQuery {
    return this.#with({ forward: !this.#state.forward });
  }

  limit(most: number): PartQuery {
    return this.#with({ limit: inRange("limit", most, [1, Number.MAX_SAFE_INTEGER]) });
  }

  consistent(): PartQuery {
    return this.#with({ consistent: true });
  }

  all(): Read<readonly Row[]> {
    return readCall(this.#driver, this.#request("rows"), (found) => found.map((one) => one.row));
  }

  count(): Read<number> {
    return countCall(this.#driver, this.#request("count"));
  }

  async explain(): Promise<ReadExplanation> {
    return this.all().explain();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    yield* await this.all();
  }

  #request(want: PartWant): ReadRequest {
    const state = this.#state;
    const plan = this.#driver.plan(partForm(state, want), () => partPlan(state, want));
    const binding = { row: state.id, values: state.values };
    return { plan, binding, limit: state.limit, findNode: findNode(this.#driver), empty: contradict(state.conditions, state.values) };
  }
}

/** The parts of one kind in a node, as `db.<node>(id).parts(name)` begins. */
export const partsOf = (driver: Driver, entry: PartEntry, id: Row): PartQuery =>
  new PartQuery(driver, entry, {
    part: entry.name,
    id,
    conditions: [],
    values: [],
    forward: true,
    consistent: false,
    limit: undefined,
  });
