import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Shape } from "../../schema/catalog.ts";
import type { Item } from "../../transport/operations.ts";
import { openKeyTable } from "./key-table.ts";

/** One item that a row makes. */
export interface RowItem {
  /** Its table key, as text. */
  readonly id: string;
  readonly shape: Shape;
  readonly item: Item;
}

/** Two rows of the input that make the same item: the later one stands. */
export interface Collision {
  /** The shape of the item, such as `student` or `enrolledIn:mirror`. */
  readonly of: string;
  /** The item's table key, as its values in order. */
  readonly key: readonly string[];
  /** Positions of the two rows in the input, from 0. */
  readonly rows: readonly [number, number];
  /** Whether the later row changed what the earlier one wrote. */
  readonly differs: boolean;
}

/** How many items were made more than once. */
export interface CollisionCount {
  readonly items: number;
  /** Those of them whose content changed. */
  readonly differing: number;
}

/** Rows of an input that made items which other rows had made. */
export interface Collisions extends CollisionCount {
  /** The same by shape. */
  readonly by: Readonly<Record<string, CollisionCount>>;
  /** Those that are named: the first ones. */
  readonly first: readonly Collision[];
}

export interface CollisionFinder {
  /** Looks for earlier rows that made the same items. */
  see(row: number, items: readonly RowItem[]): void;
  report(): Collisions;
  close(): void;
}

export interface CollisionSettings {
  readonly collisions: "report" | "refuse" | "ignore";
  /** How many collisions are named. */
  readonly named: number;
  readonly onCollision?: ((collision: Collision) => void) | undefined;
  /** Pages of keys (4 KB) kept in memory, before there is a file. Tests set it. @default 2,048 */
  readonly pagesInMemory?: number;
}

const mix = (hash: number, text: string): number => {
  let mixed = hash;
  for (let at = 0; at < text.length; at++) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  // Between two texts, so that "a", "bc" is not "ab", "c".
  return Math.imul(mixed ^ 0x1ffff, 0x01000193);
};

/** 32 bits of an item, whatever the order of its attributes (FNV-1a over UTF-16 units, summed). */
export const contentHash = (item: Item): number => {
  let hash = 0;
  for (const name in item) {
    const value = item[name];
    if (value === undefined) continue;
    // Text is most of what there is, and needs no form of its own.
    const text = "S" in value ? mix(mix(0x811c9dc5, name), value.S) : mix(mix(0x811c9dc6, name), JSON.stringify(value));
    hash = (hash + text) | 0;
  }
  return hash >>> 0;
};

/**
 * Finds rows that make the same key, until it is closed.
 *
 * @throws {load.collision} from `see`, where collisions are refused
 */
export const findCollisions = (settings: CollisionSettings): CollisionFinder => {
  const table = openKeyTable(settings.pagesInMemory);
  const by: Record<string, { items: number; differing: number }> = {};
  const first: Collision[] = [];
  const report = (collision: Collision): void => {
    const count = (by[collision.of] ??= { items: 0, differing: 0 });
    count.items++;
    if (collision.differs) count.differing++;
    if (first.length < settings.named) first.push(collision);
    settings.onCollision?.(collision);
    if (settings.collisions !== "refuse") return;
    const { of, key, rows, differs } = collision;
    throw new EdgetableError(
      "load.collision",
      `Rows ${rows[0]} and ${rows[1]} make the same "${of}" (${key.join(", ")})${differs ? " with different values" : ""}. Correct the input or the key, or load with collisions: "report".`,
      { details: { ...collision } },
    );
  };
  const see = (row: number, items: readonly RowItem[]): void => {
    for (const { id, item, shape } of items) {
      const made = table.note(id, row, contentHash(item));
      if (!made || made.row === row) continue;
      const values = JSON.parse(id) as readonly { readonly S?: string; readonly N?: string }[];
      report({ of: shape.id, key: values.map(({ S, N }) => S ?? N ?? ""), rows: [made.row, row], differs: made.differs });
    }
  };
  const total = (what: keyof CollisionCount): number => Object.values(by).reduce((sum, count) => sum + count[what], 0);
  return {
    see: settings.collisions === "ignore" ? () => undefined : see,
    close: table.close,
    report: () => ({ items: total("items"), differing: total("differing"), by, first }),
  };
};
