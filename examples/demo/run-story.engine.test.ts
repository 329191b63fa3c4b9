import { startEngine } from "@edgetable/local";
import { createLeanTransport } from "edgetable";
import { expect, test } from "vitest";
import picocolors from "picocolors";
import { type ChapterResult, runFields, runTotals, runTruth, type StoryContext, type TruthContext } from "./run-story.ts";
import type { Terminal } from "./terminal.ts";
import { chapterText, sectionVerdict } from "./story-text.ts";
import { chapters } from "../truth/story.ts";

const withEngine = async <T>(act: (context: StoryContext) => Promise<T>): Promise<T> => {
  const engine = await startEngine();
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  try {
    return await act({ transport, signal: new AbortController().signal, onChapter: () => undefined });
  } finally {
    await transport.close();
    await engine.stop();
  }
};

const run = (more: Partial<TruthContext> = {}): Promise<readonly ChapterResult[]> =>
  withEngine((context) => runTruth({ ...context, ...more }));

const terminal: Terminal = { colors: picocolors.createColors(false), width: 100, write: () => undefined };
const keys = (chapter: ChapterResult | undefined, deed: number): readonly string[] =>
  (chapter?.deeds[deed]?.writes ?? []).map(({ operation, partition, sort }) => `${operation} ${partition} ${sort}`.trim());

test("each change leaves the facts that follow as they should be, and tells who wrote what at what cost", async () => {
  const results = await run();
  expect(results.map(({ name, ok, error }) => [name, ok, error])).toEqual(
    ["renamed", "counted", "summed", "indexed", "repaired"].map((name) => [name, true, undefined]),
  );
  const [renamed, counted, summed, indexed, repaired] = results;

  expect(keys(renamed, 0).toSorted()).toEqual([
    "Check COURSE#C1 ~degree#enrolledIn#in",
    "Update COURSE#C1 #",
    "Update STUDENT#S1 enrolledIn#COURSE#C1",
    "Update STUDENT#S2 enrolledIn#COURSE#C1",
    "Update STUDENT#S3 enrolledIn#COURSE#C1",
  ]);
  expect(renamed?.deeds[0]).toMatchObject({ isOneTransaction: true, cost: { requests: 5, readUnits: 3.5, writeUnits: 14 } });

  expect(keys(counted, 0)).toContain("Update COURSE#C1 #");
  expect(keys(counted, 1)).toContain("Update COURSE#C3 #");
  expect(counted?.deeds.map(({ isOneTransaction }) => isOneTransaction)).toEqual([true, true]);

  expect(keys(summed, 0)).toEqual(["Update INVOICE#I1 BILL#B1", "Put INVOICE#I1 BILL#B3"]);
  expect(summed?.deeds[0]).toMatchObject({ isOneTransaction: false, result: { total: 200 } });
  expect(keys(summed, 1)).toContain("Update INVOICE#I1 #");

  expect(keys(indexed, 0)).toEqual(expect.arrayContaining(["Update COURSE#C1 #", "Update COURSE#C2 #", "Update COURSE#C3 #"]));
  expect(keys(indexed, 2)).toEqual(expect.arrayContaining(["Update COURSE#C4 #", "UpdateTable"]));
  expect(indexed?.deeds[2]?.writes).toContainEqual(expect.objectContaining({ content: "create the index byTeacher" }));

  expect(keys(repaired, 1)).toEqual([]);
  expect(keys(repaired, 2)).toEqual(expect.arrayContaining(["Update COURSE#C3 #", "Update STUDENT#S1 enrolledIn#COURSE#C1"]));
  expect(repaired?.deeds[0]?.cost.requests).toBe(3);
  expect(sectionVerdict(terminal, "truth", results)).toBe("✓ 5 of 5 changes left every fact true\n");
});

test("a fact that is not as expected is shown with what was expected", async () => {
  const [renamed, counted] = chapters;
  if (!renamed || !counted) throw new Error("There are no chapters.");
  const failing = { ...counted, ask: () => Promise.reject(new Error("no answer")) };
  const results = await run({ story: [{ ...renamed, expected: [{ title: "Music" }] }, failing] });
  const texts = results.map((result, at) => chapterText(terminal, result, at));
  expect(texts[0]).toContain('✗ renamed: expected [{"title":"Music"}]');
  expect(texts[1]).toContain("✗ counted: no answer");
  expect(sectionVerdict(terminal, "truth", results)).toBe("✗ 2 of 2 changes left a fact wrong: renamed, counted\n");
});

test("a field is one item, its values are an item each or one for a row, and the grid is the same", async () => {
  const [items, documents] = await withEngine(runFields);
  for (const chapter of [items, documents]) {
    expect([chapter?.ok, chapter?.error]).toEqual([true, undefined]);
    expect(chapter?.answer).toMatchObject([{ points: 100 }, {}, {}, {}, {}]);
    expect(keys(chapter, 0)).toContain("Put PROJECT#bridge issueFields#all");
    expect(chapter?.cost.requests).toBeLessThanOrEqual(5);
  }
  expect(items?.deeds[1]?.writes).toHaveLength(300);
  expect(items?.deeds[2]?.result).toMatchObject([{ value: "closed" }, { value: "open" }]);
  expect(documents?.deeds[1]?.writes).toHaveLength(300);
  expect(documents?.deeds[2]?.writes.length).toBeGreaterThanOrEqual(300);
});

test("totals by transaction, by stream and in batch are equal after every change", async () => {
  const results = await withEngine(runTotals);
  expect(results.map(({ name, ok, error }) => [name, ok, error])).toEqual(
    ["billed", "rolled up", "counted"].map((name) => [name, true, undefined]),
  );
  const [billed, rolledUp] = results;
  expect(billed?.answer).toContainEqual({ of: "bill 3392", transaction: 1_367_281, stream: 1_367_281, batch: 1_367_281 });
  expect(rolledUp?.deeds[0]?.isOneTransaction).toBe(true);
  // The batch job writes only what changed.
  expect(keys(rolledUp, 2).filter((write) => write.startsWith("Update") && !write.includes("~job"))).toHaveLength(4);
  expect(sectionVerdict(terminal, "totals", results)).toBe("✓ 3 of 3 systems have equal totals by transaction, stream and batch\n");
});

test("an interruption ends it", async () => {
  const interruption = new AbortController();
  const interrupted = run({ signal: interruption.signal, onChapter: () => interruption.abort(new Error("interrupted")) });
  await expect(interrupted).rejects.toThrow("interrupted");
});
