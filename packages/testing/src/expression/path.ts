import type { AttributeValue, Item } from "edgetable";
import type { Tokens } from "./tokens.ts";

/** Way to a value inside an item: names of attributes and map entries, positions in lists. */
export type Path = readonly (string | number)[];
export type Names = Readonly<Record<string, string>>;

const readName = (tokens: Tokens, names: Names): string => {
  const word = tokens.take();
  if (!word.startsWith("#")) return /^\w/.test(word) ? word : tokens.fail();
  return names[word] ?? tokens.fail();
};

/** Reads a path such as `#a.#b[2]`. */
export const readPath = (tokens: Tokens, names: Names): Path => {
  const path: (string | number)[] = [readName(tokens, names)];
  for (;;) {
    if (tokens.accept(".")) path.push(readName(tokens, names));
    else if (tokens.accept("[")) {
      path.push(Number(tokens.take()));
      tokens.expect("]");
    } else return path;
  }
};

const step = (value: AttributeValue | undefined, segment: string | number): AttributeValue | undefined => {
  if (value === undefined) return undefined;
  if (typeof segment === "number") return "L" in value ? value.L[segment] : undefined;
  return "M" in value ? value.M[segment] : undefined;
};

/** The value that a path leads to, where there is one. */
export const valueAt = (item: Item, path: Path): AttributeValue | undefined => path.reduce<AttributeValue | undefined>(step, { M: item });
