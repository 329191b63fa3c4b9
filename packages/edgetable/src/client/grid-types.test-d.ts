import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineGraph, node, type Field, type FieldValue } from "../index.ts";

const text = z.string();
const graph = defineGraph({
  table: "Tracker",
  nodes: {
    project: node({ key: "P#{projectId}", schema: z.object({ projectId: text }) }),
    issue: node({
      key: "I#{issueId}",
      schema: z.object({ issueId: text, projectId: text, num: z.int(), state: z.enum(["open", "closed"]), due: z.date().optional() }),
      fields: { of: "project", orderBy: "num:6" },
    }),
  },
});
declare const db: ReturnType<typeof graph.connect>;
const parent = { projectId: "P1" };

test("fixed columns have their own types", async () => {
  const { items } = await db.issue.grid(parent).sort("num", "desc").page();
  expectTypeOf(items[0]!.row).toEqualTypeOf<{
    issueId: string;
    projectId: string;
    num: number;
    state: "open" | "closed";
    due?: Date | undefined;
  }>();
  db.issue.grid(parent).where({ num: { gte: 3 }, state: "open", due: { lt: new Date() } });
  // @ts-expect-error -- a number is compared with numbers
  db.issue.grid(parent).where({ num: { gte: "3" } });
  // @ts-expect-error -- a state is one of two
  db.issue.grid(parent).where({ state: "opened" });
  // @ts-expect-error -- there is no such attribute
  db.issue.grid(parent).sort("number");
  // @ts-expect-error -- there is no such attribute
  db.issue.grid(parent).columns("num", "number");
});

test("users' fields are told apart by their type", async () => {
  const grid = db.issue.grid(parent).sort("field:3812", "desc").columns("num", "field:3812");
  grid.where({ "field:3812": { gte: "2023-05" }, or: [{ "field:size": { in: ["small"] } }, { num: 3 }] });
  const cell = (await grid.page()).items[0]!.cells["3812"]!;
  expectTypeOf(cell).toEqualTypeOf<FieldValue>();
  if (cell.type === "number") expectTypeOf(cell.value).toBeNumber();
  if (cell.type === "choices") expectTypeOf(cell.value).toEqualTypeOf<readonly string[]>();
  if (cell.type === "reference") expectTypeOf(cell.value).toEqualTypeOf<Readonly<Record<string, string | number | boolean>>>();
  const field: Field = (await db.issue.fields(parent).list())[0]!;
  if (field.type === "choice") expectTypeOf(field.choices).toEqualTypeOf<readonly string[]>();
  // @ts-expect-error -- a number has no choices
  if (field.type === "number") void field.choices;
});

test("definitions say what their type needs", () => {
  const fields = db.issue.fields(parent);
  void fields.define({ name: "Size", type: "choice", choices: ["small"], default: "small" });
  void fields.define({ name: "Owner", type: "reference", node: "person" });
  // @ts-expect-error -- a choice needs its choices
  void fields.define({ name: "Size", type: "choice" });
  // @ts-expect-error -- there is no such type
  void fields.define({ name: "Size", type: "colour" });
  // @ts-expect-error -- the default of a number is a number
  void fields.define({ name: "Cost", type: "number", default: "3" });
  // @ts-expect-error -- a value is no date object: days and moments are texts
  void db.issue.values({ issueId: "1" }).set({ f1: new Date() });
  // @ts-expect-error -- the parent of an issue is a project
  db.issue.grid({ issueId: "1" });
});
