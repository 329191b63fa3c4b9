import type { Item, QueryInput, QueryOutput } from "edgetable";
import { holds } from "../expression/holds.ts";
import { parseCondition } from "../expression/parse-condition.ts";
import { compareText } from "../expression/value-order.ts";
import { cursorAt, positionsOf } from "../past/position.ts";
import { bareQuery } from "../past/present.ts";
import type { TableShape } from "../past/table-shape.ts";

/** Asks for one page, from the present or from the past. */
export type AskPage = (input: QueryInput) => Promise<QueryOutput>;

// Sort keys: 1,024 bytes, ServiceQuotas.
const longestSortKey = 1_024;

/** The code point before one, past the surrogates, which no text in UTF-8 has. */
const pointBefore = (point: number): number => (point === 0xe000 ? 0xd7ff : point - 1);

/** A text just before another in UTF-8 order, with room between the two. */
const textBefore = (text: string): string | undefined => {
  const points = Array.from(text);
  const last = points.pop()?.codePointAt(0);
  if (last === undefined) return undefined;
  return points.join("") + (last === 0 ? "" : `${String.fromCodePoint(pointBefore(last))}\u{10ffff}`);
};

const isBetween = (text: string, bounds: { readonly start: string | undefined; readonly first: string }, direction: number): boolean =>
  compareText(text, bounds.first) * direction < 0 && (bounds.start === undefined || compareText(text, bounds.start) * direction > 0);

const textOf = (item: Item | undefined, name: string): string | undefined => {
  const value = item?.[name];
  return value && "S" in value ? value.S : undefined;
};

/** A sort key that lies between the query's start and its first item, where there is room for one. */
const sortKeyAhead = (input: QueryInput, range: string, first: Item): string | undefined => {
  const direction = input.ScanIndexForward === false ? -1 : 1;
  const text = textOf(first, range);
  if (text === undefined) return undefined;
  const ahead = direction === 1 ? textBefore(text) : `${text}\0`;
  const bounds = { start: textOf(input.ExclusiveStartKey, range), first: text };
  if (ahead === undefined || ahead === "" || Buffer.byteLength(ahead) > longestSortKey || !isBetween(ahead, bounds, direction))
    return undefined;
  const { KeyConditionExpression, ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = input;
  const met = parseCondition({ text: KeyConditionExpression, names, values });
  return holds(met, { ...first, [range]: { S: ahead } }) ? ahead : undefined;
};

/** A first page whose only scanned item the filter drops. */
const filteredPage = async (ask: AskPage, input: QueryInput): Promise<QueryOutput | undefined> => {
  if (input.FilterExpression === undefined) return undefined;
  const page = await ask({ ...input, Limit: 1 });
  return page.Count === 0 && page.LastEvaluatedKey ? page : undefined;
};

const firstOf = (input: QueryInput): QueryInput => {
  const { ScanIndexForward = true, ExclusiveStartKey: start } = input;
  return { ...bareQuery(input), ScanIndexForward, Limit: 1, ...(start && { ExclusiveStartKey: start }) };
};

/**
 * A page without items and with a cursor from which the whole answer still follows; `undefined` where
 * none can be had honestly (nothing to page over, a numeric sort key, no room before the first item).
 */
export const emptyPage = async (ask: AskPage, input: QueryInput, table: TableShape): Promise<QueryOutput | undefined> => {
  const index = input.IndexName === undefined ? undefined : table.indexes.get(input.IndexName);
  const range = (index ?? table).range;
  if (range === undefined) return undefined;
  const filtered = await filteredPage(ask, input);
  if (filtered) return filtered;
  const first = (await ask(firstOf(input))).Items?.[0];
  const sortKey = first && sortKeyAhead(input, range, first);
  if (first === undefined || sortKey === undefined) return undefined;
  const cursor = cursorAt(positionsOf(table, index), { ...first, [range]: { S: sortKey } });
  return { ...(input.Select === "COUNT" ? {} : { Items: [] }), Count: 0, ScannedCount: 0, LastEvaluatedKey: cursor };
};
