import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { UpdateStep } from "../../ir/write-plan.ts";
import { decimalIn } from "../../requests/attribute-value.ts";
import { encodeTransaction } from "../../requests/encode-write.ts";
import { FACTS_TYPE, REVISION } from "../../schema/system-items.ts";
import { factKeyItem, systemType } from "../../schema/system-key-item.ts";
import type { AttributeValue, Item } from "../../transport/operations.ts";
import { addDecimals, sameDecimals } from "../../util/decimal.ts";
import { batchGet } from "../batch.ts";
import { newToken } from "../run-write.ts";
import { backOff, type CallContext, type Session } from "../session.ts";
import { type FactHolder, overText, type Place } from "./contributions.ts";
import { eachMemo, isKeptInFacts, streamedFacts } from "./read-memos.ts";
import {
  addDifference,
  type FailedRefresh,
  isConflict,
  isReadable,
  isStorable,
  PAUSES,
  partsIn,
  sumParts,
  sumsIn,
  TRIES,
} from "./refresh-aggregates.ts";

/** The sums that a node's memos make, with the places that the memos are of. */
const addMemos = async (session: Session, holder: FactHolder, context: CallContext) => {
  const sums: Record<string, string> = {};
  const places: Place[] = [];
  for (const over of new Set(streamedFacts(session.catalog, holder.entry).map(overText)))
    await eachMemo(session, { holder, over, context }, (contribution, source) => {
      addDifference(sums, {}, contribution);
      places.push({ holder, over, source });
    });
  return { sums, places };
};

/** What makes the sums of the facts' item right, where they differ. */
const mendedSums = (
  facts: Item | undefined,
  sums: Readonly<Record<string, string>>,
): { readonly set: Record<string, AttributeValue>; readonly remove: readonly string[] } => {
  const set: Record<string, AttributeValue> = {};
  const remove: string[] = [];
  const kept = sumsIn(facts);
  const isNumber = (name: string): boolean => "N" in (facts?.[name] ?? { N: "0" });
  for (const name of new Set([...Object.keys(kept), ...Object.keys(sums)])) {
    const expected = sums[name] ?? "0";
    // Nothing can be added to a text in the place of a number.
    if (sameDecimals(kept[name] ?? "0", expected) && [name, ...partsIn(facts, name)].every(isNumber)) continue;
    const isWhole = isStorable(expected);
    Object.assign(set, { [name]: { N: isWhole ? expected : "0" } }, isWhole ? {} : sumParts(name, expected));
    remove.push(...partsIn(facts, name).filter((part) => !(part in set)));
  }
  return { set, remove };
};

/**
 * Adds up the memos of a node again, and writes the sums if they differ: another program may have changed them. Every write
 * of a memo raises the revision of the facts' item, so the condition on it fails if a processor wrote one in between.
 *
 * @param above a revision that the node shows: the facts get a later one, whatever they have lost
 * @returns the places that the node's memos are of
 * @throws {execute.conflict} when processors wrote memos in between, in every attempt
 */
export const rebuildSums = async (
  session: Session,
  holder: FactHolder,
  context: CallContext,
  above?: string,
): Promise<readonly Place[]> => {
  const { catalog } = session;
  const key = factKeyItem(catalog, holder.facts);
  const target = { table: catalog.table, partitionKey: catalog.index.partitionKey };
  for (let attempt = 0; ; attempt++) {
    const [facts] = await batchGet(session, { keys: [key], consistent: true }, context);
    const { sums, places } = await addMemos(session, holder, context);
    const { set, remove } = mendedSums(facts, sums);
    const revision = decimalIn(facts?.[REVISION]);
    const isBehind = above !== undefined && Number(revision) <= Number(above);
    const isReadable = !facts || "N" in (facts[REVISION] ?? {});
    if (Object.keys(set).length === 0 && !isBehind && isReadable) return places;
    const step: UpdateStep = {
      kind: "update",
      key,
      terms: [{ kind: "equals", attribute: REVISION, value: facts?.[REVISION], failure: { reason: "staleRead" } }],
      shape: undefined,
      changes: {
        set: { ...systemType(catalog, FACTS_TYPE), ...set, [REVISION]: { N: addDecimals(isBehind ? above : revision, "1") } },
        remove,
        add: {},
        append: {},
      },
    };
    try {
      await session.send("TransactWriteItems", encodeTransaction(target, [step], newToken(session)).input as never, context);
      return places;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    if (attempt + 1 < TRIES && (await backOff(session.effects, PAUSES, attempt, context))) continue;
    throw new EdgetableError("execute.conflict", `Stream processors kept changing the facts of a "${holder.entry.name}". Try again.`, {
      retryable: true,
      details: { tries: attempt + 1 },
    });
  }
};

/**
 * Adds the memos of nodes up again in whose facts somebody has put a text, or something else, where a number belongs.
 *
 * @returns the partitions of the facts that can be added to again
 */
export const mendUnreadable = async (
  session: Session,
  holders: readonly FactHolder[],
  context: CallContext,
): Promise<ReadonlySet<string>> => {
  const { catalog } = session;
  const mended = new Set<string>();
  for (const holder of holders) {
    const [facts] = await batchGet(session, { keys: [factKeyItem(catalog, holder.facts)], consistent: true }, context);
    // Another refresh may have mended them by now. What fails here has failed before, which the caller tells.
    const mending = isReadable(catalog, facts) ? Promise.resolve() : rebuildSums(session, holder, context);
    await mending.then(
      () => mended.add(holder.facts.partition),
      () => undefined,
    );
  }
  return mended;
};

/**
 * Adds the memos of nodes up again. The memos themselves are trusted.
 *
 * @returns the nodes that failed
 */
export const rebuildAllSums = async (
  session: Session,
  holders: readonly FactHolder[],
  context: CallContext,
): Promise<readonly FailedRefresh[]> => {
  const failed: FailedRefresh[] = [];
  const kept = holders.filter(({ entry }) => streamedFacts(session.catalog, entry).some(isKeptInFacts));
  await Promise.all(
    kept.map((holder) => rebuildSums(session, holder, context).catch((error: unknown) => failed.push({ holder, error: error as Error }))),
  );
  return failed;
};
