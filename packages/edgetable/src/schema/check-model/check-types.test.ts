import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checkModel } from "../check-model.ts";
import { type GraphDefinition, edge, node } from "../definition.ts";
import { average, count, distinct, max, sum } from "../derived.ts";
import { withVerbatim } from "../verbatim.ts";
import { cases, inLayout, item, joined, link, type Loose, model, reverse, team, text, user } from "./cases.test-support.ts";

const schema = z.object({
  id: text,
  name: text,
  points: z.number(),
  big: z.bigint().optional(),
  open: z.boolean(),
  at: z.date(),
  address: z.object({ city: text }),
  tags: z.set(text),
  list: z.array(text).optional(),
  either: z.union([text, z.number()]),
});
const rich = (more: Loose = {}): never => user({ schema, dates: ["at"], ...more });
const indexed = (by: unknown, more: Loose = {}): GraphDefinition =>
  model({ nodes: { user: rich(more), team: team() }, indexes: { byValue: { entries: { user: by } } } });
const says = (definition: GraphDefinition): readonly string[] => checkModel(definition).map(({ place, message }) => `${place}: ${message}`);

describe("formats of keys", () => {
  cases({
    "a number in a key without a format": {
      model: model({ nodes: { user: user({ key: "USER#{n}", schema: z.object({ n: z.int().optional(), name: text }) }) } }),
      rule: "attribute",
      place: "nodes.user.n",
      says: ['"USER#{n}"', "the schema says number", "{n:number}", "{n:8}"],
    },
    "a union of both types of numbers without a format": {
      model: model({ nodes: { user: user({ key: "USER#{n}", schema: z.object({ n: z.union([z.number(), z.bigint()]), name: text }) }) } }),
      rule: "attribute",
      place: "nodes.user.n",
      says: ["the schema says union", "{n:number}"],
    },
    "an enumeration of numbers that verbatim repeats": {
      model: withVerbatim(
        inLayout(
          { indexes: reverse, nodes: { user: { keys: { G1: "{n:number}", G2: "{id}" }, verbatim: ["n"] } } },
          { nodes: { user: user({ schema: z.object({ id: text, n: z.literal([1, 2]).optional() }) }) } },
        ),
      ),
      rule: "attribute",
      place: "nodes.user.n",
      says: ["takes numbers alone", "Declare it as a number or as a bigint"],
    },
    "a number of an object that takes other attributes, which verbatim repeats": {
      model: withVerbatim(
        inLayout(
          { indexes: reverse, nodes: { user: { keys: { G1: "{n:number}", G2: "{id}" }, verbatim: ["n"] } } },
          { nodes: { user: user({ schema: z.looseObject({ id: text, n: z.number() }) }) } },
        ),
      ),
      rule: "attribute",
      place: "nodes.user.n",
      says: ["takes numbers alone", "that takes no other attributes"],
    },
    "a number of an object that takes other attributes, in an index": {
      model: model({
        nodes: { user: user({ schema: z.looseObject({ id: text, n: z.number() }) }) },
        indexes: { byNumber: { entries: { user: "n" } } },
      }),
      rule: "attribute",
      place: "nodes.user.n",
      says: ["takes texts, and its values are numbers.", "{n:number}"],
    },
    "a boolean in a part's key without a format": {
      model: model({ parts: { item: item({ key: "ITEM#{done}", schema: z.object({ done: z.boolean() }) }) } }),
      rule: "attribute",
      place: "parts.item.done",
      says: ["the schema says boolean", "Write {done:boolean}."],
    },
    "a date in an index key without a format": {
      model: inLayout(
        { indexes: reverse, nodes: { user: { keys: { G1: "{at}", G2: "{id}" } } } },
        { nodes: { user: user({ schema: z.object({ id: text, at: z.date() }), dates: ["at"] }) } },
      ),
      rule: "attribute",
      place: "nodes.user.at",
      says: ["the schema says date", "{at:date}"],
    },
    "a format of numbers for a text": {
      model: indexed("name:number"),
      rule: "attribute",
      place: "nodes.user.name",
      says: ["{name:number}", "takes numbers, and the schema says string. Write {name}."],
    },
    "a list in an index": {
      model: indexed("list"),
      rule: "attribute",
      place: "nodes.user.list",
      says: ["is of type array", "another attribute"],
    },
    "a time of another form": {
      model: indexed("created", { timestamps: { as: "seconds" } }),
      rule: "attribute",
      place: "nodes.user.created",
      says: ["its values are of type number", "{created:number}"],
    },
  });
  test("what fits has no findings", () => {
    for (const by of ["name", "points:number", "points:8", "big:number", "open:boolean", "at:date", "either", "either:number"])
      expect([by, says(indexed(by))]).toEqual([by, []]);
    expect(says(indexed("created", { timestamps: true }))).toEqual([]);
  });
  test.each(["address", "tags", "list"])("%s has no place in a key", (by) => {
    expect(says(indexed(by))).toEqual([expect.stringMatching(/^nodes\.user\..* keys hold texts, numbers, booleans and dates/)]);
  });

  const joins = (derived: Loose, edges: Loose = {}): Loose => ({
    nodes: { user: rich(), team: team({ derived }) },
    edges: {
      joins: link({
        schema: z.object({ role: text, points: z.number(), at: z.date() }),
        dates: ["at"],
        onDelete: { from: "cascade", to: "cascade" },
        ...edges,
      }),
    },
  });
  test.each([
    ["a count", count({ in: "joins" }), "number"],
    ["a sum", sum({ in: "joins", of: "points" }), "number"],
    ["an average", average({ in: "joins", of: "points" }), "number"],
    ["a number of different values", distinct({ in: "joins", of: "role", freshness: "stream" }), "number"],
    ["the greatest number", max({ in: "joins", of: "points", freshness: "stream" }), "number"],
    ["the last date", max({ in: "joins", of: "at", freshness: "stream" }), "date"],
  ])("%s needs its format in an index", (_, fact, format) => {
    const by = (level: string): GraphDefinition =>
      model({ ...joins({ made: fact }), indexes: { byValue: { entries: { team: { by: level, sparse: true } } } } });
    expect(says(by("made"))).toEqual([expect.stringMatching(`nodes.team.made: .* Write \\{made:${format}\\}`)]);
    expect(says(by(`made:${format}`))).toEqual([]);
  });
  test.each([
    ["points", "number"],
    ["open", "boolean"],
    ["at", "date"],
  ])("a copy of %s needs its format, as an order and in an index", (of, format) => {
    const copied = { schema: z.object({ role: text }), dates: [], copies: { from: { copy: of } } };
    const ordered = (orderBy: string): GraphDefinition => model(joins({}, { ...copied, orderBy }));
    expect(says(ordered("copy"))).toEqual([expect.stringMatching(`edges.joins.copy: .* Write \\{copy:${format}\\}`)]);
    expect(says(ordered(`copy:${format}`))).toEqual([]);
    const found = (by: string): GraphDefinition => model({ ...joins({}, copied), indexes: { byValue: { entries: { joins: by } } } });
    expect(says(found("copy"))).toHaveLength(1);
    expect(says(found(`copy:${format}`))).toEqual([]);
  });
});

describe("settings that are for values of a type", () => {
  const days = (day: never): GraphDefinition => ({ table: "Days", nodes: { day } });
  cases({
    "a unique object": {
      model: model({ nodes: { user: rich({ unique: ["address"] }), team: team() } }),
      rule: "attribute",
      place: "nodes.user.unique",
      says: ['"address" is of type object', "another attribute"],
    },
    "a Date that is not among the dates": {
      model: model({ nodes: { user: rich({ dates: [] }), team: team() } }),
      rule: "attribute",
      place: "nodes.user.schema",
      says: ['"at" is a Date', 'dates: ["at"]'],
    },
    "a Date of an edge": {
      model: model({ edges: { joins: link({ schema: z.object({ at: z.date().optional() }) }) } }),
      rule: "attribute",
      place: "edges.joins.schema",
      says: ['dates: ["at"]'],
    },
    "a text among the dates": {
      model: model({ nodes: { user: user({ dates: ["name"] }), team: team() } }),
      rule: "attribute",
      place: "nodes.user.dates",
      says: ['"name" is not a Date: the schema says string'],
    },
  });
  test("a Date that is read from a key is not stored beside it", () => {
    expect(says(days(node({ key: "DAY#{at:date}", schema: z.object({ at: z.date() }) }) as never))).toEqual([]);
  });
  test("a Date by the other schema libraries", () => {
    expect(says(days(node({ key: "DAY#{id}", schema: v.object({ id: v.string(), at: v.date() }) }) as never))).toHaveLength(1);
    expect(says(days(node({ key: "DAY#{id}", schema: type({ id: "string", at: "Date" }) }) as never))).toHaveLength(1);
  });
  test("edges that lead to what has no schema are not judged", () => {
    expect(checkModel(model({ edges: { knows: edge({ from: "user", to: "team" }) } }))).toEqual([]);
    expect(checkModel(model(joined))).toEqual([]);
  });
});
