import type { TableSettings, ValueStorage } from "../schema/definition.ts";
import type { StepPrice } from "./prices.ts";

/** The kinds of items that an index will contain. */
export interface BackfilledEntry {
  readonly index: string;
  /** Ids of shapes: `student`, `likes(person>post)`, `rated:mirror`. */
  readonly shapes: readonly string[];
  /** True if the table already has the index, which does not contain all of these items until the migration has ended. */
  readonly live: boolean;
}

/** One step of a migration. The kinds are listed in the order in which they are taken. */
export type MigrationStep =
  /** The removal of expired items is enabled for the attribute, or disabled. */
  | { readonly kind: "setExpiry"; readonly attribute: string | undefined; readonly says: string }
  /** Stream, deletion protection and point-in-time recovery are set as the model says. */
  | { readonly kind: "setTable"; readonly settings: TableSettings; readonly says: string }
  /** Renamed and retyped attributes are stored as the model says. Every value is converted once before anything is written. */
  | ({
      readonly kind: "convert";
      /** As `person.fullName`. */
      readonly attributes: readonly string[];
      readonly says: string;
    } & StepPrice)
  /**
   * Nodes get derived attributes, and edges and parts get copies, computed from the stored items; the items that count degrees
   * (`likes.outDegree`) count existing edges.
   */
  | ({
      readonly kind: "derive";
      readonly facts: readonly string[];
      /** Those that the stream processor maintains from then on. They are computed with `finish`. */
      readonly streamed: readonly string[];
      readonly says: string;
    } & StepPrice)
  /** Unique values of nodes are reserved. Values that several nodes have are reported. */
  | ({
      readonly kind: "reserve";
      /** As `person.email`. */
      readonly attributes: readonly string[];
      readonly says: string;
    } & StepPrice)
  /** Items get the index keys that the model computes. Repeated until a pass finds nothing to change. */
  | ({
      readonly kind: "backfill";
      readonly entries: readonly BackfilledEntry[];
      readonly says: string;
    } & StepPrice)
  /** The values of users' fields move to another storage. Repeated until a pass finds nothing to move. */
  | ({ readonly kind: "moveValues"; readonly node: string; readonly to: ValueStorage; readonly says: string } & StepPrice)
  /** DynamoDB builds the index after all items have its keys. `begun`: this has already started. */
  | ({ readonly kind: "createIndex"; readonly index: string; readonly begun?: true; readonly says: string } & StepPrice)
  /** Items move to the shards in which the model puts them. */
  | ({ readonly kind: "reshard"; readonly index: string; readonly says: string } & StepPrice)
  /** An index that only the recorded model has is deleted. */
  | { readonly kind: "deleteIndex"; readonly index: string; readonly says: string }
  /** The table records the model. Its price includes the run's own state: its lease and its progress. */
  | ({ readonly kind: "record"; readonly says: string } & StepPrice);
