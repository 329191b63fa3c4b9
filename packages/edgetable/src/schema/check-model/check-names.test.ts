import { describe, expect, test } from "vitest";
import { z } from "zod";
import { RESERVED_NAMES } from "../check-model.ts";
import { cases, found, item, link, model, team, text, user, withEdge } from "./cases.test-support.ts";

describe("names", () => {
  cases({
    "a name that cannot follow a dot": {
      model: withEdge({}, "joins-in"),
      rule: "name",
      place: "edges.joins-in",
      says: ['"joins-in"', "use letters"],
    },
    "a name that every object has": {
      model: withEdge({}, "toString"),
      rule: "name",
      place: "edges.toString",
      says: ["member of every object", "another name"],
    },
    "a name twice": {
      model: model({ parts: { user: item() } }),
      rule: "duplicateName",
      place: "parts.user",
      says: ['"user"', "nodes", "Rename one"],
    },
    "an edge to an unknown node": {
      model: withEdge({ to: "teem" }),
      rule: "nodeType",
      place: "edges.joins.to",
      says: ['"teem" is not a node type.', 'Did you mean "team"?'],
    },
    "an edge from nothing": { model: withEdge({ from: [] }), rule: "nodeType", place: "edges.joins.from", says: ["empty", "at least one"] },
    "an end named twice": {
      model: withEdge({ to: ["team", "team"] }),
      rule: "nodeType",
      place: "edges.joins.to",
      says: ['"team" is named twice', "once"],
    },
    "a part of an unknown node": {
      model: model({ parts: { item: item({ of: "tem" }) } }),
      rule: "nodeType",
      place: "parts.item.of",
      says: ['"tem"', 'Did you mean "team"?'],
    },
    "from as an attribute": {
      model: withEdge({ schema: z.object({ from: text }) }),
      rule: "reservedName",
      place: "edges.joins",
      says: ['"from" is an end', "Rename"],
    },
    "version beside version: true": {
      model: model({ nodes: { user: user({ version: true, schema: z.object({ id: text, version: z.int() }) }) } }),
      rule: "reservedName",
      place: "nodes.user",
      says: ['"version"', "Rename"],
    },
    "a part's key field that its node has": {
      model: model({ parts: { item: item({ key: "ITEM#{teamId}", schema: z.object({ teamId: text }) }) } }),
      rule: "reservedName",
      place: "parts.item.key",
      says: ['"teamId"', '"team"', "Rename one"],
    },
    "type as an id where an end has several types": {
      model: model({
        nodes: { user: user(), team: team({ key: "TEAM#{type}", schema: z.object({ type: text }) }) },
        edges: { joins: link({ to: ["team", "user"] }) },
      }),
      rule: "reservedName",
      place: "edges.joins.to",
      says: ['"type"', '"team"', "Rename"],
    },
  });

  test.each(RESERVED_NAMES)("%s is reserved", (name) => {
    expect(found(withEdge({}, name), "reservedName")).toMatchObject({
      place: `edges.${name}`,
      message: `"${name}" is a member of the connection (db.${name}). Choose another name.`,
    });
  });
});
