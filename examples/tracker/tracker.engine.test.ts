import { expect, test } from "vitest";
import { describeExample } from "../test-support/describe-example.ts";
import type { ExampleLab } from "../test-support/example-lab.ts";
import { tracker, type TrackerDb } from "./model.ts";
import { system } from "./system.ts";

const [published, draft] = await system.tables();

/** The index of thirteen: its keys, and the item that each leads to. */
const indexRows = (value: string, padded: boolean): readonly (readonly [string, string, string])[] => {
  const num = (number: number): string => (padded ? `00000${number}` : String(number));
  const cell = (text: string, number: number): string => (padded ? `${text}#${num(number)}` : text);
  return [
    ["tenant-0807", "Forth Rail Bridge", "project-35e9"],
    ["tenant-3cc8", "The Daily News", "project-7b7e"],
    ["project-35e9", num(1), "issue-020e"],
    ["project-35e9", num(2), "issue-67d1"],
    ["project-35e9", num(3), "issue-af34"],
    ["project-7b7e", num(1), "issue-3544"],
    ["project-7b7e", num(2), "issue-83a4"],
    [`${value}-3812`, cell("2023-05-01", 1), "issue-020e"],
    [`${value}-3812`, cell("2023-05-02", 2), "issue-67d1"],
    [`${value}-3fe6`, cell(padded ? "000042" : "42", 3), "issue-af34"],
    [`${value}-47e5`, cell("Approved", 3), "issue-af34"],
    [`${value}-882a`, cell("2023-06-01", 1), "issue-020e"],
    [`${value}-882a`, cell("2023-06-02", 2), "issue-67d1"],
  ];
};

const inIndex = async (lab: ExampleLab): Promise<readonly (readonly unknown[])[]> =>
  (await lab.items("byRelated")).map((item) => [item["SK"], item["Data"], item["PK"]]).toSorted((a, b) => (a.join() < b.join() ? -1 : 1));
const sorted = (rows: ReturnType<typeof indexRows>): ReturnType<typeof indexRows> =>
  rows.toSorted((a, b) => (a.join() < b.join() ? -1 : 1));

const furtherPublished = (lab: () => ExampleLab): void => {
  test("the index holds thirteen of the nineteen, by keys alone", async () => {
    expect(await inIndex(lab())).toEqual(sorted(indexRows("xvalue", true)));
  });

  test("a cursor goes on where its page ended, and back", async () => {
    const db: TrackerDb = tracker.connect({ transport: lab().transport, cursorSecret: "test".padEnd(43, "-") });
    const starts = db.field({ fieldId: "3812" }).in("value");
    const first = await starts.page({ limit: 1, of: "ids" });
    const second = await starts.page({ limit: 1, of: "ids", cursor: first.next });
    expect([first.items, second.items]).toEqual([[{ issueId: "020e" }], [{ issueId: "67d1" }]]);
    const back = await starts.page({ limit: 1, of: "ids", cursor: second.previous });
    expect(back.items).toEqual(first.items);
  });

  test("an issue that gets another number moves in every order that it has", async () => {
    const db: TrackerDb = tracker.connect({ transport: lab().transport });
    await db.issue.update({ issueId: "83a4" }, { num: 10 }).orThrow();
    await db.issue.create({ issueId: "new", projectId: "7b7e", num: 2, name: "Print", state: "open" }).orThrow();
    expect(await db.project({ projectId: "7b7e" }).in("inProject").ids()).toEqual([
      { issueId: "3544" },
      { issueId: "new" },
      { issueId: "83a4" },
    ]);
  });
};

const furtherDraft = (lab: () => ExampleLab): void => {
  test("the index holds thirteen of the nineteen, by keys alone", async () => {
    expect(await inIndex(lab())).toEqual(sorted(indexRows("value", false)));
  });
};

describeExample("tracker, as published", published!, { seed: "grid-published.json", further: furtherPublished });
describeExample("tracker, as drafted", draft!, { seed: "grid.json", further: furtherDraft });
