import { inKeyOrder } from "../hostile/names.ts";
import { undelimitedTexts, valueText, type Value } from "../hostile/values.ts";
import type { NaiveEnd } from "../naive/graph.ts";

export type Id = Readonly<Record<string, unknown>>;

const LETTERS = ["a", "b", "c", "d", "e", "f"];
const texts = (list: readonly string[]): readonly (readonly Value[])[] => list.map((text) => [text]);

// Six ids each, that are hard to tell apart.
const textPools = [texts(LETTERS), texts(undelimitedTexts.slice(0, 6)), texts(undelimitedTexts.slice(-6))];
const pools = [
  ...textPools,
  [[5, 5n], ["5"], ["5n"], [1e21, 10n ** 21n], ["1e+21"], [10n ** 37n + 1n]],
  [[new Date(0)], [new Date(1)], [new Date(1).toISOString()], [1e37, 10n ** 37n], [true], ["true"]],
  texts(["#", "~unique#x", "~degree#e#out", "a", "a#b", "a\0b"]),
].map((pool) => inKeyOrder(pool));

/**
 * A part of the table for one graph. Its nodes are a to f to the naive graph, and to the library ids of two fields: the
 * scope, and a value for each letter.
 */
export const scopeOf = (turn: number, escapes: boolean): string =>
  `@${turn % (escapes ? pools.length : textPools.length)}.${turn.toString(36)}-`;

const namedIn = (scope: string): readonly (readonly Value[])[] | undefined => {
  const [, pool] = /^@(\d+)\./.exec(scope) ?? [];
  return pool === undefined ? undefined : pools[Number(pool)];
};

const idIn = ({ type, id: name }: NaiveEnd, spelling: 0 | -1): Id => {
  const id = name as string;
  const pool = namedIn(id);
  if (!pool) return { [`${type}Id`]: id };
  return { realm: id.slice(0, -1), [`${type}Id`]: pool[LETTERS.indexOf(id.slice(-1))]?.at(spelling) };
};

/** A node's id as answers have it. */
export const idRow = (end: NaiveEnd): Id => idIn(end, 0);

/** The same as a call gives it: in another spelling, where there is one. */
export const givenId = (end: NaiveEnd): Id => idIn(end, -1);

/** What the naive evaluator calls the node of an id. */
export const nameOfId = (id: Id): string => {
  if ("country" in id) return `place/${[id["country"], id["city"]].filter((one) => one !== undefined).join("-")}`;
  const field = Object.keys(id).find((name) => name.endsWith("Id"))!;
  const type = field.slice(0, -2);
  const realm = String(id["realm"]);
  const pool = namedIn(realm);
  if (!pool) return `${type}/${String(id[field])}`;
  const at = pool.findIndex(([one]) => valueText(one) === valueText(id[field]));
  return `${type}/${realm}${LETTERS[at] ?? valueText(id[field])}`;
};
