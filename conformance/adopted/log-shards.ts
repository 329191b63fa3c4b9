import { defineGraph, node } from "edgetable";
import { z } from "zod";
import { whole, type Design } from "./describe-design.ts";

const text = z.string();

// The shard is the lab's own arithmetic, the request's number modulo 10, plus 1: an attribute that the application fills.
const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      request: node({
        key: "request#{requestid:plain}",
        schema: z.object({
          requestid: z.int(),
          shard: z.int(),
          responsecode: z.int(),
          date: text,
          hourofday: z.int(),
          host: text,
          url: text,
          bytessent: z.int(),
        }),
      }),
    },
    layout: {
      partitionKey: "PK",
      types: { requestid: "N", responsecode: "N", hourofday: "N" },
      indexes: { GSI_1: { partitionKey: "GSI_1_PK", sortKey: "GSI_1_SK", projection: "KEYS_ONLY" } },
      nodes: {
        request: {
          keys: {
            GSI_1_PK: "shard#{shard:plain}",
            GSI_1_SK: "{responsecode:plain}#{date}#{hourofday:plain}",
            requestid: "{requestid:number}",
            responsecode: "{responsecode:number}",
            date: "{date}",
            hourofday: "{hourofday:number}",
          },
          delimiters: { date: whole },
        },
      },
    },
  });

const shards = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const log = (requestid: number, responsecode: number, date: string) => ({
  requestid,
  responsecode,
  date,
  hourofday: 9,
  host: "10.0.0.1",
  url: "/index?a=1#top",
  bytessent: 512,
});
const row = (requestid: number, responsecode: number, date: string) => ({
  ...log(requestid, responsecode, date),
  shard: (requestid % 10) + 1,
});
const item = (requestid: number, responsecode: number, date: string) => ({
  PK: `request#${requestid}`,
  GSI_1_PK: `shard#${(requestid % 10) + 1}`,
  GSI_1_SK: `${responsecode}#${date}#9`,
  ...log(requestid, responsecode, date),
});
const key = (requestid: number, responsecode: number, date: string) => ({
  requestid,
  responsecode,
  date,
  hourofday: 9,
  shard: (requestid % 10) + 1,
});

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const logShards: Design<Db> = {
  name: "log-shards",
  source: "AWS workshop, Advanced design patterns, exercise 3: github.com/aws-samples/amazon-dynamodb-labs, design-patterns",
  table: { key: ["PK"], indexes: { GSI_1: { key: ["GSI_1_PK", "GSI_1_SK"], projection: "KEYS_ONLY" } } },
  graph,
  items: [
    item(1, 404, "2017-07-20"),
    item(2, 404, "2017-07-21"),
    item(12, 404, "2017-07-21"),
    item(15, 404, "2017-07-21"),
    item(25, 200, "2017-07-21"),
  ],
  patterns: [
    {
      question: "all requests with a response code",
      ask: async (db) => (await Promise.all(shards.map((shard) => db.find("request").where({ shard, responsecode: 404 }).rows()))).flat(),
      answer: [key(1, 404, "2017-07-20"), key(2, 404, "2017-07-21"), key(12, 404, "2017-07-21"), key(15, 404, "2017-07-21")],
      requests: shards.map((shard) => `Query GSI_1: GSI_1_PK = 'shard#${shard}' AND begins_with(GSI_1_SK, '404#')`),
      anyOrder: true,
    },
    {
      question: "those of a date",
      ask: async (db) =>
        (
          await Promise.all(shards.map((shard) => db.find("request").where({ shard, responsecode: 404, date: "2017-07-21" }).rows()))
        ).flat(),
      answer: [key(2, 404, "2017-07-21"), key(12, 404, "2017-07-21"), key(15, 404, "2017-07-21")],
      requests: shards.map((shard) => `Query GSI_1: GSI_1_PK = 'shard#${shard}' AND begins_with(GSI_1_SK, '404#2017-07-21#')`),
      anyOrder: true,
    },
  ],
  writes: [
    { what: "a request", call: (db) => db.request.put(row(36, 500, "2017-07-22")).orThrow(), puts: [item(36, 500, "2017-07-22")] },
    {
      what: "another response code",
      call: (db) => db.request.update({ requestid: 36 }, { responsecode: 503 }).orThrow(),
      puts: [item(36, 503, "2017-07-22")],
    },
  ],
};
