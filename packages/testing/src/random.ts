/** A source of numbers from 0 (included) to 1 (excluded); the same seed gives the same numbers. */
export type Random = () => number;

/**
 * A small seeded generator (mulberry32: 32 bits of state, good enough for tests and nothing else).
 *
 * @param seed any integer; only its lowest 32 bits count
 * @example
 * const random = seededRandom(42);
 * random() === seededRandom(42)(); // true
 */
export const seededRandom = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** A whole number from 0 (included) to `end` (excluded). */
export const below = (random: Random, end: number): number => Math.floor(random() * end);

/** A seed made of two numbers, so that neighbouring inputs give unrelated seeds (murmur3's finish). */
export const mixSeeds = (a: number, b: number): number => {
  let mixed = (Math.imul(a >>> 0, 0x9e3779b1) ^ Math.imul(b >>> 0, 0x85ebca77)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
};

/** A 32-bit number made of a text (FNV-1a over its UTF-16 units). */
export const hashText = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
};

/**
 * A random part of a list in its own order: `share` of it, rounded up, at least one element where
 * there is one.
 */
export const pick = <T>(random: Random, list: readonly T[], share: number): readonly T[] => {
  const wanted = Math.max(1, Math.ceil(share * list.length));
  const drawn = list.map((value, index) => ({ value, index, rank: random() }));
  const kept = drawn.toSorted((a, b) => a.rank - b.rank).slice(0, wanted);
  return kept.toSorted((a, b) => a.index - b.index).map(({ value }) => value);
};
