import { defineGraph, edge, node, part, type Graph, type Layout, type ValueIndex } from "edgetable";
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

// A young model has no index by due, and none of notes.
const indexes = (shards: Counts, young: boolean): Readonly<Record<string, ValueIndex<Record<string, never>>>> =>
  ({
    byValue: {
      entries: {
        person: "name",
        place: ["country", "region", "city"],
        bornIn: ["country", "region", "city"],
        hasSkill: { by: ["skill", "level:number"], split: 1 },
        ...(young ? {} : { note: "topic" }),
      },
      shards,
    },
    ...(young
      ? {}
      : { byDue: { entries: { task: { by: "due:number", sparse: true, shards: { count: 1, per: "status", hot: { open: shards } } } } } }),
  }) as never;

/**
 * The same in a layout of another hand: another delimiter, no type attribute, one partition attribute for
 * all, and sort keys that many items share.
 */
const adopted = (shards: Counts, young: boolean): Layout => {
  const spread = `shard(${shards.join("|")})`;
  const ofPerson = `P{from.personId:${spread}}`;
  return {
    partitionKey: "PK",
    sortKey: "SK",
    delimiter: "|",
    shards: { hot: { count: 1, per: "status", hot: { open: shards } } },
    indexes: {
      byValue: { partitionKey: "GP", sortKey: "Data" },
      ...(young ? {} : { byDue: { partitionKey: "DP", sortKey: "Due" } }),
    },
    nodes: {
      person: { keys: { SK: "PERSON", GP: `P{personId:${spread}}`, Data: "N|{name}" } },
      place: { keys: { SK: "PLACE", GP: "0", Data: "L|{country}|{region}|{city}" } },
      task: {
        keys: { SK: "TASK", ...(young ? {} : { DP: "{taskId:shard(hot)}", Due: "{due:number}" }) },
        ...(young ? {} : { sparse: ["DP", "Due"] }),
        attributes: { status: "State" },
      },
    },
    edges: {
      bornIn: { keys: { SK: "BORN|{to}", GP: ofPerson, Data: "L|{country}|{region}|{city}" } },
      hasSkill: { keys: { SK: "SKILL|{to}", GP: ofPerson, Data: "S|{skill}|{level:number}" } },
    },
    parts: { note: { keys: { SK: "NOTE|{n:3}", ...(young ? {} : { GP: `P{personId:${spread}}`, Data: "T|{topic}" }) } } },
  };
};

export interface FindModel {
  readonly counts: Counts;
  /** Edgetable's own layout, or the adopted one. */
  readonly own: boolean;
  /** Whether it is the model of before its newest indexes. */
  readonly young?: boolean;
}

/** The graph of the oracle of searches, with so many shards. */
export const findable = (table: string, { counts, own, young = false }: FindModel): Findable =>
  defineGraph({ table, nodes, edges, parts, ...(own ? { indexes: indexes(counts, young) as never } : { layout: adopted(counts, young) }) });
