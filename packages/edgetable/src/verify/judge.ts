import type { Images } from "../ir/write-plan.ts";
import { isExpired } from "../requests/decode-item.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Key } from "../transport/operations.ts";
import type { Problem } from "./finding.ts";
import { judgeAggregates, judgeCopies, judgeGuard } from "./judge-counts.ts";
import { judgeCounters, judgeIdleCounter } from "./judge-counters.ts";
import { judgeLead, judgeNodes, judgeSecond } from "./judge-edge.ts";
import { judgeMarker, judgeMarkers } from "./judge-marker.ts";
import { judgeStreamed, judgeUnshown } from "./judge-streamed.ts";
import { type Circumstances, itemAt, type Judging, type Need } from "./judging.ts";
import { seeItem, type Seen, type SeenRow } from "./see-item.ts";

/** What is wrong with one item and its relations, or what has to be read to tell. */
export interface Judgement {
  readonly needs: readonly Need[];
  /** All that was looked at. */
  readonly used: readonly Need[];
  readonly problems: readonly Problem[];
  /** The row to show to its schema, which may be asynchronous. */
  readonly row: SeenRow | undefined;
}

const judgeRow = (judging: Judging, seen: SeenRow): void => {
  const { catalog, circumstances } = judging;
  // DynamoDB removes expired items one by one, in any order: nothing follows from what is left of them.
  if (isExpired(catalog, seen.item, circumstances.now / 1000)) return;
  const { other } = seen;
  if (other) (seen.leads ? judgeLead : judgeSecond)(judging, { ...seen, other });
  judgeCopies(judging, seen);
  judgeNodes(judging, seen);
  judgeMarkers(judging, seen);
  judgeAggregates(judging, seen);
  judgeCounters(judging, seen);
  if (circumstances.streamed) judgeStreamed(judging, seen);
};

const judgeRelations = (judging: Judging, seen: Exclude<Seen, SeenRow>): void => {
  if (seen.kind === "marker") judgeMarker(judging, seen);
  if (seen.kind === "guard") judgeGuard(judging, seen);
  if (seen.kind === "counter") judgeIdleCounter(judging, seen);
};

/**
 * Judges the item under a key by everything that it depends on, as it was read: pure. Asks for what is missing (`needs`);
 * its problems are of no account before that.
 */
export const judge = (catalog: Catalog, key: Key, images: Images, circumstances: Circumstances): Judgement => {
  const judging: Judging = { catalog, images, circumstances, needs: [], used: [], problems: [] };
  const { needs, used, problems } = judging;
  const item = itemAt(judging, key);
  if (!item) return { needs, used, problems, row: undefined };
  const seen = seeItem(catalog, item);
  judgeUnshown(judging, seen);
  if (circumstances.scope === "own") circumstances.alone?.judge(judging, seen);
  else if (seen.kind === "row") judgeRow(judging, seen);
  else judgeRelations(judging, seen);
  return { needs, used, problems, row: seen.kind === "row" && circumstances.scope === "own" ? seen : undefined };
};
