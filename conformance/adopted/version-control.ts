import { defineGraph, node, part } from "edgetable";
import { z } from "zod";
import type { Design } from "./describe-design.ts";

const text = z.string();

// "v0" is the current state, with the latest number; "v1", "v2", … are the versions. The ids hold a "#", so the layout's
// delimiter is another, which the keys never use.
const graph = (table: string) =>
  defineGraph({
    table,
    nodes: { equipment: node({ key: "{id}", schema: z.object({ id: text, Name: text, FactoryID: text, LineID: text }) }) },
    parts: {
      version: part({
        of: "equipment",
        key: "v{number:plain}",
        schema: z.object({ number: z.int(), Time: text, State: text, Latest: z.int().optional() }),
      }),
    },
    layout: { partitionKey: "PK", sortKey: "SK", delimiter: "|", nodes: { equipment: { keys: { SK: "Metadata" } } } },
  });

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

const id = "Equipment#1";
const at = (hour: number) => `2024-04-01T0${hour}:00:00`;
const version = (number: number, hour: number, State: string) => ({ PK: id, SK: `v${number}`, Time: at(hour), State });

export const versionControl: Design<Db> = {
  name: "version-control",
  source:
    "AWS, Implementing version control using DynamoDB: github.com/aws-samples/amazon-dynamodb-design-patterns, examples/version-control",
  table: { key: ["PK", "SK"] },
  graph,
  items: [
    { PK: id, SK: "Metadata", Name: "Press", FactoryID: "F#1", LineID: "L#2" },
    { PK: id, SK: "v0", Time: at(2), State: "WARNING1", Latest: 2 },
    version(1, 1, "OK"),
    version(2, 2, "WARNING1"),
  ],
  patterns: [
    {
      question: "the latest version",
      ask: (db) => db.equipment({ id }).parts("version").where({ number: 0 }).all(),
      answer: [{ id, number: 0, Time: at(2), State: "WARNING1", Latest: 2 }],
      requests: ["Query: PK = 'Equipment#1' AND SK = 'v0'"],
    },
    {
      question: "a given version",
      ask: (db) => db.equipment({ id }).parts("version").where({ number: 1 }).all(),
      answer: [{ id, number: 1, Time: at(1), State: "OK" }],
      requests: ["Query: PK = 'Equipment#1' AND SK = 'v1'"],
    },
    {
      question: "the equipment",
      ask: (db) => db.equipment.get({ id }),
      answer: { id, Name: "Press", FactoryID: "F#1", LineID: "L#2" },
      requests: ["GetItem: 'Equipment#1' / 'Metadata'"],
    },
    {
      question: "all of it",
      ask: (db) => db.equipment({ id }).collection(),
      answer: {
        node: { id, Name: "Press", FactoryID: "F#1", LineID: "L#2" },
        edges: {},
        parts: {
          version: [
            { id, number: 0, Time: at(2), State: "WARNING1", Latest: 2 },
            { id, number: 1, Time: at(1), State: "OK" },
            { id, number: 2, Time: at(2), State: "WARNING1" },
          ],
        },
      },
      requests: ["Query: PK = 'Equipment#1'"],
    },
  ],
  writes: [
    {
      what: "AddEquipment",
      call: (db) => db.equipment.put({ id: "Equipment#2", Name: "Drill", FactoryID: "F#1", LineID: "L#3" }).orThrow(),
      puts: [{ PK: "Equipment#2", SK: "Metadata", Name: "Drill", FactoryID: "F#1", LineID: "L#3" }],
    },
    {
      what: "AddNewVersion, which raises the latest one if it is still the one that was read",
      call: (db) =>
        db.transact([
          db.version.update({ id }, { number: 0 }, { Time: at(3), State: "OK", Latest: 3 }, { if: { Latest: 2 } }),
          db.version.put({ id }, { number: 3, Time: at(3), State: "OK" }),
        ]),
      puts: [{ PK: id, SK: "v0", Time: at(3), State: "OK", Latest: 3 }, version(3, 3, "OK")],
    },
    {
      what: "AddNewVersion after another writer: neither item changes",
      call: (db) =>
        db.transact([
          db.version.update({ id }, { number: 0 }, { Time: at(4), State: "WARNING2", Latest: 3 }, { if: { Latest: 2 } }),
          db.version.put({ id }, { number: 3, Time: at(4), State: "WARNING2" }),
        ]),
    },
  ],
};
