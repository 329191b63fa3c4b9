import { refreshFacts } from "edgetable/streams";
import type { Chapter, Deed } from "../story.ts";
import type { TrackerDb } from "./model.ts";

/** What the chapters act on: the same issues in both storages. */
export interface FieldsStage {
  readonly byItem: TrackerDb;
  readonly byDocument: TrackerDb;
}

export const bridge = { projectId: "bridge" };

const ISSUES = 300;
const tasks = ["Paint", "Inspect", "Replace", "Weld"];

/** The issues before their project has a field. */
export const issues = Array.from({ length: ISSUES }, (_, at) => ({
  issueId: `i${at + 1}`,
  ...bridge,
  num: at + 1,
  name: `${tasks[at % tasks.length]} girder ${at + 1}`,
  state: at % 3 === 0 ? ("closed" as const) : ("open" as const),
}));

const pointsOf = (num: number): number => (num * 37) % 101;

const expected = [...issues]
  .filter(({ num, state }) => state === "open" && pointsOf(num) >= 90)
  .toSorted((a, b) => pointsOf(b.num) - pointsOf(a.num) || b.num - a.num)
  .slice(0, 5)
  .map(({ num, name }) => ({ num, name, points: pointsOf(num) }));

const user = "a user of the project";

type In = keyof FieldsStage;

const define = (storage: In): Deed<FieldsStage> => ({
  by: user,
  calls: ['db.issue.fields(bridge).define({ fieldId: "points", name: "Points", type: "number" })'],
  act: async ({ [storage]: db }) => void (await db.issue.fields(bridge).define({ fieldId: "points", name: "Points", type: "number" })),
});

const setValues = (storage: In): Deed<FieldsStage> => ({
  by: "three hundred edits",
  calls: ["db.issue.values({ issueId }).set({ points })"],
  act: async ({ [storage]: db }) => {
    for (const { issueId, num } of issues) await db.issue.values({ issueId }).set({ points: pointsOf(num) });
  },
});

const grid = (db: TrackerDb) =>
  db.issue
    .grid(bridge)
    .where({ state: "open", "field:points": { gte: 90 } })
    .sort("field:points", "desc");

const page = async (db: TrackerDb): Promise<unknown> => {
  const { items } = await grid(db).page({ limit: 5 });
  return items.map(({ row, cells }) => ({ num: row.num, name: row.name, points: cells["points"]?.value }));
};

const CALL = 'db.issue.grid(bridge).where({ state: "open", "field:points": { gte: 90 } }).sort("field:points", "desc").page({ limit: 5 })';

const inItems: Chapter<FieldsStage> = {
  name: "items",
  title: "A project gets a field, and three hundred issues get values, an item each. A grid is sorted and filtered by it.",
  deeds: [
    define("byItem"),
    setValues("byItem"),
    {
      by: user,
      calls: ['db.issue.grid(bridge).where({ "field:points": { gte: 90 } }).groups("state")'],
      act: async ({ byItem: db }) =>
        (
          await db.issue
            .grid(bridge)
            .where({ "field:points": { gte: 90 } })
            .groups("state")
        ).groups,
      expected: ["closed", "open"].map((state) => ({
        value: state,
        rows: issues.filter((one) => one.state === state && pointsOf(one.num) >= 90).length,
      })),
    },
  ],
  call: CALL,
  ask: ({ byItem }) => page(byItem),
  expected,
};

const inDocuments: Chapter<FieldsStage> = {
  name: "documents",
  title: 'The same with storage: "document": all values of an issue are one item, and the stream keeps the index.',
  deeds: [
    define("byDocument"),
    setValues("byDocument"),
    {
      by: "the upkeep of stream facts, here run once over the whole table in place of the stream's processor",
      calls: ["refreshFacts(db, { segments: 1 })"],
      act: async ({ byDocument }) => void (await refreshFacts(byDocument, { segments: 1 })),
    },
  ],
  call: CALL,
  ask: ({ byDocument }) => page(byDocument),
  expected,
};

/** What happens in both trackers. */
export const fieldChapters: readonly Chapter<FieldsStage>[] = [inItems, inDocuments];
