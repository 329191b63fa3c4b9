import type { DriftedField } from "../requests/decode-item.ts";
import type { Item, Key } from "../transport/operations.ts";

/** An item of the table that gives no row. */
export interface StrayItem {
  readonly key: Key;
  /** The item in DynamoDB's own form. */
  readonly item: Item;
  /** Why it gives none. */
  readonly reason: string;
}

/** An item that holds a copy of a field which disagrees with its key. */
export interface DriftedItem extends DriftedField {
  readonly key: Key;
}

/** Items whose copies disagree with their keys. */
export interface Drift {
  readonly items: number;
  /** The first ones. */
  readonly first: readonly DriftedItem[];
}

/** How a read treats what others have stored. */
export interface ReadingOptions {
  /**
   * What becomes of an item that stands where a row should and cannot be read as one: it is passed over and
   * counted in the report, `"throw"` ends the read with `keys.unreadable`, or a function is told of it.
   * @default "skip"
   */
  readonly onStray?: "skip" | "throw" | ((stray: StrayItem) => void) | undefined;
  /**
   * `"show"` to give attributes that the model does not know too: those that left its schema, and index keys of
   * another deployment.
   * @default "hide"
   */
  readonly unknown?: "show" | "hide" | undefined;
}
