import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";

const text = z.string();
const place = { country: text, region: text, city: text };

/** One value may hold any character: nothing else stands in the attribute. */
const whole = { Data: "\u0001" };

// A person's items share a shard, taken from the id, which never changes (the figure hashes the name,
// which does). "P" keeps persons out of the shard of dates, places and skills, which is "0".
const ofPerson = (typeTarget: string, data: string): { readonly keys: Readonly<Record<string, string>> } => ({
  keys: { TypeTarget: typeTarget, Data: data, GSIPK: "P{from.personId:shard(8)}" },
});

/**
 * A materialized graph, as the AWS developer guide draws it: every item has a type and target, one
 * overloaded `Data` to search by, and a shard that both indexes are partitioned by.
 */
export const people = defineGraph({
  table: "People",
  nodes: {
    person: node({ key: "{personId}", schema: z.object({ personId: text, name: text }), expect: { bytes: 60 } }),
    date: node({ key: "{dateId}", schema: z.object({ dateId: text, date: z.iso.date() }), expect: { bytes: 60 } }),
    place: node({ key: "{placeId}", schema: z.object({ placeId: text, ...place }), expect: { bytes: 60 } }),
    skill: node({ key: "{skillId}", schema: z.object({ skillId: text, skill: text }), expect: { bytes: 60 } }),
  },
  edges: {
    friendOf: edge({ from: "person", to: "person", symmetric: true, schema: z.object({ name: text }), expect: { from: 1, bytes: 60 } }),
    bornOn: edge({ from: "person", to: "date", schema: z.object({ date: z.iso.date() }), expect: { from: 1, bytes: 60 } }),
    bornIn: edge({ from: "person", to: "place", schema: z.object(place), expect: { from: 1, bytes: 60 } }),
    hasSkill: edge({ from: "person", to: "skill", schema: z.object({ skill: text, level: text }), expect: { from: 1, bytes: 60 } }),
  },
  layout: {
    partitionKey: "NodeId",
    sortKey: "TypeTarget",
    delimiter: "|",
    sharedIds: true,
    indexes: {
      GSI1: { partitionKey: "GSIPK", sortKey: "Data" },
      GSI2: { partitionKey: "GSIPK", sortKey: "TypeTarget" },
    },
    nodes: {
      person: { keys: { TypeTarget: "PERSON|{key}", Data: "{name}", GSIPK: "P{personId:shard(8)}" }, delimiters: whole },
      date: { keys: { TypeTarget: "DATE|{key}", Data: "{date}", GSIPK: "0" }, delimiters: whole },
      place: { keys: { TypeTarget: "PLACE|{key}", Data: "{country}|{region}|{city}", GSIPK: "0" } },
      skill: { keys: { TypeTarget: "SKILL|{key}", Data: "{skill}", GSIPK: "0" } },
    },
    edges: {
      friendOf: { ...ofPerson("PERSON|{to}|FRIEND", "{name}"), delimiters: whole },
      bornOn: { ...ofPerson("DATE|{to}|BIRTH", "{date}"), delimiters: whole },
      bornIn: ofPerson("PLACE|{to}|BIRTH", "{country}|{region}|{city}"),
      hasSkill: ofPerson("SKILL|{to}", "{skill}|{level}"),
    },
  },
});

export type PeopleDb = ReturnType<typeof people.connect>;
