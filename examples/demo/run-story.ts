import type { ConnectOptions, Cost, SentRequest, Transport } from "edgetable";
import { refreshFacts } from "edgetable/streams";
import { sameAnswer } from "./run-system.ts";
import { type Write, writesOf } from "./write-lines.ts";
import { byDocument, byItem, type TrackerDb } from "../fields/model.ts";
import { bridge, fieldChapters, type FieldsStage, issues } from "../fields/story.ts";
import type { Chapter, Deed } from "../story.ts";
import { college, collegeByTeacher } from "../truth/model.ts";
import { load } from "../truth/rows.ts";
import { chapters, type Stage } from "../truth/story.ts";
import { totals } from "../totals/model.ts";
import { load as loadTotals } from "../totals/rows.ts";
import { totalsChapters } from "../totals/story.ts";

/** What one program did, as it was sent. */
export interface DeedResult {
  readonly by: string;
  readonly calls: readonly string[];
  readonly writes: readonly Write[];
  /** True if one transaction wrote everything. */
  readonly isOneTransaction: boolean;
  readonly cost: Cost;
  readonly milliseconds: number;
  readonly result: unknown;
  readonly expected: unknown;
  readonly ok: boolean;
}

/** A change, by whom it was written, and the facts that follow from it. */
export interface ChapterResult {
  readonly name: string;
  readonly title: string;
  readonly deeds: readonly DeedResult[];
  readonly call: string;
  readonly answer: unknown;
  readonly expected: unknown;
  readonly ok: boolean;
  /** The error, if the chapter broke off. */
  readonly error: string | undefined;
  /** Of the call that read the answer. */
  readonly cost: Cost;
  readonly milliseconds: number;
}

interface Measured<T> {
  readonly value: T;
  readonly requests: readonly Sent[];
  readonly cost: Cost;
  readonly milliseconds: number;
}

type Sent = Pick<SentRequest, "operation" | "input" | "readUnits" | "writeUnits">;

/** The requests that go by, for as long as one deed takes. */
const openLedger = (signal: AbortSignal) => {
  let sent: Sent[] = [];
  return {
    note: (request: Sent): void => {
      signal.throwIfAborted();
      sent.push(request);
    },
    measure: async <T>(act: () => Promise<T>): Promise<Measured<T>> => {
      sent = [];
      const start = performance.now();
      const value = await act();
      const requests = sent;
      const sum = (pick: (request: Sent) => number): number => requests.reduce((total, request) => total + pick(request), 0);
      const cost = { requests: requests.length, readUnits: sum((one) => one.readUnits), writeUnits: sum((one) => one.writeUnits) };
      return { value, requests, cost, milliseconds: performance.now() - start };
    },
  };
};

type Ledger = ReturnType<typeof openLedger>;

/** The requests of a program that does not use Edgetable; each asks what it consumed. */
const foreignOn = (transport: Transport, ledger: Ledger): Stage["foreign"] => ({
  send: async (operation, input, options) => {
    const output = await transport.send(operation, input, options);
    const { ConsumedCapacity } = output as { readonly ConsumedCapacity?: { readonly CapacityUnits?: number } };
    ledger.note({ operation, input, readUnits: 0, writeUnits: ConsumedCapacity?.CapacityUnits ?? 0 });
    return output;
  },
});

const runDeed = async <S>(deed: Deed<S>, stage: S, ledger: Ledger): Promise<DeedResult> => {
  const { value, requests, cost, milliseconds } = await ledger.measure(() => deed.act(stage));
  const writing = requests.filter((request) => writesOf(request).length > 0);
  return {
    by: deed.by,
    calls: deed.calls,
    writes: writing.flatMap(writesOf),
    isOneTransaction: writing.length === 1 && writing[0]?.operation === "TransactWriteItems",
    cost,
    milliseconds,
    result: value,
    expected: deed.expected,
    ok: sameAnswer(value, { answer: deed.expected, requests: [] }),
  };
};

const NOTHING: Cost = { requests: 0, readUnits: 0, writeUnits: 0 };

const runChapter = async <S>(
  chapter: Chapter<S>,
  stage: S,
  { ledger, signal }: Pick<Told, "ledger" | "signal">,
): Promise<ChapterResult> => {
  const { name, title, call, expected } = chapter;
  const deeds: DeedResult[] = [];
  try {
    for (const deed of chapter.deeds) deeds.push(await runDeed(deed, stage, ledger));
    const { value: answer, cost, milliseconds } = await ledger.measure(() => chapter.ask(stage));
    const ok = deeds.every((deed) => deed.ok) && sameAnswer(answer, { answer: expected, requests: [] });
    return { name, title, deeds, call, answer, expected, ok, error: undefined, cost, milliseconds };
  } catch (error) {
    if (signal.aborted) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { name, title, deeds, call, answer: undefined, expected, ok: false, error: message, cost: NOTHING, milliseconds: 0 };
  }
};

/** What a section of the demo needs. */
export interface StoryContext {
  readonly transport: Transport;
  readonly signal: AbortSignal;
  /** Called after each chapter. */
  readonly onChapter: (chapter: ChapterResult, at: number) => void;
}

/** The same, with the chapters if these are not the published ones. */
export interface TruthContext extends StoryContext {
  /** @default the published chapters */
  readonly story?: readonly Chapter<Stage>[];
}

interface Told extends StoryContext {
  readonly ledger: Ledger;
}

const runStory = async <S>(story: readonly Chapter<S>[], stage: S, told: Told): Promise<readonly ChapterResult[]> => {
  const results: ChapterResult[] = [];
  for (const [at, chapter] of story.entries()) {
    const result = await runChapter(chapter, stage, told);
    told.onChapter(result, at);
    results.push(result);
  }
  return results;
};

/** Creates the college's table, changes it chapter by chapter, and reads the facts that follow. */
export const runTruth = async ({ story = chapters, ...context }: TruthContext): Promise<readonly ChapterResult[]> => {
  const { transport, signal } = context;
  const ledger = openLedger(signal);
  const options: ConnectOptions = { transport, onRequest: ledger.note };
  const stage: Stage = { db: college.connect(options), newDb: collegeByTeacher.connect(options), foreign: foreignOn(transport, ledger) };
  await stage.db.table.create({ signal, stream: true });
  await load(stage.db);
  await refreshFacts(stage.db, { segments: 1, signal });
  return runStory(story, stage, { ...context, ledger });
};

/** Creates two trackers, lets a project define a field in each, and reads a grid that is sorted by it. */
export const runFields = async (context: StoryContext): Promise<readonly ChapterResult[]> => {
  const { transport, signal } = context;
  const ledger = openLedger(signal);
  const options: ConnectOptions = { transport, onRequest: ledger.note };
  const stage: FieldsStage = { byItem: byItem.connect(options), byDocument: byDocument.connect(options) };
  const trackers: readonly TrackerDb[] = [stage.byItem, stage.byDocument];
  for (const db of trackers) {
    await db.table.create({ signal, stream: true });
    await db.project.create({ ...bridge, name: "Forth Rail Bridge" }).orThrow();
    await db.load(
      issues.map((row) => ({ node: "issue" as const, row })),
      { signal },
    );
    // The first page of a table stores the secret of its cursors.
    await db.issue.grid(bridge).page({ limit: 1 });
  }
  return runStory(fieldChapters, stage, { ...context, ledger });
};

/** Creates a table with the totals of three systems, changes what they add up, and lets each of their keepers follow. */
export const runTotals = async (context: StoryContext): Promise<readonly ChapterResult[]> => {
  const { transport, signal } = context;
  const ledger = openLedger(signal);
  const db = totals.connect({ transport, onRequest: ledger.note });
  await db.table.create({ signal, stream: true });
  await loadTotals(db);
  return runStory(totalsChapters, { db }, { ...context, ledger });
};
