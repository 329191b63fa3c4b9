import { parseDecimal } from "../util/decimal.ts";
import { isNumber } from "../util/row.ts";

/** Both halves of a hash that is being made; the same two numbers for each, so that nothing is allocated. */
const state = new Uint32Array(2);

// Cyrb53 by bryc (public domain), as in util/hash-text.ts, over several texts and from a seed.
const begin = (seed: number): void => {
  state[0] = 0xdeadbeef ^ seed;
  state[1] = 0x41c6ce57 ^ seed;
};

const mixNumber = (value: number): void => {
  state[0] = Math.imul(state[0]! ^ value, 2_654_435_761);
  state[1] = Math.imul(state[1]! ^ value, 1_597_334_677);
};

const mixText = (text: string): void => {
  let high = state[0]!;
  let low = state[1]!;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  // An end that no text contains: "a" + "bc" and "ab" + "c" differ.
  state[0] = Math.imul(high ^ 0x1_00_00, 2_654_435_761);
  state[1] = Math.imul(low ^ 0x1_00_00, 1_597_334_677);
};

const finish = (): void => {
  const high = Math.imul(state[0]! ^ (state[0]! >>> 16), 2_246_822_507) ^ Math.imul(state[1]! ^ (state[1]! >>> 13), 3_266_489_909);
  const low = Math.imul(state[1]! ^ (state[1]! >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  state[0] = high;
  state[1] = low;
};

const KINDS = { text: 1, number: 2, bytes: 3, date: 4, list: 5, set: 6, map: 7, other: 8 } as const;

const mixValue = (value: unknown): void => {
  if (typeof value === "string") {
    mixNumber(KINDS.text);
    mixText(value);
  } else if (isNumber(value)) {
    mixNumber(KINDS.number);
    mixText(String(value));
  } else if (value instanceof Date) {
    mixNumber(KINDS.date);
    mixText(String(value.getTime()));
  } else if (value instanceof Uint8Array) {
    mixNumber(KINDS.bytes);
    for (const byte of value) mixNumber(byte);
  } else if (Array.isArray(value)) {
    mixNumber(KINDS.list);
    for (const member of value) mixValue(member);
  } else if (value instanceof Set) {
    mixNumber(KINDS.set);
    mixUnordered([...value], mixValue);
  } else if (typeof value === "object" && value !== null) {
    mixNumber(KINDS.map);
    mixUnordered(Object.entries(value), ([name, member]) => {
      mixText(name);
      mixValue(member);
    });
  } else {
    mixNumber(KINDS.other);
    mixText(String(value));
  }
};

/** Mixes members whose order means nothing: the sum of their hashes. */
const mixUnordered = <T>(members: Iterable<T>, mix: (member: T) => void): void => {
  const [high, low] = [state[0]!, state[1]!];
  let [highs, lows] = [0, 0];
  for (const member of members) {
    begin(0);
    mix(member);
    finish();
    highs = (highs + state[0]!) | 0;
    lows = (lows + state[1]!) | 0;
  }
  state[0] = high;
  state[1] = low;
  mixNumber(highs);
  mixNumber(lows);
};

// Tallies add up modulo two primes, the largest below 2^32: ten has an inverse there, so that decimals add up with all digits.
// Sums that differ by less than 10^19, in whatever place, never look alike.
const PRIMES = [4_294_967_291, 4_294_967_279] as const;

// The first product has 48 bits, so that a double holds every step.
const multiply = (a: number, b: number, prime: number): number => (((a * (b >>> 16)) % prime) * 65_536 + a * (b & 0xffff)) % prime;

const power = (base: number, exponent: number, prime: number): number => {
  if (exponent === 0) return 1;
  const root = power(base, Math.floor(exponent / 2), prime);
  const square = multiply(root, root, prime);
  return exponent % 2 === 0 ? square : multiply(square, base, prime);
};

const residue = (value: number | string, prime: number): number => {
  const number = Number(value);
  if (Number.isSafeInteger(number) && (typeof value === "number" || /^-?\d+$/.test(value))) return ((number % prime) + prime) % prime;
  const { units, exponent } = parseDecimal(String(value));
  const whole = Number(((units % BigInt(prime)) + BigInt(prime)) % BigInt(prime));
  // By Fermat, an exponent counts modulo prime - 1.
  return multiply(whole, power(10, exponent < 0 ? exponent + prime - 1 : exponent, prime), prime);
};

/** What a fact is about: texts that no two facts share, such as the key of a marker. */
export type FactId = readonly string[];

/** What is said about a fact: fields with their values, in any order; `undefined` values count as names alone. */
export type Contents = Readonly<Record<string, unknown>>;

const BUCKETS = 2 ** 20;
// Four tables: a key that is needed and not there hides only behind others in all of them.
const TABLES = 4;

/** How large the tables of nodes are: bits for each of the four. A power of two. */
export const bitsFor = (items: number): number => {
  const wanted = Math.max(items, 1000) * 16;
  return Math.min(2 ** 27, 2 ** Math.ceil(Math.log2(wanted)));
};

/**
 * What is said about a whole table, in memory that does not grow with it. Two kinds of facts are kept:
 *
 * - Sums. A fact that two items tell (an edge by its two copies, a marker and its value, a guard and the edges that it counts)
 *   is hashed by one of them and taken off by the other, in one of 2^20 buckets of 64 bits. A bucket that is not zero in the
 *   end holds a fact that they tell differently. Sums instead of XOR, so that a guard takes off its count at once.
 * - Presence. A key that has to be there, and a key that is there, each set a bit in four tables: a bit that is needed and was
 *   not set is a key that is not there. It is overlooked only if other keys have set its bits in all four.
 */
export interface Tallies {
  /** Adds a fact `times` times, a number or a decimal; negative: takes it off. */
  add(id: FactId, contents: Contents, times: number | string): void;
  /** True if the bucket of a fact does not come to zero. */
  differs(id: FactId): boolean;
  /** Says that a key has to be there, or is there. */
  note(use: "needed" | "there", id: FactId): void;
  /** True if a needed key is surely not there. */
  lacks(id: FactId): boolean;
  /** Whether everything agrees: no bucket differs and no key is lacking. */
  agrees(): boolean;
  /** The probability with which one missing key is overlooked. */
  overlooked(): number;
  /** All memory, to save and restore it. */
  readonly memory: readonly Uint32Array[];
  readonly seed: number;
  readonly bits: number;
}

const bitCount = (word: number): number => {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
};

/** Opens tallies; the seed makes collisions differ from one verification to the next. */
export const openTallies = ({ seed, bits }: { readonly seed: number; readonly bits: number }): Tallies => {
  const sums = new Uint32Array(BUCKETS * 2);
  const words = bits / 32;
  const needed = new Uint32Array(words * TABLES);
  const there = new Uint32Array(words * TABLES);
  const mixId = (id: FactId): void => {
    begin(seed);
    for (const text of id) mixText(text);
  };
  const bucketOf = (id: FactId): number => {
    mixId(id);
    finish();
    return (state[1]! % BUCKETS) * 2;
  };
  // The tables' positions: combinations of both halves, as in a Bloom filter of two hashes.
  const eachBit = (id: FactId, visit: (word: number, mask: number) => boolean | void): boolean => {
    mixId(id);
    finish();
    const [high, low] = [state[0]!, state[1]! | 1];
    for (let table = 0; table < TABLES; table++) {
      const bit = (high + Math.imul(table, low)) >>> 0;
      const at = bit % bits;
      if (visit(table * words + (at >>> 5), 1 << (at & 31)) === true) return true;
    }
    return false;
  };
  return {
    seed,
    bits,
    memory: [sums, needed, there],
    add: (id, contents, times) => {
      const bucket = bucketOf(id);
      mixUnordered(Object.keys(contents), (field) => {
        mixText(field);
        mixValue(contents[field]);
      });
      finish();
      for (const [word, prime] of PRIMES.entries()) {
        const more = multiply(state[word]! % prime, residue(times, prime), prime);
        sums[bucket + word] = (sums[bucket + word]! + more) % prime;
      }
    },
    differs: (id) => {
      const bucket = bucketOf(id);
      return sums[bucket] !== 0 || sums[bucket + 1] !== 0;
    },
    note: (use, id) => {
      const table = use === "needed" ? needed : there;
      eachBit(id, (word, mask) => void (table[word] = table[word]! | mask));
    },
    lacks: (id) => eachBit(id, (word, mask) => (there[word]! & mask) === 0),
    agrees: () => {
      // By index: an iterator takes six times as long over two million words.
      for (let word = 0; word < sums.length; word++) if (sums[word] !== 0) return false;
      for (let word = 0; word < needed.length; word++) if ((needed[word]! & ~there[word]!) !== 0) return false;
      return true;
    },
    overlooked: () => {
      let all = 1;
      for (let table = 0; table < TABLES; table++) {
        let set = 0;
        for (let word = table * words; word < (table + 1) * words; word++) set += bitCount(there[word]!);
        all *= set / bits;
      }
      return all;
    },
  };
};
