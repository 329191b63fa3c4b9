import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checkModel } from "../check-model.ts";
import { type AnyEdge, type AnyNode, type GraphDefinition, edge, node, part } from "../definition.ts";
import { count, max, sum } from "../derived.ts";
import { cases, item, type Loose, model, team, user, withEdge } from "./cases.test-support.ts";

describe("settings", () => {
  const reference = (more: Loose = {}): GraphDefinition =>
    model({ edges: { owns: edge({ from: "team", to: "user", stored: "reference", by: { id: "owner" }, ...more } as never) as never } });
  cases({
    unique: {
      model: model({ nodes: { user: user({ unique: ["nme"] }) } }),
      rule: "attribute",
      place: "nodes.user.unique",
      says: ['"nme"', 'Did you mean "name"?'],
    },
    immutable: {
      model: model({ nodes: { user: user({ immutable: ["nme"] }) } }),
      rule: "attribute",
      place: "nodes.user.immutable",
      says: ['"nme"'],
    },
    ttl: {
      model: model({ nodes: { user: user({ ttl: "until" }) } }),
      rule: "attribute",
      place: "nodes.user.ttl",
      says: ['"until"', "Known: id, name."],
    },
    dates: { model: model({ parts: { item: item({ dates: ["born"] }) } }), rule: "attribute", place: "parts.item.dates", says: ['"born"'] },
    "an edge's key": {
      model: withEdge({ key: ["roll"] }),
      rule: "attribute",
      place: "edges.joins.key",
      says: ['"roll"', 'Did you mean "role"?'],
    },
    orderBy: {
      model: withEdge({ orderBy: "att" }),
      rule: "attribute",
      place: "edges.joins.orderBy",
      says: ['"att"', 'Did you mean "at"?'],
    },
    sides: {
      model: withEdge({ stored: "twice", sides: { from: ["role", "at", "a"], to: [] } }),
      rule: "attribute",
      place: "edges.joins.sides.from",
      says: ['"a"'],
    },
    "sides that leave an attribute out": {
      model: withEdge({ stored: "twice", sides: { from: ["role"], to: ["role"] } }),
      rule: "setting",
      place: "edges.joins.sides",
      says: ['"at"', "lost", "Add it"],
    },
    "sides of an edge that is stored once": {
      model: withEdge({ sides: { from: ["role"], to: ["at"] } }),
      rule: "setting",
      place: "edges.joins.sides",
      says: ['stored: "twice"'],
    },
    "by of an edge that is no reference": {
      model: withEdge({ by: { teamId: "name" } }),
      rule: "setting",
      place: "edges.joins.by",
      says: ['"reference"', "Leave it out"],
    },
    "by of an unknown id": {
      model: reference({ by: { id: "owner", ide: "owner" } }),
      rule: "attribute",
      place: "edges.owns.by",
      says: ['"ide"', 'Did you mean "id"?'],
    },
    "a source that cannot hold the target's id": {
      model: reference({ by: undefined }),
      rule: "attribute",
      place: "edges.owns.by",
      says: ['"id" is not an attribute of "team"', '"user"'],
    },
    "an attribute that is no name": {
      model: model({ nodes: { user: user({ unique: [{ of: "name" }] as never }) } }),
      rule: "attribute",
      place: "nodes.user.unique",
      says: ['{"of":"name"} is not', "give its name"],
    },
    "a reference from a node to itself": {
      model: model({ edges: { leads: edge({ from: "user", to: "user", stored: "reference" } as never) as never } }),
      rule: "setting",
      place: "edges.leads.by",
      says: ['every "user" would refer to itself', "parentId"],
    },
    "a reference with a key": {
      model: reference({ key: [] }),
      rule: "setting",
      place: "edges.owns.key",
      says: ["key has no effect", "Leave it out"],
    },
    "a reference that is to go with its target": {
      model: reference({ onDelete: { to: "cascade" } }),
      rule: "setting",
      place: "edges.owns.onDelete.to",
      says: ['"cascade" cannot be enforced', 'Store the edge "once"'],
    },
    "a reference that is to hold its source": {
      model: reference({ onDelete: { from: "restrict" } }),
      rule: "setting",
      place: "edges.owns.onDelete.from",
      says: ['"restrict" cannot be enforced'],
    },
    "a reference that is counted at its target": {
      model: reference({ maxDegree: { to: 3 } }),
      rule: "setting",
      place: "edges.owns.maxDegree.to",
      says: ["3 cannot be enforced"],
    },
    "a reference that is its target's only one": {
      model: reference({ multiplicity: "one-to-one" }),
      rule: "setting",
      place: "edges.owns.multiplicity",
      says: ['"one-to-one" cannot be enforced'],
    },
    "a reference to many": {
      model: reference({ multiplicity: "one-to-many" }),
      rule: "setting",
      place: "edges.owns.stored",
      says: ["one target", "many-to-one"],
    },
    "a reference ordered by what its source lacks": {
      model: reference({ orderBy: "age" }),
      rule: "attribute",
      place: "edges.owns.orderBy",
      says: ['"age" is not an attribute of the source'],
    },
    "a symmetric edge between different types": {
      model: withEdge({ symmetric: true }),
      rule: "setting",
      place: "edges.joins.symmetric",
      says: ["from is user", "to is team", "Leave symmetric out"],
    },
    "a symmetric edge that has a direction": {
      model: withEdge({ to: "user", symmetric: true, multiplicity: "many-to-one" }),
      rule: "setting",
      place: "edges.joins.multiplicity",
      says: ['"many-to-one"', '"one-to-one"'],
    },
    "a symmetric edge with two limits": {
      model: withEdge({ to: "user", symmetric: true, maxDegree: { from: 2, to: 3 } }),
      rule: "setting",
      place: "edges.joins.maxDegree",
      says: ["2 and 3", "Give one"],
    },
    "a degree out of range": {
      model: withEdge({ maxDegree: { to: 0 } }),
      rule: "setting",
      place: "edges.joins.maxDegree",
      says: ["to is 0", "1 to 1000000"],
    },
    "a degree that its multiplicity contradicts": {
      model: withEdge({ maxDegree: { from: 3 }, multiplicity: "many-to-one" }),
      rule: "setting",
      place: "edges.joins.maxDegree.from",
      says: ["3 contradicts", '"many-to-one"'],
    },
    "an unknown multiplicity": {
      model: withEdge({ multiplicity: "many-to-man" }),
      rule: "setting",
      place: "edges.joins",
      says: ['no multiplicity "many-to-man"', 'Did you mean "many-to-many"?'],
    },
    "an unknown onDelete": {
      model: withEdge({ onDelete: { to: "cascad" } }),
      rule: "setting",
      place: "edges.joins.onDelete",
      says: ['Did you mean "cascade"?'],
    },
    "expected bytes beyond an item": {
      model: model({ nodes: { user: user({ expect: { bytes: 500_000 } }) } }),
      rule: "setting",
      place: "nodes.user.expect",
      says: ["bytes is 500000", "409600"],
    },
    "an expected number of nodes below one": {
      model: model({ nodes: { user: user({ expect: { count: 0 } }) } }),
      rule: "setting",
      place: "nodes.user.expect",
      says: ["count is 0", "from 1 to"],
    },
  });

  test("a mistake that shows in several kinds of item is reported once", () => {
    const until = z.object({ until: z.number().optional(), expires: z.number().optional() });
    const definition = model({
      nodes: { user: user({ schema: z.object({ id: z.string(), name: z.string(), until: z.number() }), ttl: "until" }), team: team() },
      edges: {
        joins: edge({ from: ["user", "team"], to: ["user", "team"], stored: "twice", ends: "unchecked", schema: until, ttl: "expires" }),
      },
    });
    const places = checkModel(definition).map(({ place }) => place);
    expect(places).toEqual(["edges.joins.ttl"]);
  });

  test("a reference to several types, a version and a symmetric reference are told apart from the rest", () => {
    const places = checkModel(reference({ to: ["user", "team"], version: true, symmetric: true })).map((one) => one.place);
    expect(places).toEqual(expect.arrayContaining(["edges.owns.to", "edges.owns.version", "edges.owns.stored"]));
  });
});

describe("the ttl of another kind", () => {
  const id = z.string();
  const until = z.number().optional();
  const both = { from: "cascade", to: "cascade" } as const;
  type Schema = z.ZodType;
  const withTimes = ({ schema = until, user: more, team: others, joins, note, layout }: Record<string, unknown>) =>
    model({
      nodes: {
        session: node({ key: "SESSION#{id}", schema: z.object({ id, until: z.number() }), ttl: "until" }),
        user: node({
          key: "USER#{id}",
          schema: z.object({ id, name: id, until: schema as Schema }),
          ...(more as object),
        } as never) as AnyNode,
        team: node({ key: "TEAM#{id}", schema: z.object({ id }), ...(others as object) } as never) as AnyNode,
      },
      parts: { note: part({ of: "team", key: "NOTE#{at}", schema: z.object({ at: id, ...(note as object) }) }) },
      edges: { joins: edge({ from: "user", to: "team", onDelete: both, ...(joins as object) } as never) as AnyEdge },
      ...(layout ? { layout: layout as never } : {}),
    });
  const timed = z.object({ until, since: id });
  const late = { from: { until: { of: "until", freshness: "stream" } } } as const;
  const found = (more: Record<string, unknown>) => checkModel(withTimes(more)).map(({ place, message }) => `${place}: ${message}`);

  test.each<[string, Record<string, unknown>, string]>([
    ["unique values", { user: { unique: ["name"] } }, "nodes.user.schema"],
    ["a count of the node", { user: { derived: { n: count({ out: "joins" }) } } }, "nodes.user.schema"],
    ["a count of its edges", { joins: { schema: timed }, team: { derived: { n: count({ in: "joins" }) } } }, "edges.joins.schema"],
    ["a count of its parts", { note: { until }, team: { derived: { n: count({ parts: "note" }) } } }, "parts.note.schema"],
    ["a limit", { joins: { schema: timed, maxDegree: { from: 3 } } }, "edges.joins.schema"],
    ["a restriction", { joins: { schema: timed, onDelete: { from: "restrict" } } }, "edges.joins.schema"],
    ["copies", { joins: { schema: timed, copies: { from: ["name"] } } }, "edges.joins.schema"],
    [
      "a second copy without it",
      { joins: { schema: timed, stored: "twice", sides: { from: ["until", "since"], to: ["since"] } } },
      "edges.joins.schema",
    ],
    ["a copy of it and a limit", { joins: { copies: late, maxDegree: { from: 3 } } }, "edges.joins.copies.until"],
    [
      "a copy of it, and is counted",
      { joins: { copies: late }, team: { derived: { n: count({ in: "joins" }) } } },
      "edges.joins.copies.until",
    ],
    [
      "the last of it and unique values",
      {
        schema: z.never().optional(),
        joins: { schema: timed },
        team: { schema: z.object({ id, name: id }), unique: ["name"], derived: { until: max({ in: "joins", of: "until" }) } },
      },
      "nodes.team.derived.until",
    ],
  ])("refuses a kind that it removes with %s", (_, more, place) => {
    const [message, ...others] = found(more);
    expect(message).toContain(`${place}: "until" is stored as the ttl of other kinds`);
    expect(others).toEqual([]);
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    ["a count", { team: { derived: { until: count({ parts: "note" }) } } }, "nodes.team.derived.until", "a count"],
    [
      "a sum by the stream",
      {
        joins: { schema: z.object({ paid: z.number() }) },
        team: { derived: { until: sum({ in: "joins", of: "paid", freshness: "stream" }) } },
      },
      "nodes.team.derived.until",
      "a sum",
    ],
    ["times in seconds", { joins: { timestamps: { created: "until", as: "seconds" } } }, "edges.joins.timestamps", "the time of a write"],
  ])("refuses %s under its name", (_, more, place, what) =>
    expect(found(more)).toEqual([
      `${place}: "until" is stored as the ttl of other kinds, so reads would take ${what} for the time at which the item expires. Give it another name.`,
    ]),
  );

  test.each<[string, Record<string, unknown>]>([
    ["with a copy of it that nothing counts", { joins: { copies: late } }],
    ["with its own times as text", { joins: { timestamps: { created: "until" } } }],
    ["that depends on nothing", { joins: { schema: timed, stored: "twice" }, note: { until } }],
    ["whose attribute is a text", { schema: id.optional(), user: { unique: ["name"] } }],
    ["whose attribute is a Date", { schema: z.date().optional(), user: { unique: ["name"], dates: ["until"] } }],
    ["whose counts the stream keeps", { user: { derived: { n: count({ out: "joins", freshness: "stream" }) } } }],
    [
      "that stores it under another name",
      { user: { unique: ["name"] }, layout: { partitionKey: "pk", sortKey: "sk", nodes: { user: { attributes: { until: "end" } } } } },
    ],
  ])("takes a kind %s", (_, more) => expect(found(more)).toEqual([]));
});
