import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checkModel } from "../check-model.ts";
import { edge } from "../definition.ts";
import { cases, inLayout, type Loose, model, text, user, withEdge } from "./cases.test-support.ts";

const withUser = (more: Loose) => model({ nodes: { user: user(more) } });
const retyping = (more: Loose = {}) => ({ from: text, with: Number, back: String, ...more });

describe("renamed and retyped attributes", () => {
  cases({
    "an unknown attribute": {
      model: withUser({ renamed: { nme: "title" } }),
      rule: "attribute",
      place: "nodes.user.renamed",
      says: ['"nme"', 'Did you mean "name"?'],
    },
    "no other name": {
      model: withUser({ renamed: { name: "name" } }),
      rule: "setting",
      place: "nodes.user.renamed.name",
      says: ["the former name"],
    },
    "a name that is in use": {
      model: withEdge({ renamed: { role: "at" } }),
      rule: "storedName",
      place: "edges.joins.at",
      says: ['"at"', "Rename the attribute"],
    },
    "a name that is in use, where it is only read": {
      model: withEdge({ renamed: { role: { from: "at", stored: "new" } } }),
      rule: "storedName",
      place: "edges.joins.role",
      says: ['"at"', "another name"],
    },
    "a unique attribute": {
      model: withUser({ unique: ["name"], renamed: { name: "title" } }),
      rule: "setting",
      place: "nodes.user.renamed.name",
      says: ["marker"],
    },
    "an attribute of the key": {
      model: withUser({ renamed: { id: "userId" } }),
      rule: "setting",
      place: "nodes.user.id",
      says: ["part of the key"],
    },
    "no way back": {
      model: withUser({ retyped: { name: { from: text, with: Number } } }),
      rule: "setting",
      place: "nodes.user.retyped.name",
      says: ["`back`", 'stored: "new"'],
    },
    "no schema": {
      model: withUser({ retyped: { name: { from: "text", with: Number, back: String } } }),
      rule: "setting",
      place: "nodes.user.retyped.name",
      says: ["from"],
    },
    "two forms at once": {
      model: withUser({ renamed: { name: { from: "title", stored: "new" } }, retyped: { name: retyping() } }),
      rule: "setting",
      place: "nodes.user.renamed.name",
      says: ["`stored`", "the same"],
    },
    "another word": {
      model: withUser({ retyped: { name: retyping({ stored: "both" }) } }),
      rule: "setting",
      place: "nodes.user.retyped.name",
      says: ['"old" or "new"'],
    },
    "a layout": {
      model: inLayout({}, { nodes: { user: user({ renamed: { name: "title" } }) } }),
      rule: "setting",
      place: "nodes.user.renamed.name",
      says: ["attributes: { name"],
    },
    "an expiry": {
      model: withUser({ schema: z.object({ id: text, name: text, until: z.int() }), ttl: "until", renamed: { until: "end" } }),
      rule: "setting",
      place: "nodes.user.renamed.until",
      says: ["removes items"],
    },
  });

  test("a reference, which is part of its source", () => {
    const owns = edge({ from: "team", to: "user", stored: "reference", by: { id: "owner" }, renamed: { x: "y" } } as never);
    expect(checkModel(model({ edges: { owns } })).map(({ place }) => place)).toContain("edges.owns.renamed.x");
  });

  test("fits", () => {
    expect(checkModel(withUser({ renamed: { name: "title" }, retyped: { name: retyping() } }))).toEqual([]);
    expect(checkModel(withUser({ retyped: { name: { from: z.int(), with: String, stored: "new" } } }))).toEqual([]);
  });
});
