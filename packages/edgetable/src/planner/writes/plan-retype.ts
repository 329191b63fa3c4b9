import type { RelinkWrite } from "../../ir/logical-write.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import { digitsIn, VERSION } from "../../requests/encode-item.ts";
import type { EdgeEntry } from "../../schema/catalog.ts";
import { derivedNames } from "../../schema/facts.ts";
import { timeNames, timesOf } from "../../schema/timestamps.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { readDecimal } from "../../util/decimal.ts";
import { mapValues, own, type Row } from "../../util/row.ts";
import { changedRow, isChanged } from "./changed-row.ts";
import { betweenOf, stageLink } from "./plan-edge.ts";
import { sumsOf } from "./rules/computed-attributes.ts";
import { edgeCopies, type EdgeCopy, isOtherEdge } from "./rules/edge-copies.ts";
import { fill, stageDerived } from "./rules/index.ts";
import {
  type Digits,
  guardTerms,
  imageOf,
  isGone,
  locate,
  notFound,
  type Planned,
  presentUnexpired,
  stage,
  validRow,
  type WorkingSet,
} from "./working-set.ts";
import { unchangedItem } from "./unchanged-terms.ts";

// What Edgetable keeps in the edge, and no schema knows.
const withoutKept = ({ definition }: EdgeEntry, row: Row): Row => {
  const kept = [...derivedNames(definition), ...timeNames(definition)];
  return kept.length === 0 ? row : Object.fromEntries(Object.entries(row).filter(([name]) => !kept.includes(name)));
};

// The edge is the same one under another type: it keeps the time of its creation where both types keep it alike.
const keptTimes = (before: EdgeEntry, after: EdgeEntry, row: Row): Row | undefined => {
  const [from, to] = [timesOf(before.definition), timesOf(after.definition)];
  if (from?.created === undefined || to?.created === undefined || from.as !== to.as) return undefined;
  return { [to.created]: own(row, from.created) };
};

interface ReadCopy extends EdgeCopy {
  readonly key: Key | null | undefined;
  readonly image: Item | null | undefined;
}

/** Changes the type of an edge that is there: it leaves one type and joins the other with what it holds, in one transaction. */
export const planRetype = (working: WorkingSet, write: RelinkWrite, type: string): Planned => {
  const { catalog } = working;
  const before = betweenOf(catalog, write);
  const after = betweenOf(catalog, { ...write, edge: type });
  const copies: ReadCopy[] = [];
  for (const { shape, row } of edgeCopies(before, write.key)) {
    const key = locate(working, shape, row);
    const image = key ? imageOf(working, { shape, key }, "the edge keeps its attributes under the other type") : key;
    copies.push({ shape, row, key, image });
  }
  if (copies.some(({ image }) => image === undefined)) {
    stageDerived(working, { subject: after, before: undefined, after: {} });
    return undefined;
  }
  const [own, second] = copies as [ReadCopy, ReadCopy?];
  const { shape, key, image } = own;
  if (!key || !image || isGone(working, image) || isOtherEdge(working, own, image)) return notFound;
  const contents = ({ image: item, shape: of }: ReadCopy): Row => {
    if (!item) return {};
    const { from: _from, to: _to, [VERSION]: version, ...attributes } = decodeItem(catalog, of, item);
    // An attribute that the user calls "version" is one like any other, unless the edge type counts its writes.
    return before.entry.definition.version || version === undefined ? attributes : { ...attributes, [VERSION]: version };
  };
  // A sum takes what is stored, and not what the row has of it.
  const sums = copies.map(({ shape: of, image: item }) => (item ? sumsOf({ shape: of, changes: write.changes }, item) : {}));
  const changedBy = (copy: ReadCopy, exact: Readonly<Record<string, string>> = {}): Row => ({
    ...changedRow(contents(copy), write.changes),
    ...mapValues(exact, readDecimal),
  });
  const changed = changedBy(own, sums[0]);
  const valid = write.validates ? validRow(working, after.entry, withoutKept(before.entry, changed)) : withoutKept(before.entry, changed);
  if (!valid) return undefined;
  const filled = fill(working, after, valid, null);
  if (filled?.kind !== "row") return filled;
  const attributes = filled.row;
  const reverse = { ...(second ? changedBy(second, sums[1]) : write.changes.set), ...write.reverse };
  const kept = keptTimes(before.entry, after.entry, changed);
  const digits = copies.map(({ shape: of, image: item }, at): Digits => (field) => {
    const sum = sums[at]?.[field];
    const kept = item && !isChanged(write.changes, field) ? digitsIn(of, item)(field) : undefined;
    return filled.digits?.(field) ?? (sum === undefined ? kept : { N: sum });
  });
  const row = stageLink(working, after, { attributes, reverse: withoutKept(before.entry, reverse), kept, digits });
  const terms = [presentUnexpired(working, shape), ...guardTerms(shape, write.guards), ...unchangedItem(catalog, { shape, key }, image)];
  stage(working, { kind: "delete", key, terms, shape });
  if (second?.key) stage(working, { kind: "delete", key: second.key, terms: [], shape: second.shape });
  stageDerived(working, { subject: before, before: decodeItem(catalog, shape, image), after: null, image });
  return { kind: "staged", row };
};
