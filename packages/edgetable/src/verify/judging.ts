import type { CallContext, Session } from "../executor/session.ts";
import { type Images, keyId, type ReadNeed, type Term, type WriteItem } from "../ir/write-plan.ts";
import type { EndId } from "../ir/logical-write.ts";
import { keyOfItem } from "../requests/encode-item.ts";
import type { Catalog, Shape } from "../schema/catalog.ts";
import type { Item, Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { FollowedRow } from "../schema/grid-parts.ts";
import type { Finding, Mend, Problem } from "./finding.ts";
import type { Converted } from "./check-row.ts";
import type { Differing } from "./relations.ts";
import type { Seen } from "./see-item.ts";
import { unchangedItem } from "../planner/writes/unchanged-terms.ts";

/** What a node's edges and parts add up to, by the attributes that keep it: read as an item that holds the numbers. */
export interface SumNeed {
  readonly kind: "sum";
  readonly id: string;
  readonly node: EndId;
  readonly key: Key;
}

/** What rows make of the attributes that the stream keeps in a node or edge, and what is stored of it beside that. */
export interface StreamNeed {
  readonly kind: "stream";
  readonly id: string;
  /** The name of the node type or edge type, and the id; of an edge its ends and its own key. */
  readonly holder: EndId;
}

/** How the items of a grid's index differ from their row's document. */
export interface ValuesNeed {
  readonly kind: "values";
  readonly id: string;
  readonly row: FollowedRow;
}

/** Compares the value items of grids with documents, and makes them follow: the code of grids, which this folder does not know. */
export interface DocumentKeeper {
  compareRow(session: Session, row: FollowedRow, context: CallContext): Promise<Item>;
  followDocuments(
    session: Session,
    rows: readonly FollowedRow[],
    context: CallContext,
  ): Promise<{ readonly failed: readonly { readonly error: Error }[] }>;
}

/** Judges what an item alone tells, and what nothing else tells of. A migration asks for none of it. */
export interface AloneJudge {
  /** Whether an item has to be judged. */
  suspects(
    catalog: Catalog,
    seen: Seen,
    by: Pick<Circumstances, "streamed" | "differing"> & Partial<Pick<Circumstances, "converted">>,
  ): boolean;
  judge(judging: Judging, seen: Seen): void;
}

/** What has to be read to judge an item. */
export type Need = ReadNeed | SumNeed | StreamNeed | ValuesNeed;

/** What a judgement goes by beside the items. */
export interface Circumstances {
  /** `own`: what an item alone tells, and what nothing else tells of; `relations`: what it and other items say of each other. */
  readonly scope: "own" | "relations";
  readonly differing: Differing;
  /** Whether derived attributes that the stream keeps are judged. */
  readonly streamed: boolean;
  /** Undefined where nothing is judged that an item alone tells. */
  readonly alone: AloneJudge | undefined;
  /** Renamed and retyped attributes that items have in the model's form alone. */
  readonly converted: Converted | undefined;
  /** Keys of facts that are kept for what is not there, by the key of an item that tells of it: see {@link keyId}. */
  readonly unshown: ReadonlyMap<string, ReadonlySet<string>>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The failure of every condition of a repair: the item is judged again. */
export const UNSURE = { reason: "conditionFailed" } as const;

/** Terms of the planner, as terms of a repair. */
export const settled = (terms: readonly Term[]): readonly Term[] => terms.map((term) => ({ ...term, failure: UNSURE }));

/** One judgement being made. */
export interface Judging {
  readonly catalog: Catalog;
  readonly images: Images;
  readonly circumstances: Circumstances;
  readonly needs: Need[];
  readonly used: Need[];
  readonly problems: Problem[];
}

/** What was read for a need; undefined, and noted, while it has to be read. */
export const readNeed = (judging: Judging, need: Need): Item | null | undefined => {
  if (!judging.used.some(({ id }) => id === need.id)) judging.used.push(need);
  const found = judging.images[need.id];
  if (found === undefined && !judging.needs.some(({ id }) => id === need.id)) judging.needs.push(need);
  return found;
};

/** An item by its key; null: there is none, undefined: it has to be read. */
export const itemAt = (judging: Judging, key: Key): Item | null | undefined => {
  const shape = defined(judging.catalog.shapes[0], "a shape");
  return readNeed(judging, { kind: "get", id: keyId(key), key, shape, reason: "it is verified" });
};

/** Terms by which an item is as it was read, whatever it is. */
export const asRead = ({ catalog }: Judging, item: Item, shape: Shape | undefined): readonly Term[] => {
  const key = keyOfItem(catalog, item);
  if (shape) return settled([{ kind: "present", failure: UNSURE }, ...unchangedItem(catalog, { shape, key }, item)]);
  return Object.keys(item).map((attribute) =>
    attribute in key ? { kind: "has", attribute, failure: UNSURE } : { kind: "equals", attribute, value: item[attribute], failure: UNSURE },
  );
};

/** A step that changes nothing and requires that an item is as it was read, or still not there. */
export const check = (judging: Judging, key: Key, item: Item | null | undefined, shape?: Shape): WriteItem => ({
  kind: "check",
  key,
  terms: item ? asRead(judging, item, shape) : [{ kind: "absent", failure: UNSURE }],
  shape: undefined,
});

export const deletion = (
  judging: Judging,
  { key, item, shape }: { readonly key: Key; readonly item: Item; readonly shape?: Shape },
): WriteItem => ({
  kind: "delete",
  key,
  terms: asRead(judging, item, shape),
  shape: undefined,
});

export const put = (key: Key, item: Item, terms: readonly Term[]): WriteItem => ({ kind: "put", key, item, terms, shape: undefined });

export const report = (judging: Judging, finding: Finding, mend: Mend): void => void judging.problems.push({ findings: [finding], mend });
export const writes = (...steps: readonly WriteItem[]): Mend => ({ kind: "writes", steps });
export const orphan = (...steps: readonly WriteItem[]): Mend => ({ kind: "orphan", steps });
export const none = (advice: string): Mend => ({ kind: "none", advice });
