import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checkModel } from "../check-model.ts";
import { type GraphDefinition, node } from "../definition.ts";
import { cases, inLayout, joined, type Loose, model, reverse, team, text, user } from "./cases.test-support.ts";

describe("indexes by value", () => {
  const indexed = (entries: Loose, more: Loose = {}, rest: Loose = joined): GraphDefinition =>
    model({ ...rest, indexes: { byValue: { entries, ...more } } });
  test("what can be declared has no findings", () => {
    const entries = {
      user: "name",
      team: { by: ["owner"], split: 1, sparse: true, shards: { count: [4, 2], per: "owner", hot: { ann: [16, 4] } } },
      joins: { by: ["role", "at"], shards: { count: 8, by: "to.teamId" } },
    };
    expect(checkModel(indexed(entries, { shards: [32, 8, 4] }))).toEqual([]);
  });
  cases({
    "a name that is no definition": {
      model: indexed({ usr: "name" }),
      rule: "setting",
      place: "indexes.byValue.entries",
      says: ['"usr"', 'Did you mean "user"'],
    },
    "an attribute that is not there": {
      model: indexed({ user: ["nam"] }),
      rule: "attribute",
      place: "indexes.byValue.entries.user.by",
      says: ['"nam"', 'Did you mean "name"'],
    },
    "a projection of what none of its kinds has": {
      model: indexed({ user: "name", team: "owner" }, { projection: ["name", "ownr"] }),
      rule: "attribute",
      place: "indexes.byValue.projection",
      says: ['"ownr"', 'Did you mean "owner"'],
    },
    "no attribute at all": { model: indexed({ user: [] }), rule: "setting", place: "indexes.byValue.entries.user.by", says: ["empty"] },
    "a split beyond the levels": {
      model: indexed({ user: { by: "name", split: 2 } }),
      rule: "setting",
      place: "indexes.byValue.entries.user.split",
      says: ["2", "0 to 1"],
    },
    "no shards": {
      model: indexed({ user: { by: "name", shards: { count: 4, per: "name", hot: { ann: 0 } } } }),
      rule: "setting",
      place: "indexes.byValue.entries.user.shards.hot.ann",
      says: ["0", "1 to 65536"],
    },
    "counts that are no multiples": {
      model: indexed({ user: "name" }, { shards: [12, 8] }),
      rule: "setting",
      place: "indexes.byValue.entries.user.shards",
      says: ["12", "8", "Take 16"],
    },
    "a shard from what may change": {
      model: indexed({ user: { by: "name", shards: { count: 4, by: "name" } } }),
      rule: "attribute",
      place: "indexes.byValue.entries.user.shards.by",
      says: ['"name"', "never changes"],
    },
    "counts by an attribute that is not there": {
      model: indexed({ user: { by: "name", shards: { count: 4, per: "state" } } }),
      rule: "attribute",
      place: "indexes.byValue.entries.user.shards.per",
      says: ['"state"'],
    },
    "counts by values of nothing": {
      model: indexed({ user: { by: "name", shards: { count: 4, hot: { a: 8 } } } }),
      rule: "setting",
      place: "indexes.byValue.entries.user.shards.hot",
      says: ["per"],
    },
    "an index that Edgetable has": {
      model: model({ indexes: { reverse: { entries: { user: "name" } } } }),
      rule: "reservedName",
      place: "indexes.reverse",
      says: ['"reverse"'],
    },
    "an attribute under the index's name": {
      model: model({
        nodes: { user: node({ key: "U#{id}", schema: z.object({ id: text, byNamePk: text }) }) },
        indexes: { byName: { entries: { user: "byNamePk" } } },
      }),
      rule: "storedName",
      place: "nodes.user.byNamePk",
      says: ['"byNamePk"', "computed attribute"],
    },
    "a node without an item": {
      model: model({ nodes: { user: user({ stored: false }), team: team() }, indexes: { byName: { entries: { user: "name" } } } }),
      rule: "setting",
      place: "indexes.byName.entries.user",
      says: ["stored: false"],
    },
    "more indexes than a table has": {
      model: model({ indexes: Object.fromEntries(Array.from({ length: 19 }, (_, at) => [`index${at}`, { entries: { user: "name" } }])) }),
      rule: "table",
      place: "indexes",
      says: ["21", "20"],
    },
    "beside a layout of one's own": {
      model: {
        ...inLayout({ indexes: reverse, nodes: { user: { keys: { SK: "A" } }, team: { keys: { SK: "A" } } } }),
        indexes: { byName: { entries: { user: "name" } } },
      },
      rule: "layout",
      place: "indexes",
      says: ["own layout"],
    },
    "a sharding of a layout": {
      model: inLayout({ shards: { hot: { count: 0 } }, nodes: { user: { keys: { SK: "A" } }, team: { keys: { SK: "A" } } } }),
      rule: "setting",
      place: "layout.shards.hot",
      says: ["0"],
    },
  });
});
