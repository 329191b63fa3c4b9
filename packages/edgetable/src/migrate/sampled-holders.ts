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
  /** The partitions of the table in which they are. */
  readonly partitions: Set<string>;
}

/** What rows count at, of one kind of rows and of nodes or edges: as keys of a map. */
const sourceText = (holder: string, over: string): string => JSON.stringify([holder, over]);

/** What an item contributes; nothing where it cannot be read, as the step itself says. */
const readableContributions = (catalog: Catalog, item: Item): ReturnType<typeof contributionsOf> => {
  try {
    return contributionsOf(catalog, item);
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
    return [];
  }
};

/** The rows of a sample at each node or edge of which the stream keeps what they make, by {@link sourceText}. */
const sampledHolders = (catalog: Catalog, items: readonly Item[]): ReadonlyMap<string, ReadonlyMap<string, Sampled>> => {
  const sources = new Map<string, Map<string, Sampled>>();
  for (const item of items)
    for (const { holder, over } of readableContributions(catalog, item)) {
      const source = sourceText(holder.entry.name, over);
      const at = sources.get(source) ?? new Map<string, Sampled>();
      sources.set(source, at);
      const { partition } = holder.facts;
      const sampled = at.get(partition) ?? { rows: 0, partitions: new Set<string>() };
      at.set(partition, sampled);
      sampled.rows++;
      sampled.partitions.add(partitionOf(catalog, item));
    }
  return sources;
};

/** The partition of the table in which an item is. */
export const partitionOf = ({ index }: Catalog, item: Item): string => keyTextOf(item[index.partitionKey]) ?? "";

/** With fewer rows in a sample, a node is taken for one of many. */
const FEW = 10;

/**
 * The nodes of a whole table by those of a sample whose rows are anywhere in the table. Nodes of many rows are estimated one by one.
 * Of the others, the pairs of rows that meet at a node tell how many rows meet: a bound that holds for 19 of 20.
 */
const spread = (sampled: readonly Sampled[], rows: number): readonly Holders[] => {
  const seen = sum(sampled.map((one) => one.rows));
  const factor = rows / seen;
  const many = sampled.filter((one) => one.rows >= FEW);
  const large = many.map((one) => ({ number: 1, rows: Math.min(rows, (one.rows + 2 * Math.sqrt(one.rows)) * factor), together: false }));
  const few = sampled.filter((one) => one.rows < FEW);
  const left = sum(few.map((one) => one.rows));
  if (left === 0) return large;
  const pairs = sum(few.map((one) => (one.rows * (one.rows - 1)) / 2));
  const others = left * factor;
  const mean = Math.min(others, 1 + (2 * (pairs + 2 * Math.sqrt(pairs) + 3) * factor) / left);
  return [...large, { number: others / mean, rows: mean, together: false }];
};

/** The same where the rows of each node are next to each other: there are as many nodes as large, but for those that the sample cuts off. */
const adjacent = (sampled: readonly Sampled[], rows: number, cut: ReadonlySet<string>): readonly Holders[] => {
  const factor = rows / sum(sampled.map((one) => one.rows));
  return sampled.map((one) =>
    [...one.partitions].some((partition) => cut.has(partition))
      ? { number: 1, rows: Math.min(rows, one.rows * factor), together: true }
      : { number: factor, rows: one.rows, together: true },
  );
};

/**
 * How many rows count at each node or edge of a table of which the stream keeps something, as a sample shows it.
 *
 * @param cut the partitions of which the sample may hold a part only; undefined if it holds the whole table
 */
export const holdersIn = (
  catalog: Catalog,
  items: readonly Item[],
  cut: ReadonlySet<string> | undefined,
): ((source: { readonly holder: string; readonly over: string; readonly rows: number }) => readonly Holders[] | undefined) => {
  let sources: ReturnType<typeof sampledHolders> | undefined;
  return ({ holder, over, rows }) => {
    sources ??= sampledHolders(catalog, items);
    const sampled = [...(sources.get(sourceText(holder, over))?.values() ?? [])];
    if (sampled.length === 0) return undefined;
    const together = /^(out|parts|along|against)[.]/.test(over) && sampled.every(({ partitions }) => partitions.size === 1);
    if (!cut) return sampled.map((one) => ({ number: 1, rows: one.rows, together }));
    return together ? adjacent(sampled, rows, cut) : spread(sampled, rows);
  };
};
