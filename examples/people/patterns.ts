import { combine, definePatterns } from "edgetable";
import { people, peopleByTarget } from "./model.ts";

/**
 * What the table itself answers: the state of a node, its edges of one type, and what stands at their
 * ends; and what the indexes find by value, or from the other end, in all shards.
 */
const patternsOf = (graph: typeof people) =>
  definePatterns(graph, {
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
    bornOnADate: {
      question: "What is known of a date, and who was born on it?",
      example: { date: "1980-12-19" },
      ask: (db, where) => db.find(["date", "bornOn"]).where(where).rows(),
    },
    bornOnTheSameDate: {
      question: "Who was born on this very date?",
      example: { dateId: "2" },
      ask: (db, id) => db.date(id).in("bornOn").ids(),
    },
    bornInACountry: {
      question: "Which places of a country are known, and who was born there?",
      example: { country: "USA" },
      ask: (db, where) => db.find(["place", "bornIn"]).where(where).rows(),
    },
    bornInARegion: {
      question: "And of a region?",
      example: { country: "USA", region: "Texas" },
      ask: (db, where) => db.find(["place", "bornIn"]).where(where).rows(),
    },
    peopleWithASkill: {
      question: "Which skill is this, and who has it, on whatever level?",
      example: { skill: "Java Developer" },
      ask: (db, where) => db.find(["skill", "hasSkill"]).where(where).rows(),
    },
    friendsFromTheirSide: {
      question: "Who calls a person a friend?",
      example: { personId: "1" },
      ask: (db, { personId }) => db.find("friendOf").where({ to: { personId } }).using("GSI2").rows(),
    },
    places: {
      question: "Which places are known?",
      example: {},
      ask: (db) => db.find("place").rows(),
    },
    personByName: {
      question: "Who is called so?",
      example: { name: "John Doe" },
      ask: (db, where) => db.find("person").where(where).rows(),
    },
  });

export const patterns = patternsOf(people);
export const patternsByTarget = patternsOf(peopleByTarget);
