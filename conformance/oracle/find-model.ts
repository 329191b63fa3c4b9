import { defineGraph, edge, node, part, type Graph, type ValueIndex } from "edgetable";
import { z } from "zod";

const text = z.string();
const place = { country: text, region: text, city: text };

const nodes = {
  person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, name: text, age: z.number().optional() }) }),
  place: node({ key: "PLACE#{placeId}", schema: z.object({ placeId: text, ...place }) }),
  task: node({ key: "TASK#{taskId}", schema: z.object({ taskId: text, due: z.number().optional(), status: text.optional() }) }),
};
const edges = {
  bornIn: edge({ from: "person", to: "place", schema: z.object(place), ends: "unchecked" }),
  hasSkill: edge({ from: "person", to: ["place", "task"], schema: z.object({ skill: text, level: z.number() }), ends: "unchecked" }),
};
const parts = { note: part({ of: "person", key: "NOTE#{n:3}", schema: z.object({ n: z.int(), topic: text }) }) };

export type Findable = Graph<typeof nodes, typeof edges, typeof parts>;

/** How many shards there are: the first is the writers', the others are those of before. */
export type Counts = readonly number[];

const indexes = (shards: Counts): Readonly<Record<string, ValueIndex<Record<string, never>>>> =>
  ({
    byValue: {
      entries: {
        person: "name",
        place: ["country", "region", "city"],
        bornIn: ["country", "region", "city"],
        hasSkill: { by: ["skill", "level:number"], split: 1 },
        note: "topic",
      },
      shards,
    },
    byDue: { entries: { task: { by: "due:number", sparse: true, shards: { count: 1, per: "status", hot: { open: shards } } } } },
  }) as never;

/** The graph of the oracle of searches, with so many shards. */
export const findable = (table: string, shards: Counts): Findable =>
  defineGraph({ table, nodes, edges, parts, indexes: indexes(shards) as never });
