import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../../client/define-graph.ts";
import { node } from "../definition.ts";
import type { ValueIndex } from "../layout.ts";
import { text } from "./cases.test-support.ts";

const project = node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text, title: text }) });
const schema = z.object({ issueId: text, projectId: text, num: z.int(), name: text, Name: text });
const define = (indexes: Readonly<Record<string, ValueIndex>>, sortable: readonly string[] = ["name"]) =>
  defineGraph({
    table: "Tracker",
    nodes: { project, issue: node({ key: "ISSUE#{issueId}", schema, fields: { of: "project", orderBy: "num:6", sortable } }) },
    indexes: indexes as never,
  });

test.each(["grid", "issueByName"])("an index of the model is not called as one of the grid's: %s", (name) => {
  for (const entries of [{ project: "title" }, { issue: "name" }])
    expect(() => define({ [name]: { entries } })).toThrow(
      `nodes.issue.fields: the grid of "issue" has an index of its own that is called "${name}". Rename that of the model.`,
    );
  expect(() => define({ byTitle: { entries: { project: "title" } } })).not.toThrow();
});

test("two columns of a grid do not share an index", () => {
  expect(() => define({}, ["name", "Name"])).toThrow(
    '"name" and "Name" are both sorted by the index "issueByName". Leave one of them out.',
  );
});

test.each([
  ["may be missing", z.int().optional()],
  ["may be null", z.int().nullable()],
])("the order of a grid is not by an attribute that %s", (_, num) => {
  const issue = (order: z.ZodType) =>
    node({ key: "ISSUE#{issueId}", schema: schema.extend({ num: order }), fields: { of: "project", orderBy: "num:6" } } as never);
  const withOrder = (order: z.ZodType) => () => defineGraph({ table: "Tracker", nodes: { project, issue: issue(order) as never } });
  expect(withOrder(num)).toThrow('nodes.issue.fields: a "issue" may lack "num", and a row without it has no place in the grid.');
  expect(withOrder(z.int().default(0))).not.toThrow();
});

test("a node type without a name is named as a mistake, not thrown as a TypeError", () => {
  expect(() => defineGraph({ table: "Tracker", nodes: { "": project } })).toThrow(/nodes\.: "" cannot follow "db\."/);
});
