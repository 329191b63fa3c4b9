import { describe, expect, test } from "vitest";
import { checkModel } from "../check-model.ts";
import { cases, inLayout, joined, model, reverse, user } from "./cases.test-support.ts";

describe("the table", () => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`index${at}`, { partitionKey: `P${at}`, sortKey: `S${at}` }]));
  cases({
    "a table's name": { model: model({ table: "my table" }), rule: "table", place: "table", says: ['"my table"', "3 to 255"] },
    "an index's name": {
      model: inLayout({ indexes: { "a b": { partitionKey: "G1" } } }),
      rule: "table",
      place: "layout.indexes.a b",
      says: ['"a b"'],
    },
    "an index's equal keys": {
      model: inLayout({ indexes: { gsi: { partitionKey: "G1", sortKey: "G1" } } }),
      rule: "table",
      place: "layout.indexes.gsi",
      says: ['"G1"', "Name two"],
    },
    "an attribute without a name": {
      model: inLayout({ indexes: { gsi: { partitionKey: "" } } }),
      rule: "table",
      place: "layout.indexes.gsi",
      says: ["0 characters", "1 to 255"],
    },
    "too many indexes": { model: inLayout({ indexes: many }), rule: "table", place: "layout.indexes", says: ["21 indexes", "20"] },
    "a type attribute that is a key": {
      model: inLayout({ typeAttribute: "SK" }, { nodes: { user: user() } }),
      rule: "table",
      place: "layout.typeAttribute",
      says: ['"SK"', "name another"],
    },
    "a layout of an unknown node": {
      model: inLayout({ nodes: { usr: {} } }),
      rule: "layout",
      place: "layout.nodes",
      says: ['"usr"', 'Did you mean "user"?'],
    },
    "a layout of an unknown edge": {
      model: inLayout({ edges: { join: {} } }, joined),
      rule: "layout",
      place: "layout.edges",
      says: ['Did you mean "joins"?'],
    },
    "a layout of a part where there are none": {
      model: inLayout({ parts: { item: {} } }),
      rule: "layout",
      place: "layout.parts",
      says: ['"item"', "leave it out"],
    },
    "a mirror of an edge stored once": {
      model: inLayout({ edges: { joins: { mirror: {} } } }, joined),
      rule: "layout",
      place: "layout.edges.joins.mirror",
      says: ["stored once", '"twice"'],
    },
    "a stored name of an unknown attribute": {
      model: inLayout({ nodes: { user: { attributes: { nme: "Name" } } } }),
      rule: "attribute",
      place: "layout.nodes.user.attributes",
      says: ['Did you mean "name"?'],
    },
    "a delimiter of an attribute that is not computed": {
      model: inLayout({ nodes: { user: { delimiters: { G1: "|" } } } }),
      rule: "layout",
      place: "layout.nodes.user.delimiters",
      says: ['"G1"', "Known: PK, SK."],
    },
    "a sparse table key": {
      model: inLayout({ indexes: reverse, nodes: { user: { keys: { G1: "{id}", G2: "{id}" }, sparse: ["SK"] } } }),
      rule: "layout",
      place: "layout.nodes.user.sparse",
      says: ['"SK"', "G1, G2"],
    },
  });

  test("partition and sort key are one attribute", () => {
    expect(checkModel({ ...model({ nodes: { user: user() } }), layout: { partitionKey: "PK", sortKey: "PK" } })[0]).toMatchObject({
      rule: "table",
      place: "layout",
    });
  });
});
