import type { WriteItem } from "../ir/write-plan.ts";
import { decodeValue } from "../requests/attribute-value.ts";
import type { Shape } from "../schema/catalog.ts";
import { DELETING, EXPIRES, KIND, MIGRATION, MODEL, UNTIL } from "../schema/system-items.ts";
import { systemKeyItem } from "../schema/system-key-item.ts";
import { jobState } from "../schema/system-keys.ts";
import { checkRow } from "./check-row.ts";
import type { Finding } from "./finding.ts";
import { keysOfWrongFacts } from "./judge-counts.ts";
import { judgeCounterName } from "./judge-counters.ts";
import { isRevision, unreadableNumbers, unreadableRecords } from "./hidden-numbers.ts";
import { judgeMemo } from "./judge-streamed.ts";
import { asRead, check, deletion, itemAt, type Judging, none, orphan, report, writes } from "./judging.ts";
import { storedNumber } from "./relations.ts";
import type { Seen, SeenRow } from "./see-item.ts";

const DAY = 86_400_000;

/** Judges a row by its own item alone. */
export const judgeOwnItem = (judging: Judging, seen: SeenRow): void => {
  const { key, item, shape } = seen;
  const { findings, ...wrong } = checkRow(judging.catalog, seen, judging.circumstances.converted);
  const moved = findings.filter(({ kind }) => kind === "storedKey");
  for (const finding of moved)
    report(judging, finding, none("Read the row by the key that is stored, put it again, and delete this item."));
  for (const finding of findings)
    if (finding.kind === "invalid") report(judging, finding, none("Correct the value, or give the layout a key that can hold it."));
  const left = keysOfWrongFacts(judging, seen, wrong);
  if (!left) return;
  const [first, ...rest] = findings.filter(
    ({ kind, attribute = "" }) => kind !== "storedKey" && kind !== "invalid" && !left.has(attribute),
  );
  if (!first) return;
  const set = Object.fromEntries(Object.entries(wrong.set).filter(([attribute]) => !left.has(attribute)));
  const remove = wrong.remove.filter((attribute) => !left.has(attribute));
  const step: WriteItem = {
    kind: "update",
    key,
    terms: asRead(judging, item, shape),
    shape,
    changes: { set, remove, add: {}, append: {} },
  };
  judging.problems.push({ findings: [first, ...rest], mend: writes(step) });
};

/** Judges the mark of a deletion by its job, at a node or at one of its counters. */
export const judgeMark = (judging: Judging, { key, item, shape }: Seen & { readonly shape?: Shape }): void => {
  const mark = item[DELETING];
  if (!mark) return;
  const job = "S" in mark ? mark.S : "";
  const jobKey = systemKeyItem(judging.catalog, jobState(job));
  if (itemAt(judging, jobKey) !== null) return;
  const finding: Finding = {
    kind: "deletionMark",
    key,
    definition: shape?.definition,
    attribute: DELETING,
    stored: job,
    other: jobKey,
    reason: "A deletion has marked the node, and its job no longer exists: nothing can be linked to the node.",
  };
  const changes = { set: {}, remove: [DELETING], add: {}, append: {} };
  report(
    judging,
    finding,
    writes({ kind: "update", key, terms: asRead(judging, item, shape), shape: undefined, changes }, check(judging, jobKey, null)),
  );
};

/** Judges the numbers of Edgetable's own in an item, and the model's record: what is no number, or no JSON. */
export const judgeUnreadable = (judging: Judging, seen: Seen & { readonly shape?: Shape }): void => {
  const { key, item, shape } = seen;
  const { now } = judging.circumstances;
  const terms = asRead(judging, item, shape);
  const tell = (attribute: string, reason: string): Finding => {
    const value = item[attribute];
    return { kind: "unreadable", key, definition: shape?.definition, attribute, stored: value && decodeValue(value), reason };
  };
  const numbers = unreadableNumbers(judging.catalog, seen);
  const reason = "It should be a number: writes that add to it or compare it are refused.";
  const [first, ...rest] = numbers.map((attribute) => tell(attribute, reason));
  // What is added up is judged after this, as if it had been nothing.
  const set = Object.fromEntries(numbers.map((name) => [name, { N: isRevision(name) ? String(Math.floor(now)) : "0" }]));
  const step: WriteItem = { kind: "update", key, terms, shape: undefined, changes: { set, remove: [], add: {}, append: {} } };
  if (first) judging.problems.push({ findings: [first, ...rest], mend: writes(step) });
  const [record, ...more] = unreadableRecords(seen);
  if (record === undefined) return;
  const removes = [record, ...more];
  const lost = "It is not JSON, so the table has no record of its model. Run a migration: edgetable migrate run.";
  const isLast = [MODEL, MIGRATION].every((name) => !(name in item) || removes.includes(name));
  const changes = { set: {}, remove: removes, add: {}, append: {} };
  const mend = isLast ? deletion(judging, { key, item }) : ({ kind: "update", key, terms, shape: undefined, changes } as const);
  judging.problems.push({ findings: [tell(record, lost), ...more.map((one) => tell(one, lost))], mend: writes(mend) });
};

/** Judges an item that is no row and of which nothing else tells. */
export const judgeAlone = (judging: Judging, seen: Exclude<Seen, SeenRow>): void => {
  const { key, item } = seen;
  const removal = deletion(judging, { key, item });
  judgeUnreadable(judging, seen);
  const longAgo = judging.circumstances.now - DAY;
  switch (seen.kind) {
    case "job": {
      const stored = item[KIND] && decodeValue(item[KIND]);
      // The positions of a stream's consumers outlive what they were for, or it would be read again.
      if (stored === "stream") return;
      // A released lease holds when it was released, below zero. At zero it says nothing, and only a job that is never deleted is told.
      const until = storedNumber(item, UNTIL);
      const isResumed = stored === "delete" || stored === "copy";
      if (Math.abs(until) > longAgo || (until === 0 && item[UNTIL] && !isResumed)) return;
      const reason = `A job (${String(stored)}) that was interrupted and not resumed.`;
      // What a deletion or a change of copies has begun is ended by resuming it.
      const mend = isResumed ? none("Resume it: db.jobs.resumeAll().") : orphan(removal);
      return report(judging, { kind: "abandonedJob", key, attribute: UNTIL, stored, reason }, mend);
    }
    case "cursor": {
      const attribute = judging.catalog.ttl ?? EXPIRES;
      const stored = storedNumber(item, attribute);
      if (stored === 0 || stored * 1000 > longAgo) return;
      const reason = "Nothing has removed it since it expired.";
      return report(judging, { kind: "expiredCursor", key, attribute, stored, reason }, writes(removal));
    }
    case "counter":
      judgeCounterName(judging, seen);
      return judgeMark(judging, seen);
    case "memo":
      return judging.circumstances.streamed ? judgeMemo(judging, seen) : undefined;
    case "unclaimed": {
      const { nearest, attribute, reason } = seen;
      return report(judging, { kind: "unclaimed", key, definition: nearest, attribute, reason }, orphan(removal));
    }
    default:
      return undefined;
  }
};
