import { judgeAlone, judgeMark, judgeOwnItem, judgeUnreadable } from "./judge-item.ts";
import { judgeValues } from "./judge-values.ts";
import { checkRow } from "./check-row.ts";
import { unreadableNumbers, unreadableRecords } from "./hidden-numbers.ts";
import type { AloneJudge } from "./judging.ts";
import { isAlwaysJudged, isDocument } from "./relations.ts";

/** Judges items by themselves. */
export const aloneJudge: AloneJudge = {
  suspects: (catalog, seen, by) =>
    isAlwaysJudged(catalog, seen, by) ||
    unreadableNumbers(catalog, seen).length > 0 ||
    unreadableRecords(seen).length > 0 ||
    (seen.kind === "row" && checkRow(catalog, seen, by.converted).findings.length > 0),
  judge: (judging, seen) => {
    if (seen.kind !== "row") return judgeAlone(judging, seen);
    judgeOwnItem(judging, seen);
    judgeMark(judging, seen);
    judgeUnreadable(judging, seen);
    if (judging.circumstances.streamed && isDocument(judging.catalog, seen)) judgeValues(judging, seen);
  },
};
