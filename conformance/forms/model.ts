import { defineGraph, edge, node, type Graph, type Layout, type ValueIndex } from "edgetable";
import { z } from "zod";

const text = z.string();
const number = z.number();

const nodes = {
  /** A hierarchy for an id. */
  area: node({
    key: "AREA#{country}#{region}#{city}",
    schema: z.object({ country: text, region: text, city: text, size: number.optional() }),
  }),
  /** An id of a text, a number and a date. */
  stop: node({
    key: "STOP#{line}#{n:number}#{day:date}",
    schema: z.object({ line: text, n: number, day: z.date(), name: text, size: number.optional() }),
    dates: ["day"],
  }),
  /** Refers to another of its own type. */
  doc: node({
    key: "DOC#{docId}",
    schema: z.object({ docId: text, title: text, rank: number, parentId: text.optional(), size: number.optional() }),
  }),
  /** Refers to a node whose id is of several fields. */
  visit: node({
    key: "VISIT#{visitId:number}#{at:date}",
    schema: z.object({
      visitId: number,
      at: z.date(),
      line: text.optional(),
      stopN: number.optional(),
      stopDay: z.date().optional(),
      size: number.optional(),
    }),
    dates: ["at", "stopDay"],
  }),
};

const edges = {
  /** References, in order and not. */
  childOf: edge({
    from: "doc",
    to: "doc",
    stored: "reference",
    by: { docId: "parentId" },
    schema: z.object({ rank: number }),
    orderBy: "rank:number",
  }),
  stopsAt: edge({
    from: "visit",
    to: "stop",
    stored: "reference",
    by: { n: "stopN", day: "stopDay" },
    schema: z.object({ size: number.optional() }),
  }),
  /** Ordered by a date. */
  passes: edge({ from: "stop", to: "stop", schema: z.object({ at: z.date(), km: number.optional() }), orderBy: "at:date", dates: ["at"] }),
  /** Several node types at both ends, ordered by a number. */
  rates: edge({
    from: ["doc", "area"],
    to: ["doc", "stop"],
    schema: z.object({ score: number, km: number.optional() }),
    orderBy: "score:number",
    onDelete: { from: "cascade" },
  }),
  /** Symmetric, between several types, with attributes. */
  near: edge({
    from: ["stop", "area"],
    to: ["area", "stop"],
    schema: z.object({ metres: number, km: number.optional() }),
    symmetric: true,
    orderBy: "metres:number",
    onDelete: { to: "cascade" },
  }),
  /** Parallel, told apart by a text and a number. */
  serves: edge({
    from: "doc",
    to: "area",
    schema: z.object({ role: text, shift: number, since: z.date(), km: number.optional() }),
    key: ["role", "shift"],
    orderBy: "since:date",
    dates: ["since"],
  }),
  /** Unordered; keeps its target. */
  lies: edge({ from: "stop", to: "area", schema: z.object({ km: number.optional() }), onDelete: { from: "cascade", to: "restrict" } }),
  /** Stored twice, ordered. */
  copied: edge({
    from: "doc",
    to: "stop",
    schema: z.object({ level: number, km: number.optional() }),
    stored: "twice",
    orderBy: "level:number",
    onDelete: { to: "cascade" },
  }),
};

export type Forms = Graph<typeof nodes, typeof edges, Record<never, never>>;

const indexes: Readonly<Record<string, ValueIndex<Record<string, never>>>> = {
  byKey: {
    entries: {
      stop: ["name", "line"],
      doc: "title",
      passes: { by: "at:date", shards: 2 },
      rates: "score:number",
      serves: { by: ["role", "since:date"], split: 1 },
      near: "metres:number",
    },
    shards: 3,
    projection: "KEYS_ONLY",
  },
  bySome: {
    entries: {
      stop: { by: "size:number", sparse: true },
      childOf: { by: "rank:number", shards: 2 },
      passes: { by: "km:number", sparse: true },
      copied: "level:number",
    },
    projection: ["km", "size", "level", "parentId"],
  },
  /** Of nodes, in which their references are found too. */
  byNode: { entries: { doc: "rank:number", visit: { by: "size:number", sparse: true } }, shards: 2 },
} as never;

/** What an index of an adopted layout holds beside its keys. */
export type Projection = "ALL" | "KEYS_ONLY" | readonly string[];

/** The same in a layout of another hand, whose indexes hold but a part of each item, and spread what they hold. */
const adopted = (projection: Projection, shards: number): Layout => {
  const into = { T: `T#{to}#{from:shard(${shards})}` };
  return {
    partitionKey: "PK",
    sortKey: "SK",
    typeAttribute: "kind",
    indexes: {
      target: { partitionKey: "T", sortKey: "TS", projection },
      source: { partitionKey: "S", sortKey: "SS", projection },
    },
    nodes: {
      area: { keys: { SK: "META" } },
      stop: { keys: { SK: "META" }, attributes: { size: "Size" } },
      doc: { keys: { SK: "META", T: "DOC#{parentId}", TS: "{rank:number}#{docId}" }, sparse: ["T"] },
      visit: { keys: { SK: "META", T: "STOP#{line}#{stopN:number}#{stopDay:date}", TS: "V#{visitId:number}#{at:date}" }, sparse: ["T"] },
    },
    edges: {
      passes: { keys: { SK: "PASSES#{to}", ...into, TS: "PASSES#{at:date}#{from}", S: "{from}", SS: "PASSES#{at:date}#{to}" } },
      rates: { keys: { SK: "RATES#{to}", ...into, TS: "RATES#{score:number}#{from}", S: "{from}", SS: "RATES#{score:number}#{to}" } },
      near: { keys: { SK: "NEAR#{to}", S: "{from}", SS: "NEAR#{metres:number}#{to}" }, attributes: { km: "Km" } },
      serves: {
        keys: {
          SK: "SERVES#{to}#{role}#{shift:number}",
          ...into,
          TS: "SERVES#{since:date}#{from}#{role}#{shift:number}",
          S: "{from}",
          SS: "SERVES#{since:date}#{to}#{role}#{shift:number}",
        },
      },
      lies: { keys: { SK: "LIES#{to}", ...into, TS: "LIES#{from}" } },
      copied: {
        keys: { SK: "COPIED#{to}", S: "{from}", SS: "COPIED#{level:number}#{to}" },
        mirror: { type: "copiedBack", keys: { SK: "COPIEDBACK#{from}", T: "T#{to}", TS: "COPIEDBACK#{level:number}#{from}" } },
      },
    },
  };
};

/** Where a history's graph lies. */
export type Place = { readonly own: true } | { readonly own: false; readonly projection: Projection; readonly shards: number };

/** The graph of ids of several fields, references, dates, and indexes that hold a part of what they find. */
export const forms = (table: string, place: Place): Forms =>
  defineGraph({
    table,
    nodes,
    edges,
    ...(place.own ? { indexes: indexes as never } : { layout: adopted(place.projection, place.shards) }),
  });
