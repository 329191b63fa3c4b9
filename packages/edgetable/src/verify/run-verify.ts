import { addCosts, type Cost, type Meter } from "../executor/call.ts";
import { checkLease } from "../executor/jobs/job-store.ts";
import { pace, REQUEST_DEADLINE, type Run } from "../executor/jobs/run-job.ts";
import { positionText, readPosition, type ScannedPage, scanPages, trackPlaces } from "../executor/scan/scan-pages.ts";
import type { CallContext } from "../executor/session.ts";
import { keyId } from "../ir/write-plan.ts";
import { keyOfItem } from "../requests/encode-item.ts";
import type { Key } from "../transport/operations.ts";
import { hasPassed } from "../util/time.ts";
import { leadsOn, repairsBefore } from "./chain.ts";
import { type Converted, validateSeen } from "./check-row.ts";
import type { Collector, KindReport } from "./collect.ts";
import type { Finding, Problem } from "./finding.ts";
import { openFolds } from "./fold-memos.ts";
import type { AloneJudge, Circumstances, DocumentKeeper } from "./judging.ts";
import { type Differing, differingUnshown, isSuspect, keepsByStream, takeBackShown, tally } from "./relations.ts";
import { isMended, repairItems, type RepairSettings } from "./repair.ts";
import { seeItem, type Seen } from "./see-item.ts";
import { settleCandidates, type Settling } from "./settle.ts";
import { openTallies, type Tallies } from "./tallies.ts";

/** How a table is verified. */
export interface VerifySettings {
  readonly segments: number;
  readonly concurrency: number;
  /** Read units a second; undefined: as fast as it goes. */
  readonly units: number | undefined;
  readonly differing: Differing;
  readonly streamed: boolean;
  /** Renamed and retyped attributes that items have in the model's form alone. @default none is looked at */
  readonly converted?: Converted | undefined;
  readonly alone: AloneJudge | undefined;
  readonly documents: DocumentKeeper | undefined;
  readonly rebuild: Settling["rebuild"];
  readonly settle: number;
  /**
   * True to count edges as an index shows them. An index shows within `settle` what was written before, and a node that counts by
   * transactions tells by its revision whether its edges changed between two readings. @default false
   */
  readonly trustsIndexes?: boolean;
  readonly staleAfter: number;
  readonly repair: RepairSettings | undefined;
  /** Items after which it stops: then nothing is said about what items say of each other. */
  readonly limit: number | undefined;
  readonly onFinding: ((finding: Finding) => void) | undefined;
  readonly onProgress: ((progress: VerifyProgress) => void) | undefined;
  readonly progressEvery: number;
}

/** How far a verification has come. */
export interface VerifyProgress {
  /**
   * Scans of the table begun, from 1. The first one looks at every item. Others follow where items do not agree, and where something
   * was mended that others follow from.
   */
  readonly pass: number;
  /** Items read in this pass. */
  readonly items: number;
  readonly findings: number;
  readonly repaired: number;
  readonly cost: Cost;
}

/** One verification under way. */
export interface Verification {
  readonly run: Run;
  readonly settings: VerifySettings;
  tallies: Tallies;
  readonly collector: Collector;
  /** 1: every item is looked at; 2: what does not agree with other items is looked for, if there is any. */
  pass: 1 | 2;
  /** Scans begun by this run. */
  scans: number;
  /** Items of the first pass, and of this one. */
  items: number;
  seen: number;
  unsettled: number;
  meter: Meter;
  reported: number;
  /** How often the table was looked at again because something had been mended that others follow from. */
  again?: number;
  /** True if such a thing was mended in this look. */
  leadsOn?: boolean;
  /** Where the first pass goes on. */
  position: string | undefined;
  /** Saves how far it has come; undefined if it is no job. */
  readonly save: (() => Promise<void>) | undefined;
  readonly saveEvery: number;
}

const countOf = (kinds: readonly KindReport[], which: "count" | "repaired"): number => kinds.reduce((sum, one) => sum + one[which], 0);

/** What a verification has cost so far. */
export const costOf = ({ run, meter }: Verification): Cost => addCosts(run.cost, meter.cost);

export const progressOf = (verification: Verification): VerifyProgress => {
  const { scans, pass, seen, collector } = verification;
  const { kinds } = collector;
  return {
    pass: Math.max(scans, pass),
    items: seen,
    findings: countOf(kinds, "count"),
    repaired: countOf(kinds, "repaired"),
    cost: costOf(verification),
  };
};

// "BatchGetItem: 100 items", ServiceQuotas: an item with its relations takes about three.
const AT_ONCE = 100;
const BATCHES = 4;

/** Items that are judged in batches while the scan goes on. */
interface Candidates {
  /** Gives something to wait for while enough batches are being judged. */
  add(key: Key): Promise<void> | undefined;
  /** Judges what is left, and waits for everything. */
  end(): Promise<void>;
}

const openCandidates = (
  verification: Verification,
  { scope, unshown = new Map() }: Pick<Circumstances, "scope"> & Partial<Pick<Circumstances, "unshown">>,
  told: (finding: Finding) => void = () => undefined,
): Candidates => {
  const { run, settings, collector } = verification;
  const { settle, trustsIndexes, staleAfter, differing, streamed, converted, alone, documents, rebuild, repair } = settings;
  const settling: Settling = {
    run,
    settle,
    trustsIndexes,
    staleAfter,
    documents,
    rebuild,
    circumstances: () => ({ scope, differing, streamed, alone, converted, unshown }),
  };
  let keys: Key[] = [];
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  const judgeBatch = async (batch: readonly Key[]): Promise<void> => {
    const { verdicts, unsettled } = await settleCandidates(settling, batch);
    verification.unsettled += unsettled.length;
    // What nobody mends was told before.
    const isNew = (problem: Problem): boolean => !verification.again || (repair !== undefined && isMended(problem, repair));
    const untold = verdicts.map((verdict) => ({ ...verdict, problems: verdict.problems.filter(isNew) }));
    for (const finding of untold.flatMap(({ problems }) => problems).flatMap(({ findings }) => findings)) {
      collector.add(finding);
      told(finding);
      settings.onFinding?.(finding);
    }
    for (const finding of repair ? await repairItems(settling, untold, repair) : []) {
      collector.repaired(finding);
      verification.leadsOn ||= leadsOn(run.session.catalog, finding);
    }
  };
  const start = (): void => {
    const batch = keys;
    keys = [];
    const work: Promise<void> = judgeBatch(batch)
      .catch((error: unknown) => void (failure ??= { error }))
      .finally(() => running.delete(work));
    running.add(work);
  };
  const drain = async (most: number): Promise<void> => {
    while (running.size > most) await Promise.race(running);
    if (failure) throw failure.error;
  };
  return {
    add: (key) => {
      keys.push(key);
      if (keys.length < AT_ONCE) return undefined;
      start();
      return drain(BATCHES - 1);
    },
    end: async () => {
      if (keys.length > 0) start();
      await drain(0);
    },
  };
};

/** What a scan does with what it reads. */
interface Visit {
  readonly from: string | undefined;
  readonly page: (page: Pick<ScannedPage, "items" | "segment" | "isLast">) => Promise<void>;
  /** Called now and then, when everything before a position was looked at. */
  readonly rest?: (position: string) => Promise<void>;
}

/** Scans the table once. Reads no faster than the settings allow. */
const scan = async (verification: Verification, visit: Visit): Promise<void> => {
  const { run, settings, meter, saveEvery } = verification;
  const { session, signal, lease, deadline } = run;
  const { segments, concurrency, units, limit } = settings;
  const guard = lease && ((): void => checkLease(session, lease));
  const context = (): CallContext => ({ meter, signal, guard, deadline: Math.min(deadline, session.effects.now() + REQUEST_DEADLINE) });
  const { table } = session.catalog;
  const from = visit.from === undefined ? { segments, begun: 0, open: {} } : readPosition(visit.from, table);
  const places = trackPlaces(from);
  verification.seen = 0;
  verification.scans++;
  let paid = meter.readUnits;
  let restedAt = session.effects.now();
  for await (const page of scanPages(session, places, { segments: from.segments, concurrency, consistent: false, context })) {
    const { items, mark } = page;
    await visit.page(page);
    mark.pending--;
    if (visit.rest && hasPassed(saveEvery, restedAt, session.effects.now())) {
      const position = places.position();
      if (position) await visit.rest(positionText(table, position));
      restedAt = session.effects.now();
    }
    verification.seen += items.length;
    if (settings.onProgress && hasPassed(settings.progressEvery, verification.reported, session.effects.now())) {
      verification.reported = session.effects.now();
      settings.onProgress(progressOf(verification));
    }
    if (limit !== undefined && verification.seen >= limit) return;
    if (units === undefined) continue;
    await pace(run, meter.readUnits - paid, units);
    paid = meter.readUnits;
  }
};

/** Looks at every item by itself, and takes down what the items say of each other. */
const passAlone = async (verification: Verification): Promise<void> => {
  const { run, settings, tallies } = verification;
  const { catalog } = run.session;
  const candidates = openCandidates(verification, { scope: "own" });
  const folds = settings.streamed ? openFolds(catalog, tallies) : undefined;
  const page: Visit["page"] = async ({ items, segment, isLast }) => {
    const slow: Promise<Key | undefined>[] = [];
    for (const item of items) {
      const seen = seeItem(catalog, item);
      tally(tallies, catalog, seen, settings);
      folds?.see(segment, seen);
      let isSuspicious = settings.alone?.suspects(catalog, seen, settings) === true;
      if (settings.alone && seen.kind === "row" && !isSuspicious) {
        const valid = validateSeen(catalog, seen);
        if (valid instanceof Promise) slow.push(valid.then((finding) => finding && seen.key));
        else isSuspicious = valid !== undefined;
      }
      const full = isSuspicious ? candidates.add(seen.key) : undefined;
      if (full) await full;
    }
    for (const key of slow.length > 0 ? await Promise.all(slow) : []) {
      const full = key && candidates.add(key);
      if (full) await full;
    }
    if (isLast) folds?.end(segment);
    verification.items += items.length;
  };
  const { save, position } = verification;
  const rest = async (reached: string): Promise<void> => {
    await candidates.end();
    folds?.breakOff();
    verification.position = reached;
    await save?.();
  };
  await scan(verification, { from: position, page, ...(save && { rest }) });
  await candidates.end();
};

/**
 * The stream keeps facts of edges that a summary waits for, and of nodes that are gone while their edges stay: nothing shows these.
 * Which they are is known once every item was seen.
 */
const takeBack = async (verification: Verification): Promise<void> => {
  const { run, tallies } = verification;
  const { catalog } = run.session;
  const folds = openFolds(catalog, tallies, -1);
  const page: Visit["page"] = ({ items, segment, isLast }) => {
    for (const item of items) {
      const seen = seeItem(catalog, item);
      takeBackShown(tallies, seen);
      folds.see(segment, seen);
    }
    if (isLast) folds.end(segment);
    return Promise.resolve();
  };
  await scan(verification, { from: undefined, page });
};

const markerKinds: ReadonlySet<Finding["kind"]> = new Set(["missingMarker", "foreignMarker"]);
const MOST_WAITING = 100_000;

/**
 * Judges what the tallies show to disagree. What follows from derived attributes comes after these, step by step: they are mended
 * first. Markers and guards come last: a value whose marker names another node is told once, and a guard may count nothing any
 * more once edges are unlinked.
 */
const passTogether = async (verification: Verification): Promise<void> => {
  const { run, settings, tallies } = verification;
  const { catalog } = run.session;
  const told = new Set<string>();
  const unshown = new Map<string, Set<string>>();
  const candidates = openCandidates(verification, { scope: "relations", unshown }, ({ kind, other }) => {
    if (other && markerKinds.has(kind)) told.add(keyId(other));
  });
  const isTold = settings.streamed && keepsByStream(catalog);
  // Of facts that nothing shows, one of the items that tell of them is judged.
  const claimed = new Set<string>();
  const claim = (seen: Seen): boolean => {
    if (!isTold || claimed.size >= MOST_WAITING) return false;
    const differing = differingUnshown(tallies, catalog, seen)
      .map(keyId)
      .filter((id) => !claimed.has(id));
    if (differing.length === 0) return false;
    for (const id of differing) claimed.add(id);
    unshown.set(keyId(seen.key), new Set(differing));
    return true;
  };
  const waiting: { readonly key: Key; readonly after: number }[] = [];
  const page: Visit["page"] = async ({ items }) => {
    for (const item of items) {
      const seen = seeItem(catalog, item);
      const tells = claim(seen);
      if (!tells && !isSuspect(tallies, catalog, seen, settings)) continue;
      const after = seen.kind === "marker" || seen.kind === "guard" ? Number.POSITIVE_INFINITY : repairsBefore(catalog, seen);
      const waits = after > 0 && waiting.length < MOST_WAITING;
      if (waits) waiting.push({ key: keyOfItem(catalog, item), after });
      const full = waits ? undefined : candidates.add(seen.key);
      if (full) await full;
    }
  };
  // Keys that wait for the rest are not saved: this pass resumes at its beginning.
  await scan(verification, { from: undefined, page });
  await candidates.end();
  for (const step of [...new Set(waiting.map(({ after }) => after))].toSorted((a, b) => a - b)) {
    for (const { key, after } of waiting) {
      const full = after !== step || told.has(keyId(key)) ? undefined : candidates.add(key);
      if (full) await full;
    }
    await candidates.end();
  }
};

const LOOKS = 5;

/**
 * Looks again where something was mended that others follow from. They agreed with it while it was wrong, so that nothing showed
 * them to be wrong as well.
 */
const looksAgain = (verification: Verification): boolean => {
  const { run, settings, tallies, again = 0 } = verification;
  const { repair, limit } = settings;
  if (!verification.leadsOn || repair?.mode !== "repair" || repair.rejudges === false || limit !== undefined || again === LOOKS)
    return false;
  verification.tallies = openTallies({ seed: Math.floor(run.session.effects.random() * 2 ** 32), bits: tallies.bits });
  Object.assign(verification, { again: again + 1, leadsOn: false, pass: 1, position: undefined, items: 0 });
  return true;
};

/** Runs a verification to its end. */
export const runVerification = async (verification: Verification): Promise<void> => {
  const { run, settings, tallies } = verification;
  if (verification.pass === 1) {
    await passAlone(verification);
    const isTold = settings.streamed && settings.limit === undefined && keepsByStream(run.session.catalog);
    if (isTold && !tallies.agrees()) await takeBack(verification);
  }
  if (settings.limit === undefined && !tallies.agrees()) {
    verification.pass = 2;
    verification.position = undefined;
    await verification.save?.();
    await passTogether(verification);
  }
  if (looksAgain(verification)) {
    await verification.save?.();
    return runVerification(verification);
  }
  settings.onProgress?.(progressOf(verification));
};
