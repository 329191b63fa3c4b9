import type { ReadRequest } from "../executor/run-read.ts";
import { readWhere, type Condition } from "../ir/condition.ts";
import type { LogicalPlan, Parts } from "../ir/logical-plan.ts";
import { attributeNames } from "../schema/attribute-names.ts";
import type { PartEntry } from "../schema/catalog.ts";
import { inRange, namesIn } from "../util/check-range.ts";
import { checkNames } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import type { ReadExplanation } from "./explanation.ts";
import { findNode } from "./find-node.ts";
import { countCall, readCall } from "./read-call.ts";
import type { Read } from "./read-types.ts";

type Row = Readonly<Record<string, unknown>>;

interface PartState {
  readonly id: Row;
  readonly conditions?: readonly Condition[];
  readonly values?: readonly unknown[];
  readonly forward?: boolean;
  readonly consistent?: boolean;
  readonly limit?: number;
}

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
    const { definition, name } = this.#entry;
    checkNames(namesIn(filter), { kind: "part", name }, attributeNames(definition.schema));
    const { conditions = [], values = [] } = this.#state;
    const more = readWhere(filter, [], values.length);
    return this.#with({ conditions: [...conditions, ...more.conditions], values: [...values, ...more.values] });
  }

  reverse(): PartQuery {
    return this.#with({ forward: !(this.#state.forward ?? true) });
  }

  limit(most: number): PartQuery {
    return this.#with({ limit: inRange("limit", most, [1, Number.MAX_SAFE_INTEGER]) });
  }

  consistent(): PartQuery {
    return this.#with({ consistent: true });
  }

  all(): Read<readonly Row[]> {
    return readCall(this.#driver, this.#request(false), (found) => found.map((one) => one.row));
  }

  count(): Read<number> {
    return countCall(this.#driver, this.#request(true));
  }

  explain(): ReadExplanation {
    return this.all().explain();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    yield* await this.all();
  }

  #logical(counts: boolean): LogicalPlan {
    const { conditions = [], forward = true, consistent = false } = this.#state;
    const parts: Parts = { kind: "parts", part: this.#entry.name, known: [], range: [], filter: [], forward, consistent };
    const input: LogicalPlan = conditions.length === 0 ? parts : { kind: "filter", input: parts, conditions };
    return counts ? { kind: "count", input, server: false } : input;
  }

  #request(counts: boolean): ReadRequest {
    const { id, conditions = [], values = [], forward = true, consistent = false, limit } = this.#state;
    const form = conditions.map((condition) => `${condition.path} ${condition.operator} ${condition.slot}`).join("&");
    const signature = `parts|${this.#entry.name}|${counts ? 1 : 0}${forward ? 1 : 0}${consistent ? 1 : 0}|${form}`;
    const plan = this.#driver.plan(signature, () => this.#logical(counts));
    return { plan, binding: { row: id, values }, limit, findNode: findNode(this.#driver) };
  }
}
