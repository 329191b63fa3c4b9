import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checkModel } from "../check-model.ts";
import { cases, inLayout, item, joined, link, model, reverse, text, user, withEdge } from "./cases.test-support.ts";

describe("templates", () => {
  cases({
    "an unknown attribute in a node's key": {
      model: model({ nodes: { user: user({ key: "USER#{idd}" }) } }),
      rule: "attribute",
      place: "nodes.user.key",
      says: ["{idd}", '"user"', 'Did you mean "id"?'],
    },
    "an unknown attribute beside a key, where no layout's words stand": {
      model: inLayout({ nodes: { user: { keys: { Key: "{keys}" }, verbatim: { Key: "keys" } } } }),
      rule: "attribute",
      place: "layout.nodes.user.verbatim.Key",
      says: ['{keys} is not an attribute of "user". Known: '],
    },
    "an unknown attribute in a node's key, where no layout's words stand": {
      model: model({ nodes: { user: user({ key: "USER#{number}" }) } }),
      rule: "attribute",
      place: "nodes.user.key",
      says: ['{number} is not an attribute of "user". Known: id, name.'],
    },
    "an unknown attribute in a part's key": {
      model: model({ parts: { item: item({ key: "ITEM#{m}" }) } }),
      rule: "attribute",
      place: "parts.item.key",
      says: ["{m}", 'Did you mean "n"?'],
    },
    "an unknown attribute in a node's layout": {
      model: inLayout({ indexes: reverse, nodes: { user: { keys: { G1: "N#{nmae}", G2: "{id}" } } } }),
      rule: "attribute",
      place: "layout.nodes.user.keys.G1",
      says: ["{nmae}", 'Did you mean "name"?'],
    },
    "an unknown id field of an edge's end": {
      model: inLayout({ edges: { joins: { keys: { SK: "{to}#{to.teemId}#{at}" } } } }, joined),
      rule: "attribute",
      place: "layout.edges.joins.keys.SK",
      says: ["{to.teemId}", "id of to", 'Did you mean "teamId"?'],
    },
    "a misspelt macro": {
      model: inLayout({ nodes: { user: { keys: { SK: "{kez}" } } } }),
      rule: "attribute",
      place: "layout.nodes.user.keys.SK",
      says: ["{kez}", 'Did you mean "key"?'],
    },
    "an edge without schema has no attributes": {
      model: inLayout({ edges: { joins: { keys: { SK: "{to}#{role}" } } } }, { edges: { joins: link({ schema: undefined }) } }),
      rule: "attribute",
      place: "layout.edges.joins.keys.SK",
      says: ["{role}"],
    },
    "a part's layout knows its node's id": {
      model: inLayout({ parts: { item: { keys: { SK: "ITEM#{n:4}#{teamId}#{m}" } } } }, { parts: { item: item() } }),
      rule: "attribute",
      place: "layout.parts.item.keys.SK",
      says: ["{m}"],
    },
    "an edge's mirror": {
      model: inLayout({ edges: { joins: { mirror: { keys: { SK: "{from}#{rol}" } } } } }, { edges: { joins: link({ stored: "twice" }) } }),
      rule: "attribute",
      place: "layout.edges.joins.mirror.keys.SK",
      says: ['Did you mean "role"?'],
    },
    "a brace that is never closed": {
      model: model({ nodes: { user: user({ key: "USER#{id" }) } }),
      rule: "template",
      place: "nodes.user.key",
      says: ['"USER#{id"', "never closed"],
    },
    "an unknown format": {
      model: withEdge({ orderBy: "at:nmber" }),
      rule: "template",
      place: "edges.joins.orderBy",
      says: ["nmber", 'Did you mean "number"?'],
    },
    "a delimiter that is none": {
      model: inLayout({ delimiter: "##" }, { nodes: { user: user() } }),
      rule: "template",
      place: "nodes.user.key",
      says: ['"##"', "one character"],
    },
  });

  test("schemas that do not list their attributes are not checked", () => {
    const unknown = z.object({ id: text }).transform((row) => ({ ...row, name: "x" }));
    expect(checkModel(model({ nodes: { user: user({ schema: unknown, key: "USER#{name}", unique: ["name"] }) } }))).toEqual([]);
  });
});
