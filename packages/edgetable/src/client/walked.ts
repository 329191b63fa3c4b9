import type { Walked, WalkEnd } from "./walk-types.ts";

/** An answer that can be gone through by itself. */
export const walked = <T>(items: readonly T[], end: WalkEnd): Walked<T> =>
  Object.defineProperty({ items, ...end }, Symbol.iterator, { value: () => items[Symbol.iterator](), enumerable: false }) as Walked<T>;
