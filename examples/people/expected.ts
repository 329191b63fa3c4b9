import type { ExpectedOf } from "../system.ts";
import type { patterns } from "./patterns.ts";

const john = { personId: "1" };
const jane = { personId: "5" };
const austin = { country: "USA", region: "Texas", city: "Austin" };

const friend = { from: john, to: jane, name: "Jane Smith" };
const bornOn = { from: john, to: { dateId: "2" }, date: "1980-12-19" };
const bornIn = { from: john, to: { placeId: "4" }, ...austin };
const senior = { from: john, to: { skillId: "6" }, skill: "Java Developer", level: "Senior" };
const advanced = { from: jane, to: { skillId: "7" }, skill: "Guitar", level: "Advanced" };

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
};
