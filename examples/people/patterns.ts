import { combine, definePatterns } from "edgetable";
import { people } from "./model.ts";

/**
 * What the table itself answers: the state of a node, its edges of one type, and what stands at their
 * ends. Searches by value go over all shards of an index.
 */
export const patterns = definePatterns(people, {
  personAndEverything: {
    question: "What is known of a person and of everything next to them?",
    example: { personId: "1" },
    ask: (db, id) => db.person(id).collection(),
  },
  friends: {
    question: "Who are a person's friends?",
    example: { personId: "1" },
    ask: (db, id) => db.person(id).out("friendOf").edges(),
  },
  friendsOfTheOther: {
    question: "Does the friendship stand on the other side too?",
    example: { personId: "5" },
    ask: (db, id) => db.person(id).out("friendOf").ids(),
  },
  friendsInFull: {
    question: "What is known of a person's friends?",
    example: { personId: "1" },
    ask: (db, id) => db.person(id).out("friendOf").nodes(),
  },
  birth: {
    question: "When and where was a person born?",
    example: { personId: "1" },
    ask: (db, id) => combine({ on: db.person(id).out("bornOn").edges(), in: db.person(id).out("bornIn").edges() }, (born) => born),
  },
  skills: {
    question: "What can a person do, and how well?",
    example: { personId: "5" },
    ask: (db, id) => db.person(id).out("hasSkill").entries(),
  },
  areFriends: {
    question: "Are two persons friends?",
    example: { personId: "1", friendId: "5" },
    ask: (db, { personId, friendId }) => db.person({ personId }).has("friendOf", { personId: friendId }),
  },
  place: {
    question: "Which place is this?",
    example: { placeId: "4" },
    ask: (db, id) => db.place.get(id),
  },
});
