import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Shape } from "../../schema/catalog.ts";
import type { Item } from "../../transport/operations.ts";
import { hashText } from "../../util/hash-text.ts";

/** One item that a row makes. */
export interface RowItem {
  /** Its table key, as text. */
  readonly id: string;
  readonly shape: Shape;
  readonly item: Item;
}

/** Two rows of the input that make the same item; the later one wins. */
export interface Collision {
  /** The shape of the item, such as `student` or `enrolledIn:mirror`. */
  readonly of: string;
  /** The item's table key, as its values in order. */
  readonly key: readonly string[];
  /** Positions of the two rows in the input, from 0. */
  readonly rows: readonly [number, number];
  /** True if the later row changed the item that the earlier one wrote. */
  readonly differs: boolean;
}

/** The number of items that were made more than once. */
export interface CollisionCount {
  readonly items: number;
  /** The number of these items whose content changed. */
  readonly differing: number;
}

/** Rows of an input that made items which other rows had made. */
export interface Collisions extends CollisionCount {
  /** The same by shape. */
  readonly by: Readonly<Record<string, CollisionCount>>;
  /** The first collisions. */
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
  /** Maximum number of collisions to list. */
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

/** A 32-bit hash of an item, independent of the order of its attributes (FNV-1a over UTF-16 units, summed). */
export const contentHash = (item: Item): number => {
  let hash = 0;
  for (const name in item) {
    const value = item[name];
    if (value === undefined) continue;
    // Most values are texts, which are hashed as they are.
    const text = "S" in value ? mix(mix(0x811c9dc5, name), value.S) : mix(mix(0x811c9dc6, name), JSON.stringify(value));
    hash = (hash + text) | 0;
  }
  return hash >>> 0;
};

/**
 * Opens a search for rows that make the same key.
 *
 * @throws {load.collision} from `see`, if collisions are refused
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

/** Words of a slot. */
const SLOT = 4;
/** Words of a page: 256 slots, 4 KB. */
const PAGE = 1024;

/** Pages of a table: the first ones in memory, the others in a temporary file. */
interface KeyPages {
  /** The page as it was last written; valid until another page is read. */
  read(page: number): Uint32Array;
  /** Writes a page; with `at`, only the slot there has changed since the page was read. */
  write(page: number, words: Uint32Array, at?: number): void;
  readonly close: () => void;
}

const quietly = <Of>(act: (of: Of) => void, of: Of): void => {
  try {
    act(of);
  } catch {
    // Nothing can be done about this error, and callers need not know it.
  }
};

/** Opens pages. Keeps `inMemory` of them in memory, and those that no file can take, because there is none or the disk is full. */
const openKeyPages = (inMemory: number): KeyPages => {
  const kept = new Map([[0, new Uint32Array(PAGE)]]);
  const buffer = new Uint32Array(PAGE);
  const path = `${tmpdir()}/edgetable-${randomUUID()}`;
  let file: number | undefined;

  const open = (): number => {
    file = openSync(path, "wx+", 0o600);
    // Removed immediately, so that no file is left behind, however the process ends.
    quietly(unlinkSync, path);
    return file;
  };
  const store = (page: number, words: Uint32Array, at?: number): boolean => {
    const length = 4 * (at === undefined ? PAGE : SLOT);
    const from = 4 * (at ?? 0);
    try {
      return writeSync(file ?? open(), words, from, length, 4 * PAGE * page + from) === length;
    } catch {
      return false;
    }
  };

  return {
    read: (page) => {
      const words = kept.get(page);
      if (!words) readSync(file ?? -1, buffer, 0, 4 * PAGE, 4 * PAGE * page);
      return words ?? buffer;
    },
    write: (page, words, at) => {
      const known = kept.get(page);
      if (known === words) return;
      if (page >= inMemory && store(page, words, at)) kept.delete(page);
      else if (known) known.set(words);
      else kept.set(page, words.slice());
    },
    close: () => {
      if (file === undefined) return;
      quietly(closeSync, file);
      // Some systems keep the name of an open file: remove it now.
      quietly(unlinkSync, path);
    },
  };
};

// Just before it is split, a page has twice as many keys, with a standard deviation of 13. A page that has no room for a 257th key,
// and must wait for the splits of all pages before it, occurs in one of ten thousand loads of a hundred million keys.
const KEYS_A_PAGE = 84;

/** Which row made a key last, and whether its item was different. */
export interface Made {
  readonly row: number;
  readonly differs: boolean;
}

/** The keys made so far. */
export interface KeyTable {
  /** Records that a row made a key, and returns the row that made it before. The largest row number is 4,294,967,294. */
  note(key: string, row: number, content: number): Made | undefined;
  readonly close: () => void;
}

type Block = readonly [number, number];

// Speck64, with 27 random round keys that are not stored. AES takes ten times as long, for the way into node:crypto and back.
const openSeal = (): ((block: Block) => Block) => {
  const rounds = crypto.getRandomValues(new Int32Array(27));
  return ([x, y]) => {
    for (const key of rounds) {
      x = (((x >>> 8) | (x << 24)) + y) ^ key;
      y = ((y << 3) | (y >>> 29)) ^ x;
    }
    return [x >>> 0, y >>> 0];
  };
};

/** Where a key's slot begins, or the free slot that it would take; -1 if other keys take every slot. */
const slotOf = (words: Uint32Array, first: number, second: number): number => {
  const home = (first * SLOT) & (PAGE - 1);
  let at = home;
  do {
    if (words[at + 2] === 0 || (words[at] === first && words[at + 1] === second)) return at;
    at = (at + SLOT) & (PAGE - 1);
  } while (at !== home);
  return -1;
};

type Slot = readonly [first: number, second: number, row: number, mark: number];

// Word by word: `set` takes as long as everything else.
const fill = (words: Uint32Array, at: number, slot: Slot): void => {
  words[at] = slot[0];
  words[at + 1] = slot[1];
  words[at + 2] = slot[2];
  words[at + 3] = slot[3];
};

/**
 * Opens a linear hash table: it grows by splitting one page after the other, so that no key waits for more than one split. A slot
 * has two words of the key's hash, one of the row (plus one: 0 is a free slot), and one of the item's hash; 49 bytes a key.
 *
 * Its file reveals only row numbers: the hashes are encrypted with a secret that is not stored. The chance that two different keys
 * are taken for the same one is n² / 2^65: 1 in 37 million for a million keys.
 */
export const openKeyTable = (pagesInMemory: number = 2048, keysAPage: number = KEYS_A_PAGE): KeyTable => {
  const pages = openKeyPages(pagesInMemory);
  const seal = openSeal();
  const [stay, go] = [new Uint32Array(PAGE), new Uint32Array(PAGE)];
  // There are `half` pages, and one more for each that was split.
  let half = 1;
  let count = 1;
  let keys = 0;

  const split = (): void => {
    const from = pages.read(count - half);
    stay.fill(0);
    go.fill(0);
    for (let at = 0; at < PAGE; at += SLOT) {
      const [first = 0, second = 0, row = 0, mark = 0] = [from[at], from[at + 1], from[at + 2], from[at + 3]];
      const to = second & half ? go : stay;
      if (row) fill(to, slotOf(to, first, second), [first, second, row, mark]);
    }
    pages.write(count - half, stay);
    pages.write(count, go);
    if (++count === 2 * half) half = count;
  };

  const note: KeyTable["note"] = (key, row, content) => {
    const [first, second] = seal(hashText(key));
    const [mark] = seal([first ^ content, second]);
    for (; ; split()) {
      const there = second & (2 * half - 1);
      const page = there < count ? there : there - half;
      const words = pages.read(page);
      const at = slotOf(words, first, second);
      if (at < 0) continue;
      const next = words[at + 2];
      const made = next ? { row: next - 1, differs: words[at + 3] !== mark } : undefined;
      fill(words, at, [first, second, row + 1, mark]);
      pages.write(page, words, at);
      if (!made && ++keys > count * keysAPage) split();
      return made;
    }
  };
  return { note, close: pages.close };
};
