import { hashText } from "../../util/hash-text.ts";

const FIRST_CAPACITY = 1024;
const FULLEST = 0.6;
// Of each slot: two halves of the key's hash, the row (plus one: 0 is a free slot), the content's hash.
const STRIDE = 4;

/** Which row made a key last, and what it held. */
export interface Made {
  readonly row: number;
  readonly content: number;
}

/**
 * The keys that were made so far, as hashes: 16 bytes a slot, at least 40 % of the slots free. Two
 * different keys pass for one with a chance of n² / 2^65: 1 in 37 million for a million keys.
 */
export class KeyTable {
  #slots = new Uint32Array(FIRST_CAPACITY * STRIDE);
  #capacity = FIRST_CAPACITY;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Notes that a row made a key, and tells who did before. Rows count to 4,294,967,294. */
  note(key: string, row: number, content: number): Made | undefined {
    const [high, low] = hashText(key);
    const at = this.#find(high, low);
    const slots = this.#slots;
    const before = slots[at + 2] ?? 0;
    const made = before === 0 ? undefined : { row: before - 1, content: slots[at + 3] ?? 0 };
    slots[at] = high;
    slots[at + 1] = low;
    slots[at + 2] = row + 1;
    slots[at + 3] = content;
    if (!made && ++this.#size > this.#capacity * FULLEST) this.#grow();
    return made;
  }

  #find(high: number, low: number): number {
    const slots = this.#slots;
    const mask = this.#capacity - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const at = slot * STRIDE;
      if (slots[at + 2] === 0 || (slots[at] === high && slots[at + 1] === low)) return at;
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#capacity *= 2;
    this.#slots = new Uint32Array(this.#capacity * STRIDE);
    for (let from = 0; from < old.length; from += STRIDE) {
      if (old[from + 2] === 0) continue;
      this.#slots.set(old.subarray(from, from + STRIDE), this.#find(old[from] ?? 0, old[from + 1] ?? 0));
    }
  }
}
