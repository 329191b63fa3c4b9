import type { TableSettings, ValueStorage } from "../schema/definition.ts";
import type { StepPrice } from "./prices.ts";

/** The kinds of items that an index is to find. */
export interface BackfilledEntry {
  readonly index: string;
  /** Ids of shapes: `student`, `likes(person>post)`, `rated:mirror`. */
  readonly shapes: readonly string[];
  /** True if the table has the index already: it finds these items in part until the migration has ended. */
  readonly live: boolean;
}

/** One step of a migration, in the order in which they are taken. */
export type MigrationStep =
  /** The removal of expired items is switched to the attribute, or off. */
  | { readonly kind: "setExpiry"; readonly attribute: string | undefined; readonly says: string }
  /** Stream, deletion protection and point-in-time recovery are set as the model says. */
  | { readonly kind: "setTable"; readonly settings: TableSettings; readonly says: string }
  /** Renamed and retyped attributes are stored as the model says. Before anything is written, every value is converted once. */
  | ({
      readonly kind: "convert";
      /** As `person.fullName`. */
      readonly attributes: readonly string[];
      readonly says: string;
    } & StepPrice)
  /**
   * Nodes get derived attributes, edges and parts copies, computed from what is stored; the items that count degrees
   * (`likes.outDegree`) count what there is.
   */
  | ({
      readonly kind: "derive";
      readonly facts: readonly string[];
      /** Those that the stream's processor keeps from then on. They are computed with `finish`. */
      readonly streamed: readonly string[];
      readonly says: string;
    } & StepPrice)
  /** Unique values of nodes are reserved. Those that several nodes have are named. */
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
  /** DynamoDB builds the index, from items that all have its keys. `begun`: it does so already. */
  | ({ readonly kind: "createIndex"; readonly index: string; readonly begun?: true; readonly says: string } & StepPrice)
  /** Items move to the shards in which the model puts them. */
  | ({ readonly kind: "reshard"; readonly index: string; readonly says: string } & StepPrice)
  /** An index that only the recorded model has. */
  | { readonly kind: "deleteIndex"; readonly index: string; readonly says: string }
  /** The table records the model. Priced with what the run keeps of itself: its lease, and how far it has come. */
  | ({ readonly kind: "record"; readonly says: string } & StepPrice);
