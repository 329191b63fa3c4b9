import { isEdgetableError } from "../errors/edgetable-error.ts";
import { type Run, step, waitIn } from "../executor/jobs/run-job.ts";
import { readImages } from "../executor/read-images.ts";
import { noteComplete } from "../executor/run-read.ts";
import type { CallContext, Session } from "../executor/session.ts";
import { type Images, keyId, type ReadNeed } from "../ir/write-plan.ts";
import { sameItem } from "../requests/attribute-value.ts";
import type { Item, Key } from "../transport/operations.ts";
import { sideBySide } from "../util/side-by-side.ts";
import { validateSeen } from "./check-row.ts";
import type { Problem, Rebuild } from "./finding.ts";
import { judge } from "./judge.ts";
import type { Circumstances, DocumentKeeper, Need, StreamNeed, SumNeed, ValuesNeed } from "./judging.ts";
import { readStreamed } from "./read-streamed.ts";
import { readSums } from "./read-sums.ts";

/** An item whose problems stood while everything that they depend on stayed the same. */
export interface Verdict {
  readonly key: Key;
  readonly problems: readonly Problem[];
}

/** How candidates are judged. */
export interface Settling {
  readonly run: Run;
  readonly circumstances: () => Omit<Circumstances, "now">;
  /** Milliseconds between the two readings that have to agree. */
  readonly settle: number;
  /** Whether edges are counted as an index shows them. */
  readonly trustsIndexes?: boolean | undefined;
  /** The same where the stream keeps what is wrong: it follows some time after the rows. */
  readonly staleAfter: number;
  /** Undefined where what the stream keeps is not judged. */
  readonly documents: DocumentKeeper | undefined;
  /** Computes anew what the stream keeps; undefined where that is not mended. */
  readonly rebuild: ((run: Run, rebuilds: readonly Rebuild[]) => Promise<void>) | undefined;
}

interface Case extends Verdict {
  readonly used: readonly Need[];
}

const isSum = (need: Need): need is SumNeed => need.kind === "sum";
const isOfValues = (need: Need): need is ValuesNeed => need.kind === "values";
const isStreamed = (need: Need): need is StreamNeed => need.kind === "stream";

/**
 * True for what is read once, between two readings of the items that keep it. Their revisions tell that nothing was counted
 * meanwhile, and an index shows by then what was written before the first of them.
 */
const isBetween = ({ kind }: Need): boolean => kind === "sum" || kind === "count";

const WIDTH = 8;

/**
 * Reads what a judgement needs. Where the record of the model does not read, which is a finding of its own, indexes are taken
 * for complete, as in a table without a record.
 */
const readPlainly = async (session: Session, needs: readonly ReadNeed[], context: CallContext): Promise<Images> => {
  try {
    return await readImages(session, needs, context);
  } catch (error) {
    if (!isEdgetableError(error, "migrate.brokenRecord")) throw error;
    // Other calls of the connection are refused all the same.
    const trusting: Session = { ...session };
    noteComplete(trusting);
    return readImages(trusting, needs, context);
  }
};

/** Reads what was asked for, strongly consistent. */
const readNeeds = async ({ run, documents, trustsIndexes = false }: Settling, needs: readonly Need[]): Promise<Images> => {
  const { session } = run;
  const plain = needs.filter((need): need is ReadNeed => !isSum(need) && !isStreamed(need) && !isOfValues(need));
  const images: Record<string, Item | null> = {};
  const readPlain = async (some: readonly ReadNeed[]): Promise<void> => {
    if (some.length > 0) Object.assign(images, await step(run, (context) => readPlainly(session, some, context)));
  };
  await readPlain(plain.filter(isBetween));
  await sideBySide(needs.filter(isSum), WIDTH, async (need) => {
    images[need.id] = await step(run, (context) => readSums(session, { ...need, trustsIndexes }, context));
  });
  await readPlain(plain.filter(({ kind }) => kind === "get"));
  await readPlain(plain.filter((need) => need.kind !== "get" && !isBetween(need)));
  const streamed = needs.filter(isStreamed);
  if (streamed.length > 0) Object.assign(images, await readStreamed(run, streamed));
  await sideBySide(needs.filter(isOfValues), WIDTH, async ({ id, row }) => {
    images[id] = await step(run, async (context) => (await documents?.compareRow(session, row, context)) ?? {});
  });
  return images;
};

/** Judges candidates, and reads until nothing is missing: the row before its markers. A first reading leaves out what `isBetween`. */
const casesOf = async (settling: Settling, keys: readonly Key[], known: Images | undefined) => {
  const { run, circumstances } = settling;
  const { catalog, effects } = run.session;
  let images: Images = known ?? {};
  const now = effects.now();
  for (;;) {
    const judgements = keys.map((key) => judge(catalog, key, images, { ...circumstances(), now }));
    const needs = new Map<string, Need>();
    for (const one of judgements) for (const need of one.needs) if (known || !isBetween(need)) needs.set(need.id, need);
    if (needs.size > 0) {
      images = { ...images, ...(await readNeeds(settling, [...needs.values()])) };
      continue;
    }
    const cases: Case[] = [];
    for (const [at, { needs: open, used, row, problems }] of judgements.entries()) {
      const key = keys[at]!;
      const invalid = open.length === 0 && row ? await validateSeen(catalog, row) : undefined;
      const mend = { kind: "none", advice: "Correct the value, or the schema." } as const;
      if (open.length > 0) cases.push({ key, problems: [], used });
      else if (invalid) cases.push({ key, problems: [...problems, { findings: [invalid], mend }], used });
      else if (problems.length > 0) cases.push({ key, problems, used });
    }
    return { cases, images };
  }
};

// A finding about one item alone needs no second look: the item was as it was read.
const isAlone = ({ used }: Case): boolean => used.length <= 1;

const isLate = ({ problems }: Case): boolean => problems.some(({ mend }) => mend.kind === "rebuild" || mend.kind === "follow");

const TRIES = 6;

/**
 * Judges items by strongly consistent reads of everything that they depend on. Several items are not read at one moment, and
 * writers that are no transactions change them one after the other. A problem therefore stands only if a second reading, some
 * time later, finds every item as the first one did: in between, all of them were so at the same time. The edges and parts that
 * items count are read once, after the wait and before the items' second reading.
 *
 * @returns the problems that stand, and the items that kept changing
 */
export const settleCandidates = async (
  settling: Settling,
  candidates: readonly Key[],
): Promise<{ readonly verdicts: readonly Verdict[]; readonly unsettled: readonly Key[] }> => {
  const { run, settle, staleAfter } = settling;
  const verdicts: Verdict[] = [];
  let first = await casesOf(settling, candidates, undefined);
  for (let attempt = 0; ; attempt++) {
    verdicts.push(...first.cases.filter(isAlone));
    const open = first.cases.filter((one) => !isAlone(one));
    if (open.length === 0 || attempt === TRIES) return { verdicts, unsettled: open.map(({ key }) => key) };
    await waitIn(run, open.some(isLate) ? Math.max(settle, staleAfter) : settle);
    const needs = new Map<string, Need>();
    for (const { used } of open) for (const need of used) needs.set(need.id, need);
    const again = await readNeeds(settling, [...needs.values()]);
    const second = await casesOf(
      settling,
      open.map(({ key }) => key),
      again,
    );
    const before = first.images;
    const stands = ({ key, used }: Case): boolean => {
      const id = keyId(key);
      const earlier = open.find((one) => keyId(one.key) === id)?.used ?? [];
      return [...earlier, ...used].every((need) => {
        const [then, now] = [before[need.id], second.images[need.id]];
        return isBetween(need) || (then && now ? sameItem(then, now) : then === now);
      });
    };
    verdicts.push(...second.cases.filter(stands));
    first = { cases: second.cases.filter((one) => !stands(one)), images: second.images };
  }
};
