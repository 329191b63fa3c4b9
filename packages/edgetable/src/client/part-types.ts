import type { Where } from "../ir/condition.ts";
import type { ReadExplanation } from "./explanation.ts";
import type { CountOptions, Fetched, Page, Read, SearchPageOptions, SelectOptions } from "./page-types.ts";
import type { ItemTypes, PartWrites } from "./write-types.ts";

/** The reading side of `db.<part>`; `Owner` is the id of the node that contains it. */
export interface PartReads<Owner, Id, Row> {
  /** One part, undefined when there is none. One GetItem. */
  get<const Field extends keyof Row & string = never>(
    owner: Owner,
    id: Id,
    options?: SelectOptions<Field>,
  ): Read<Fetched<Row, NoInfer<Field>> | undefined>;
  /** Several parts of one node, in the order of their ids; undefined for one that is not there. One BatchGetItem for each 100. */
  getMany<const Field extends keyof Row & string = never>(
    owner: Owner,
    ids: readonly Id[],
    options?: SelectOptions<Field>,
  ): Read<readonly (Fetched<Row, NoInfer<Field>> | undefined)[]>;
}

/** One kind of part: `db.<part>`. */
export type PartApi<Owner, T extends ItemTypes, Row> = PartReads<Owner, T["id"], Row> & PartWrites<Owner, T, Row>;

/**
 * Parts of one kind in a node, in the order of their keys, not yet read. Builders are immutable.
 *
 * @throws {schema.unknownAttribute} from `where`, for a name that the part does not have
 * @throws {plan.invalidOption} from `where` and `limit`, for an unknown comparison, or a number out of its range
 */
export interface PartList<Row> extends AsyncIterable<Row> {
  /** Keeps the parts for which every condition holds; several calls add up. What the key does not take is filtered after reading. */
  where(filter: Where<Row>): PartList<Row>;
  /** Sends only the named attributes, and the version where there is one; read, and paid for, are whole items. Comes last. */
  select<const Field extends keyof Row & string>(...fields: readonly Field[]): PartList<Fetched<Row, Field>>;
  /** Reads in the opposite order. */
  reverse(): PartList<Row>;
  /** Reads no more than so many parts, 1 or more. */
  limit(most: number): PartList<Row>;
  /** Reads strongly consistently: twice the units. */
  consistent(): PartList<Row>;
  /** The first part in the order, undefined when there is none. One Query. */
  first(): Read<Row | undefined>;
  /**
   * A page of parts with cursors of those beside it. One Query, more where a filter leaves the page short. The first page of
   * a table leaves the secret of its cursors there.
   *
   * @throws {cursor.invalid} when the cursor is not of these parts
   * @throws {plan.unsupported} after `limit`: a page has a limit of its own
   */
  page(options?: SearchPageOptions): Read<Page<Row>>;
  /** The parts. One Query for each megabyte. */
  all(): Read<readonly Row[]>;
  /** How many parts there are. What `all` costs, or one GetItem of the node where a derived attribute counts them. */
  count(options?: CountOptions): Read<number>;
  /** What `all` would send, without sending it. */
  explain(): Promise<ReadExplanation>;
}
