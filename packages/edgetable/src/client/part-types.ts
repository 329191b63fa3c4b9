import type { Where } from "../ir/condition.ts";
import type { ReadExplanation } from "./explanation.ts";
import type { CountOptions, Fetched, Page, Read, SearchPageOptions, SelectOptions } from "./page-types.ts";
import type { ItemTypes, PartWrites } from "./write-types.ts";

/** The reading side of `db.<part>`; `Owner` is the id of the node that contains it. */
export interface PartReads<Owner, Id, Row> {
  /** One part; undefined if it does not exist. One GetItem. */
  get<const Field extends keyof Row & string = never>(
    owner: Owner,
    id: Id,
    options?: SelectOptions<Field>,
  ): Read<Fetched<Row, NoInfer<Field>> | undefined>;
  /** Several parts of one node, in the order of their ids; undefined for each that does not exist. One BatchGetItem for each 100. */
  getMany<const Field extends keyof Row & string = never>(
    owner: Owner,
    ids: readonly Id[],
    options?: SelectOptions<Field>,
  ): Read<readonly (Fetched<Row, NoInfer<Field>> | undefined)[]>;
}

/** One kind of part: `db.<part>`. */
export type PartApi<Owner, T extends ItemTypes, Row> = PartReads<Owner, T["id"], Row> & PartWrites<Owner, T, Row>;

/**
 * A query for the parts of one kind in a node, in the order of their keys. Builders are immutable.
 *
 * @throws {schema.unknownAttribute} from `where`, for an unknown name
 * @throws {plan.invalidOption} from `where` and `limit`, for an unknown comparison, or a number out of range
 */
export interface PartList<Row> extends AsyncIterable<Row> {
  /**
   * Keeps the parts for which every condition holds; several calls add up. Conditions that the key does not cover are checked after
   * reading.
   */
  where(filter: Where<Row>): PartList<Row>;
  /** Returns only the named attributes, and the version if there is one. Whole items are read and paid for. Call it last. */
  select<const Field extends keyof Row & string>(...fields: readonly Field[]): PartList<Fetched<Row, Field>>;
  /** Reads in the opposite order. */
  reverse(): PartList<Row>;
  /** Reads at most this many parts, 1 or more. */
  limit(most: number): PartList<Row>;
  /** Reads strongly consistently: twice the units. */
  consistent(): PartList<Row>;
  /** The first part in the order; undefined if there is none. One Query. */
  first(): Read<Row | undefined>;
  /**
   * A page of parts with cursors to the pages beside it. One Query, more if a filter leaves the page short. The first page of a
   * table stores the secret of its cursors there.
   *
   * @throws {cursor.invalid} if the cursor belongs to another query
   * @throws {plan.unsupported} after `limit`: a page has a limit of its own
   */
  page(options?: SearchPageOptions): Read<Page<Row>>;
  /** The parts. One Query for each megabyte. */
  all(): Read<readonly Row[]>;
  /** The number of parts. Costs what `all` costs, or one GetItem of the node if a derived attribute counts them. */
  count(options?: CountOptions): Read<number>;
  /** What `all` would send, without sending it. */
  explain(): Promise<ReadExplanation>;
}
