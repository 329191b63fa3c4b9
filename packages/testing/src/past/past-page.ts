import type { Item, QueryInput, QueryOutput } from "edgetable";
import { holds } from "../expression/holds.ts";
import { parseCondition } from "../expression/parse-condition.ts";
import { parseProjection } from "../expression/project.ts";
import { cursorAt, type Positions } from "./position.ts";

// A Query reads at most 1 MB a page, ServiceQuotas; our JSON is never smaller than the item it shows.
const pageBytes = 2 ** 20;

const fittingPage = (items: readonly Item[], limit: number): readonly Item[] => {
  const page: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (page.length >= limit || bytes >= pageBytes) break;
    page.push(item);
    bytes += Buffer.byteLength(JSON.stringify(item));
  }
  return page;
};

const passing = (input: QueryInput, items: readonly Item[]): readonly Item[] => {
  if (input.FilterExpression === undefined) return items;
  const { FilterExpression: text, ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = input;
  const filter = parseCondition({ text, names, values });
  return items.filter((item) => holds(filter, item));
};

const projected = (input: QueryInput, items: readonly Item[]): readonly Item[] =>
  input.ProjectionExpression === undefined
    ? items
    : items.map(parseProjection(input.ProjectionExpression, input.ExpressionAttributeNames ?? {}));

/** Answers one page of a query out of a whole collection, as the service would. */
export const pageOf = (collection: readonly Item[], input: QueryInput, positions: Positions): QueryOutput => {
  const { ExclusiveStartKey: start, Limit: limit = Infinity } = input;
  const direction = input.ScanIndexForward === false ? -1 : 1;
  const ordered = direction === 1 ? collection : collection.toReversed();
  const ahead = start ? ordered.filter((item) => positions.compare(item, start) * direction > 0) : ordered;
  const scanned = fittingPage(ahead, limit);
  const last = scanned.at(-1);
  const kept = passing(input, scanned);
  // A page that its Limit ends carries a cursor even when nothing follows.
  const ended = scanned.length === ahead.length && scanned.length < limit;
  return {
    ...(input.Select === "COUNT" ? {} : { Items: projected(input, kept) }),
    Count: kept.length,
    ScannedCount: scanned.length,
    ...(last && !ended && { LastEvaluatedKey: cursorAt(positions, last) }),
  };
};
