import { expect, test } from "vitest";
import { z } from "zod";
import { checkModel } from "./check-model.ts";
import { count } from "./derived.ts";
import { edge, type GraphDefinition, node, part, summarize } from "./definition.ts";
import { withFields } from "./grid-parts.ts";

const text = z.string();
const user = node({ key: "USER#{userId}", schema: z.object({ userId: text, name: text }) });
const project = node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) });
const task = part({ of: "project", key: "TASK#{taskId}", schema: z.object({ taskId: text, title: text }) });

const findings = (model: Partial<GraphDefinition>): readonly string[] =>
  checkModel(withFields({ table: "Ends", nodes: { user, project }, parts: { task }, ...model } as GraphDefinition)).map(
    ({ rule, place, message }) => `${rule} ${place}: ${message}`,
  );

test("an edge may lead to and from parts", () => {
  expect(
    findings({
      edges: {
        assigned: edge({ from: "user", to: "task", stored: "twice", maxDegree: { to: 3 }, onDelete: { from: "restrict", to: "cascade" } }),
        mentions: edge({ from: ["task", "project"], to: ["user", "task"] }),
        related: edge({ from: "task", to: "task", symmetric: true }),
      },
    }),
  ).toEqual([]);
});

test("aggregates range over edges of parts, and such edges copy attributes of nodes", () => {
  const counting = { ...user, derived: { tasks: count({ out: "assigned" }) } };
  const assigned = edge({ from: "user", to: "task", copies: { from: ["name"] }, onDelete: { from: "cascade", to: "cascade" } });
  expect(findings({ nodes: { user: counting, project }, edges: { assigned } })).toEqual([]);
});

test("an adopted layout joins the keys of a part and its node by its delimiter", () => {
  const layout = { partitionKey: "PK", sortKey: "SK", delimiter: "|" };
  const nodes = {
    user: node({ key: "USER|{userId}", schema: z.object({ userId: text }) }),
    project: node({ key: "PROJECT|{projectId}", schema: z.object({ projectId: text }) }),
  };
  const parts = { task: part({ of: "project", key: "TASK|{taskId}", schema: z.object({ taskId: text }) }) };
  const edges = { assigned: edge({ from: "user", to: "task" }) };
  expect(findings({ nodes, parts, edges, layout })).toEqual([]);
  const step = node({ key: "PROJECT|{projectId}|TASK|{stepId}", schema: z.object({ projectId: text, stepId: text }) });
  expect(findings({ nodes: { ...nodes, step }, parts, edges: { does: edge({ from: "user", to: ["task", "step"] }) }, layout })).toContain(
    'collision parts.task: edges name "step" by PROJECT|{projectId}|TASK|{stepId} and "task" by PROJECT|{projectId}|TASK|{taskId}, and can take one for the other. Begin one of the keys differently.',
  );
});

test("a misspelt end is suggested", () => {
  expect(findings({ edges: { assigned: edge({ from: "user", to: "taks" }) } })).toEqual([
    'nodeType edges.assigned.to: "taks" is not a node type or part. Did you mean "task"?',
  ]);
});

test.each([
  [
    "a reference",
    { edges: { assigned: edge({ from: "user", to: "task", stored: "reference", by: { projectId: "name", taskId: "name" } }) } },
    'setting edges.assigned.stored: "task" is a part, and an edge that leads to or from a part cannot be a reference. Store it "once" or "twice".',
  ],
  [
    "copies",
    { edges: { assigned: edge({ from: "user", to: "task", copies: { to: ["title"] } }) } },
    'setting edges.assigned.copies.to: "task" is a part, and its attributes are not copied onto edges. Leave them out, or make "task" a node with a key of its own.',
  ],
  [
    "a restricted deletion",
    { edges: { assigned: edge({ from: "user", to: "task", onDelete: { to: "restrict" } }) } },
    'setting edges.assigned.onDelete.to: "task" is a part and goes with its node, whose deletion cannot ask the edges of all its parts at once. Use "cascade" or "leave".',
  ],
  [
    "a summary",
    {
      edges: {
        watches: edge({ from: "user", to: "task" }),
        assigned: summarize(edge({ from: "user", to: "task" }), { times: count({ along: "watches" }) }),
      },
    },
    'setting edges.assigned.derived: "task" is a part, and its edges have no derived attributes. Leave them out, or make "task" a node with a key of its own.',
  ],
])("%s is refused at a part", (_, model, message) => {
  expect(findings(model as unknown as Partial<GraphDefinition>)).toContain(message);
});

test("the parts that hold users' fields are no ends", () => {
  const issue = node({
    key: "ISSUE#{issueId}",
    schema: z.object({ issueId: text, projectId: text }),
    fields: { of: "project" },
  });
  expect(findings({ nodes: { user, project, issue }, edges: { about: edge({ from: "user", to: "issueValue" }) } })).toEqual([
    'nodeType edges.about.to: "issueValue" is not a node type or part. Known: user, project, issue, task.',
  ]);
});

test("the names of parts in keys are not those of nodes", () => {
  const step = node({ key: "PROJECT#{projectId}#TASK#{stepId}", schema: z.object({ projectId: text, stepId: text }) });
  expect(findings({ nodes: { user, project, step }, edges: { does: edge({ from: "user", to: ["task", "step"] }) } })).toContain(
    'collision parts.task: edges name "step" by PROJECT#{projectId}#TASK#{stepId} and "task" by PROJECT#{projectId}#TASK#{taskId}, and can take one for the other. Begin one of the keys differently.',
  );
  // Without edges, a part and a node may have such keys.
  expect(findings({ nodes: { user, project, step } })).toEqual([]);
});
