import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";

const text = z.string();
const place = { country: text, region: text, city: text };

/** One value may hold any character: nothing else stands in the attribute. */
const whole = { Data: "\u0001" };

// A person's items share a shard, taken from the id, which never changes (the figure hashes the name,
// which does). "P" keeps persons out of the shard of dates, places and skills, which is "0".
const ofPerson = (typeTarget: string, data: string): { readonly keys: Readonly<Record<string, string>> } => ({
  keys: { TypeTarget: typeTarget, Data: data, GSIPK: "P{from.personId:shard(3)}" },
});

/** One of the two published forms of the second index. */
interface Form {
  readonly table: string;
  readonly GSI2: { readonly partitionKey: string; readonly sortKey: string };
  /** What a person's own item takes its shard from: the figure's name, where that never changes. */
  readonly shardBy: "personId" | "name";
}

const peopleIn = ({ table, GSI2, shardBy }: Form) =>
  defineGraph({
    table,
    nodes: {
      person: node({
        key: "{personId}",
        schema: z.object({ personId: text, name: text }),
        ...(shardBy === "name" ? { immutable: ["name"] as const } : {}),
        expect: { bytes: 60 },
      }),
      date: node({ key: "{dateId}", schema: z.object({ dateId: text, date: z.iso.date() }), expect: { bytes: 60 } }),
      place: node({ key: "{placeId}", schema: z.object({ placeId: text, ...place }), expect: { bytes: 60, count: 2 } }),
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
        GSI2,
      },
      nodes: {
        person: { keys: { TypeTarget: "PERSON|{key}", Data: "{name}", GSIPK: `P{${shardBy}:shard(3)}` }, delimiters: whole },
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

/**
 * A materialized graph, as the AWS developer guide draws it: every item has a type and target, one
 * overloaded `Data` to search by, and a shard that both indexes are partitioned by. So nodes of a type can be
 * listed, and whoever is next to a node is looked for in every shard.
 */
export const people = peopleIn({ table: "People", GSI2: { partitionKey: "GSIPK", sortKey: "TypeTarget" }, shardBy: "personId" });

/**
 * The same, as the guide's newer text has it: the second index is partitioned by type and target, so that whoever is
 * next to a node is one Query away, and a popular node one hot partition. Here a person's own item is in the shard of the
 * name, as the figure has it; the name must then never change.
 */
export const peopleByTarget = peopleIn({
  table: "PeopleByTarget",
  GSI2: { partitionKey: "TypeTarget", sortKey: "Data" },
  shardBy: "name",
});

export type PeopleDb = ReturnType<typeof people.connect>;
