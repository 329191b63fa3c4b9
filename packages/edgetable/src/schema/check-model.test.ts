import { describe, expect, test } from "vitest";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { adoptedModels, billingLab, defaults, education, people, school, trackerPublished } from "./adopted-models.test-support.ts";
import { assertModel, checkModel, type ModelFinding } from "./check-model.ts";
import { edge, node } from "./definition.ts";
import { link, model, team, user } from "./check-model/cases.test-support.ts";

test.each(Object.entries({ ...adoptedModels, defaults }))("%s has no findings", (_, model) => {
  expect(checkModel(model)).toEqual([]);
});

describe("all at once", () => {
  const wrong = model({
    table: "x",
    nodes: { user: user({ unique: ["nme"] }), guest: user(), team: team() },
    edges: { close: link(), joins: link({ orderBy: "when", maxDegree: { from: -1 } }) },
  });

  test("one error lists every finding", () => {
    let thrown: unknown;
    try {
      assertModel(wrong);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(EdgetableError);
    const { code, details, message } = thrown as EdgetableError;
    expect(code).toBe("schema.invalidModel");
    expect((details["findings"] as ModelFinding[]).map((one) => one.rule).toSorted()).toEqual([
      "attribute",
      "attribute",
      "collision",
      "reservedName",
      "setting",
      "table",
    ]);
    expect(message).toMatch(/^The model has 6 mistakes:\n- edges\.close: /);
  });

  test("a right model gives its catalog", () => {
    for (const one of [education, billingLab, school, people, trackerPublished]) expect(assertModel(one).table).toBe(one.table);
  });
});

test("definitions not made by node(), edge() or part(), or without key or schema, are reported", () => {
  const nodes = { user: { key: "USER#{id}" }, team: node({ key: "TEAM#{id}" } as never), none: null };
  const findings = checkModel({ table: "Teams", nodes, edges: { joins: edge({} as never) } } as never);
  expect(findings.map(({ place }) => place)).toEqual(["nodes.user", "nodes.team", "nodes.none", "edges.joins"]);
  expect(findings[1]?.message).toBe("this is not a node: make it with node({ … }), and give it a key and a Standard Schema.");
  expect(checkModel({ table: "Teams" } as never)).toMatchObject([{ place: "nodes" }]);
});

test.each([
  ["an index that is null", { indexes: { byName: null } }, "Expected an object, such as { entries: … }, got null."],
  ["an index that is a text", { indexes: { byName: "name" } }, 'Expected an object, such as { entries: … }, got "name".'],
  ["an index without entries", { indexes: { byName: {} } }, "entries is missing: name what the index holds"],
  [
    "an entry that is null",
    { indexes: { byName: { entries: { user: null } } } },
    "user is null: give an attribute, or a list of attributes.",
  ],
  ["a text for a list of names", { nodes: { user: user({ unique: "name" }) } }, 'Expected an array of attributes for unique, got "name".'],
  ["an end that is a number", { edges: { joins: link({ to: 5 }) } }, "to is 5: give a node type, or a list of node types."],
  [
    "a template that is no text",
    { layout: { partitionKey: "PK", sortKey: "SK", nodes: { user: { keys: { SK: 5 } } } } },
    'keys.SK is 5: give a template, such as "USER#{userId}".',
  ],
  [
    "a layout without a partition key",
    { layout: { sortKey: "SK" } },
    'partitionKey is missing: give the name of the attribute, such as "pk".',
  ],
  [
    "an index of a layout that is a text",
    { layout: { partitionKey: "PK", sortKey: "SK", indexes: { gsi: "GSI" } } },
    'Expected an object, such as { partitionKey: … }, got "GSI".',
  ],
  [
    "the attributes of one copy of an edge",
    { edges: { joins: link({ stored: "twice", sides: { to: ["since"] } }) } },
    'sides is {"to":["since"]}: give the attributes of both copies, { from: […], to: […] }.',
  ],
  ["no name of a table", { table: undefined }, "the table's name is missing"],
])("%s is a finding like any other", (_, more, words) => {
  const findings = checkModel(model(more));
  expect(findings).toHaveLength(1);
  expect(findings[0]?.message).toContain(words);
});
