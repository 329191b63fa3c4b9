import { isEdgetableError } from "../errors/edgetable-error.ts";
import { contributionsOf } from "../executor/facts/contributions.ts";
import { sum } from "../ir/capacity.ts";
import { keyTextOf } from "../requests/attribute-value.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Item } from "../transport/operations.ts";

/** Nodes or edges at which as many rows count. */
export interface Holders {
  /** How many there are; a fraction where it is an average. */
  readonly number: number;
  /** The rows that count at each of them. */
  readonly rows: number;
  /** True if these rows are next to each other in the table. */
  readonly together: boolean;
}

/** The rows of a sample that count at one node or edge. */
interface Sampled {
  rows: number;
  /** The partition of the table in which they are; undefined if they are in several. */
  partition: string | undefined;
}

/** What an item contributes; nothing where it cannot be read, as the step itself says. */
const readableContributions = (catalog: Catalog, item: Item): ReturnType<typeof contributionsOf> => {
  try {
    return contributionsOf(catalog, item);
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
    return [];
  }
};

/** The rows of a sample by what they range over, and by the node or edge at which they count. */
const sampledHolders = (catalog: Catalog, items: readonly Item[]): ReadonlyMap<string, ReadonlyMap<string, Sampled>> => {
  const sources = new Map<string, Map<string, Sampled>>();
  for (const item of items) {
    const partition = keyTextOf(item[catalog.index.partitionKey]);
    for (const { holder, over } of readableContributions(catalog, item)) {
      const source = `${holder.entry.name} ${over}`;
      const at = sources.get(source) ?? new Map<string, Sampled>();
      sources.set(source, at);
      const sampled = at.get(holder.facts.partition) ?? { rows: 0, partition };
      at.set(holder.facts.partition, sampled);
      sampled.rows++;
      if (sampled.partition !== partition) sampled.partition = undefined;
    }
  }
  return sources;
};

/** With fewer rows in a sample, a node is taken for one of many. */
const FEW = 10;

/**
 * The nodes of a whole table by those of a sample. Nodes of many rows are estimated one by one. Of the others, the pairs of rows that
 * meet at a node tell how many rows meet. Both are bounds that hold for 19 of 20.
 */
const scaled = (sampled: readonly Sampled[], rows: number, together: boolean): readonly Holders[] => {
  const factor = rows / sum(sampled.map((one) => one.rows));
  const [holders, few]: [Holders[], number[]] = [[], []];
  for (const { rows: seen } of sampled)
    if (seen < FEW) few.push(seen);
    else holders.push({ number: 1, rows: Math.min(rows, (seen + 2 * Math.sqrt(seen)) * factor), together });
  const left = sum(few);
  const pairs = sum(few.map((seen) => (seen * (seen - 1)) / 2));
  const mean = Math.min(left * factor, 1 + (2 * (pairs + 2 * Math.sqrt(pairs) + 3) * factor) / left);
  return left === 0 ? holders : [...holders, { number: (left * factor) / mean, rows: mean, together }];
};

/**
 * How many rows count at each node or edge of a table of which the stream keeps something, as a sample shows it.
 *
 * @param isWhole whether the sample holds all items
 */
export const holdersIn = (
  catalog: Catalog,
  items: readonly Item[],
  isWhole: boolean,
): ((source: { readonly holder: string; readonly over: string; readonly rows: number }) => readonly Holders[] | undefined) => {
  let sources: ReturnType<typeof sampledHolders> | undefined;
  return ({ holder, over, rows }) => {
    sources ??= sampledHolders(catalog, items);
    const sampled = [...(sources.get(`${holder} ${over}`)?.values() ?? [])];
    if (sampled.length === 0) return undefined;
    const together = !over.startsWith("in.") && sampled.every(({ partition }) => partition !== undefined);
    return isWhole ? sampled.map((one) => ({ number: 1, rows: one.rows, together })) : scaled(sampled, rows, together);
  };
};
