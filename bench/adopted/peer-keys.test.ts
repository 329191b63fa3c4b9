import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Table } from "dynamodb-onetable";
import { defineGraph, node, type AttributeValue } from "edgetable";
import { rewriteItem } from "edgetable/check";
import { Entity } from "electrodb";
import { expect, test } from "vitest";
import { z } from "zod";

const text = z.string();
type Item = Readonly<Record<string, AttributeValue>>;

/** A plain object in the form of the wire. */
const wire = (item: object): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      typeof value === "string" ? { S: value } : typeof value === "boolean" ? { BOOL: value } : { N: String(value) },
    ]),
  );

test("items that ElectroDB writes read and rewrite byte for byte: keys in one case, cut short, joined, under a condition", () => {
  const tasks = new Entity(
    {
      model: { entity: "Task", version: "1", service: "App" },
      attributes: {
        id: { type: "string", required: true },
        team: { type: "string" },
        a: { type: "string" },
        b: { type: "string" },
        n: { type: "number" },
        done: { type: "boolean" },
      },
      indexes: {
        primary: { pk: { field: "pk", composite: ["id"] }, sk: { field: "sk", composite: [] } },
        teams: { index: "gsi1", pk: { field: "g1pk", composite: ["team"] }, sk: { field: "g1sk", composite: ["a", "b", "n"] } },
        joined: {
          index: "gsi2",
          pk: { field: "g2pk", composite: ["id"], template: "T${id}", casing: "upper" },
          sk: { field: "g2sk", composite: ["a", "b"], template: "${a}${b}", casing: "none" },
        },
        open: {
          index: "gsi3",
          condition: ({ done }) => done === false,
          pk: { field: "g3pk", composite: ["team"] },
          sk: { field: "g3sk", composite: ["id"] },
        },
      },
    },
    { table: "App" },
  );
  const graph = defineGraph({
    table: "App",
    nodes: {
      task: node({
        key: "$app#id_{id:lower}",
        schema: z.object({
          id: text,
          team: text.optional(),
          a: text.optional(),
          b: text.optional(),
          n: z.number().optional(),
          done: z.boolean().optional(),
        }),
      }),
    },
    layout: {
      partitionKey: "pk",
      sortKey: "sk",
      typeAttribute: "__edb_e__",
      indexes: {
        gsi1: { partitionKey: "g1pk", sortKey: "g1sk" },
        gsi2: { partitionKey: "g2pk", sortKey: "g2sk" },
        gsi3: { partitionKey: "g3pk", sortKey: "g3sk" },
      },
      nodes: {
        task: {
          type: "Task",
          keys: {
            sk: "$task_1",
            g1pk: "$app#team_{team:lower}",
            g1sk: "$task_1#a_{a?:lower}#b_{b?:lower}#n_{n?:lower}",
            g2pk: "T{id:upper}",
            g2sk: "{a:written}{b:written}",
            g3pk: "$app#team_{team:lower}",
            g3sk: "$task_1#id_{id:lower}",
            __edb_v__: "1",
          },
          // Ids may contain "#": nothing follows them in the table's key.
          delimiters: { pk: "\u0001" },
          sparse: ["g1pk", "g1sk", "g2sk", "g3pk"],
          when: { g3pk: { done: false } },
        },
      },
    },
  });
  const rows = [
    { id: "Ab#1", team: "Te#am", a: "A#x", b: "B", n: 1.5, done: true },
    { id: "01HXAB", team: "T", done: false },
    { id: "x", team: "T" },
    { id: "Y", team: "", a: "", b: "b", n: -2, done: false },
  ];
  for (const row of rows) {
    const { Item: written } = tasks.put(row).params<{ Item: object }>();
    expect(rewriteItem(graph, wire(written)), JSON.stringify(written)).toMatchObject({ name: "task", differing: [], problem: undefined });
  }
});

test("items that OneTable writes read and rewrite byte for byte: fields within attributes, and halves of index keys", async () => {
  const client = new DynamoDBClient({
    region: "local",
    endpoint: "http://127.0.0.1:1",
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
  });
  const items: Item[] = [];
  client.send = (async ({ input }: { readonly input: { readonly Item: Item } }) => {
    items.push(input.Item);
    return {};
  }) as never;
  const table = new Table({
    client,
    name: "App",
    partial: false,
    schema: {
      format: "onetable:1.1.0",
      version: "0.0.1",
      indexes: { primary: { hash: "pk", sort: "sk" }, gs1: { hash: "gs1pk", sort: "gs1sk", project: "all" } },
      models: {
        User: {
          pk: { type: String, value: "user#${id}" },
          sk: { type: String, value: "user#" },
          gs1pk: { type: String, value: "status#${status}" },
          gs1sk: { type: String, value: "${_type}#${address.city}#${n:4:0}#${name}" },
          id: { type: String, required: true },
          status: { type: String },
          name: { type: String },
          n: { type: Number },
          address: { type: Object, schema: { city: { type: String }, zip: { type: String } } },
        },
      },
    },
  });
  for (const row of [
    { id: "Ab", status: "Open", name: "Ann", n: 3, address: { city: "Oslo", zip: "1" } },
    { id: "b" },
    { id: "c", status: "open" },
    { id: "d", name: "Dee", n: 7, address: { city: "Rome" } },
  ])
    await table.create("User", row, { exists: null });
  const graph = defineGraph({
    table: "App",
    nodes: {
      user: node({
        key: "user#{id}",
        schema: z.object({
          id: text,
          status: text.optional(),
          name: text.optional(),
          n: z.number().optional(),
          address: z.object({ city: text.optional(), zip: text.optional() }).optional(),
        }),
      }),
    },
    layout: {
      partitionKey: "pk",
      sortKey: "sk",
      typeAttribute: "_type",
      indexes: { gs1: { partitionKey: "gs1pk", sortKey: "gs1sk" } },
      nodes: {
        user: {
          type: "User",
          keys: { sk: "user#", gs1pk: "status#{status:written}", gs1sk: "User#{address.city:written}#{n:4}#{name:written}" },
          verbatim: ["id", "n"],
          sparse: ["gs1pk", "gs1sk"],
          halves: true,
        },
      },
    },
  });
  expect(items).toHaveLength(4);
  for (const item of items)
    expect(rewriteItem(graph, item), JSON.stringify(item)).toMatchObject({ name: "user", differing: [], problem: undefined });
});
