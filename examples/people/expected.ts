import type { ExpectedOf } from "../system.ts";
import type { patterns, patternsByTarget } from "./patterns.ts";

const john = { personId: "1" };
const jane = { personId: "5" };
const austin = { country: "USA", region: "Texas", city: "Austin" };

const friend = { from: john, to: jane, name: "Jane Smith" };
const bornOn = { from: john, to: { dateId: "2" }, date: "1980-12-19" };
const bornIn = { from: john, to: { placeId: "4" }, ...austin };
const senior = { from: john, to: { skillId: "6" }, skill: "Java Developer", level: "Senior" };
const advanced = { from: jane, to: { skillId: "7" }, skill: "Guitar", level: "Advanced" };

const london = { placeId: "3", country: "UK", region: "England", city: "London" };
const inAustin = [
  { kind: "place", row: { placeId: "4", ...austin } },
  { kind: "bornIn", row: bornIn },
];

/** One Query in each of the three shards of persons. */
const inShards = (query: string): readonly string[] => ["P0", "P1", "P2"].map((shard) => `Query ${query.replace("*", shard)}`);

/** The figure's answers. */
export const expected: ExpectedOf<typeof patterns> = {
  personAndEverything: {
    answer: {
      node: { ...john, name: "John Doe" },
      edges: { bornOn: [bornOn], friendOf: [friend], bornIn: [bornIn], hasSkill: [senior] },
      parts: {},
    },
    requests: ["Query NodeId = '1'"],
  },
  // The figure's prefix meets the person's own item as well (PERSON|1); it is read and passed over.
  friends: {
    answer: [friend],
    requests: ["Query NodeId = '1' AND begins_with(TypeTarget, 'PERSON|')"],
  },
  friendsOfTheOther: {
    answer: [john],
    requests: ["Query NodeId = '5' AND begins_with(TypeTarget, 'PERSON|')"],
  },
  friendsInFull: {
    answer: [{ ...jane, name: "Jane Smith" }],
    requests: ["Query NodeId = '1' AND begins_with(TypeTarget, 'PERSON|')", "BatchGetItem ('5', 'PERSON|5')"],
  },
  birth: {
    answer: { on: [bornOn], in: [bornIn] },
    requests: ["Query NodeId = '1' AND begins_with(TypeTarget, 'DATE|')", "Query NodeId = '1' AND begins_with(TypeTarget, 'PLACE|')"],
  },
  skills: {
    answer: [{ edge: advanced, node: { skillId: "7", skill: "Guitar" } }],
    requests: ["Query NodeId = '5' AND begins_with(TypeTarget, 'SKILL|')", "BatchGetItem ('7', 'SKILL|7')"],
  },
  areFriends: {
    answer: true,
    requests: ["GetItem NodeId = '1', TypeTarget = 'PERSON|5|FRIEND'"],
  },
  place: {
    answer: { placeId: "4", ...austin },
    requests: ["GetItem NodeId = '4', TypeTarget = 'PLACE|4'"],
  },
  bornOnADate: {
    answer: [
      { kind: "date", row: { dateId: "2", date: "1980-12-19" } },
      { kind: "bornOn", row: { ...bornOn, from: jane } },
      { kind: "bornOn", row: bornOn },
    ],
    requests: ["Query GSI1: GSIPK = '0' AND Data = '1980-12-19'", ...inShards("GSI1: GSIPK = '*' AND Data = '1980-12-19'")],
  },
  // Of one sort key, in the order of the shards.
  bornOnTheSameDate: {
    answer: [jane, john],
    requests: inShards("GSI2: GSIPK = '*' AND TypeTarget = 'DATE|2|BIRTH'"),
  },
  bornInACountry: {
    answer: inAustin,
    requests: ["Query GSI1: GSIPK = '0' AND begins_with(Data, 'USA|')", ...inShards("GSI1: GSIPK = '*' AND begins_with(Data, 'USA|')")],
  },
  bornInARegion: {
    answer: inAustin,
    requests: [
      "Query GSI1: GSIPK = '0' AND begins_with(Data, 'USA|Texas|')",
      ...inShards("GSI1: GSIPK = '*' AND begins_with(Data, 'USA|Texas|')"),
    ],
  },
  // The published prefix "Java Developer" would meet a "Java Developer Trainee" too.
  peopleWithASkill: {
    answer: [
      { kind: "skill", row: { skillId: "6", skill: "Java Developer" } },
      { kind: "hasSkill", row: senior },
    ],
    requests: [
      "Query GSI1: GSIPK = '0' AND Data = 'Java Developer'",
      ...inShards("GSI1: GSIPK = '*' AND begins_with(Data, 'Java Developer|')"),
    ],
  },
  friendsFromTheirSide: {
    answer: [{ from: jane, to: john, name: "John Doe" }],
    requests: inShards("GSI2: GSIPK = '*' AND TypeTarget = 'PERSON|1|FRIEND'"),
  },
  places: {
    answer: [london, { placeId: "4", ...austin }],
    requests: ["Query GSI2: GSIPK = '0' AND begins_with(TypeTarget, 'PLACE|')"],
  },
  // The figure finds the shard by hashing the name that is searched for; here it follows from the id.
  personByName: {
    answer: [{ ...john, name: "John Doe" }],
    requests: inShards("GSI1: GSIPK = '*' AND Data = 'John Doe'"),
  },
};

/** The same answers, where the second index is partitioned by type and target. */
export const byTarget: ExpectedOf<typeof patternsByTarget> = {
  ...expected,
  bornOnTheSameDate: { answer: [john, jane], anyOrder: true, requests: ["Query GSI2: TypeTarget = 'DATE|2|BIRTH'"] },
  friendsFromTheirSide: { ...expected.friendsFromTheirSide, requests: ["Query GSI2: TypeTarget = 'PERSON|1|FRIEND'"] },
  // Nodes of one type lie together no longer: all reference nodes are read.
  places: { ...expected.places, requests: ["Query GSI1: GSIPK = '0'"] },
  personByName: { ...expected.personByName, requests: ["Query GSI1: GSIPK = 'P2' AND Data = 'John Doe'"] },
};
