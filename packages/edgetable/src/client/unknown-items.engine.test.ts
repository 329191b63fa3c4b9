import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

/** A table in whose partitions, and in those of its index, lies more than the model knows. */
const graphOf = (table: string, typeAttribute: string | undefined) =>
  defineGraph({
    table,
    nodes: {
      customer: node({ key: "CUSTOMER#{name}", schema: z.object({ name: text, city: text }) }),
      shop: node({ key: "SHOP#{shopId}", schema: z.object({ shopId: text }) }),
    },
    parts: { note: part({ of: "customer", key: "NOTE#{number:3}", schema: z.object({ number: z.int() }) }) },
    edges: { buysAt: edge({ from: "customer", to: "shop", schema: z.object({ since: text.optional() }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      ...(typeAttribute === undefined ? {} : { typeAttribute }),
      indexes: { byShop: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { customer: { keys: { SK: "META", GSI1PK: "CITY#{city}", GSI1SK: "{key}" } }, shop: { keys: { SK: "META" } } },
      edges: { buysAt: { keys: { SK: "{to}", GSI1PK: "{to}", GSI1SK: "{from}" } } },
    },
  });

type Stored = Readonly<Record<string, string>>;

const bought = (name: string, shop: string): Stored => ({ PK: `CUSTOMER#${name}`, SK: shop, GSI1PK: "SHOP#1", GSI1SK: `CUSTOMER#${name}` });

const items = (type: string | undefined): readonly Stored[] => [
  { PK: "CUSTOMER#ann", SK: "META", GSI1PK: "CITY#Rome", GSI1SK: "CUSTOMER#ann" },
  { PK: "CUSTOMER#ann", SK: "FORMER", GSI1PK: "CITY#Rome", GSI1SK: "CUSTOMER#ann#FORMER" },
  { ...bought("ann", "SHOP#1"), since: "2020" },
  { ...bought("ann", "SHOP#1#VISIT#7") },
  { PK: "CUSTOMER#ann", SK: "SHOPPING-LIST" },
  { PK: "CUSTOMER#ann", SK: "NOTE#001" },
  { PK: "CUSTOMER#ann", SK: "NOTE#first" },
  { PK: "CUSTOMER#ann", SK: "A-SESSION", GSI1PK: "SHOP#1", GSI1SK: "SESSION#1" },
  ...(type === undefined ? [] : [{ ...bought("bob", "SHOP#1"), [type]: "formerCustomer" }]),
];

interface QueryLike {
  readonly KeyConditionExpression?: string;
  readonly ProjectionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, { readonly S: string }>>;
}

/** A Query's condition with its values filled in, and what it asks for. */
const queryOf = (input: unknown): string => {
  const query = input as QueryLike;
  const named = (part = ""): string =>
    part
      .replaceAll(/#\w+/g, (name) => query.ExpressionAttributeNames?.[name] ?? name)
      .replaceAll(/:\w+/g, (name) => query.ExpressionAttributeValues?.[name]?.S ?? name);
  return [named(query.KeyConditionExpression), named(query.ProjectionExpression)].filter((part) => part !== "").join(" → ");
};

test.each([undefined, "Type"])(
  "items that the model does not know are none of its rows, read, counted or walked (type attribute: %s)",
  async (type) => {
    const graph = graphOf(engine.freshTableName(), type);
    const sent: SentRequest[] = [];
    const db = graph.connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
    await db.table.create();
    for (const item of items(type)) {
      const Item = Object.fromEntries(Object.entries(item).map(([name, S]) => [name, { S }]));
      await engine.transport.send("PutItem", { TableName: graph.catalog.table, Item });
    }
    const [ann, shop] = [{ name: "ann" }, { shopId: "1" }];
    const edges = [{ from: ann, to: shop, since: "2020" }];
    sent.length = 0;

    expect(await db.customer(ann).out("buysAt").edges()).toEqual(edges);
    expect(await db.customer(ann).out("buysAt").count()).toBe(1);
    expect(await db.shop(shop).in("buysAt").edges()).toEqual(edges);
    expect(await db.shop(shop).in("buysAt").count()).toBe(1);
    expect(await db.customer(ann).parts("note").all()).toEqual([{ name: "ann", number: 1 }]);
    expect(await db.customer(ann).parts("note").count()).toBe(1);
    expect(await db.find("customer").where({ city: "Rome" }).rows()).toEqual([{ ...ann, city: "Rome" }]);
    expect(await db.find("customer").where({ city: "Rome" }).count()).toBe(1);
    expect((await db.shop(shop).walk().in("buysAt").ids()).items).toEqual([ann]);
    expect((await db.customer(ann).collection()).edges).toEqual({ buysAt: edges });
    // Of what is counted no more is sent than tells it apart.
    const typed = type === undefined ? "" : `, ${type}`;
    expect(sent.map(({ input }) => queryOf(input))).toEqual([
      "PK = CUSTOMER#ann AND begins_with(SK, SHOP#)",
      `PK = CUSTOMER#ann AND begins_with(SK, SHOP#) → PK, SK${typed}`,
      "GSI1PK = SHOP#1 AND begins_with(GSI1SK, CUSTOMER#)",
      `GSI1PK = SHOP#1 AND begins_with(GSI1SK, CUSTOMER#) → PK, SK, GSI1PK, GSI1SK${typed}`,
      "PK = CUSTOMER#ann AND begins_with(SK, NOTE#)",
      `PK = CUSTOMER#ann AND begins_with(SK, NOTE#) → PK, SK${typed}`,
      "GSI1PK = CITY#Rome AND begins_with(GSI1SK, CUSTOMER#)",
      `GSI1PK = CITY#Rome AND begins_with(GSI1SK, CUSTOMER#) → PK, SK, GSI1PK, GSI1SK${typed}`,
      `GSI1PK = SHOP#1 AND begins_with(GSI1SK, CUSTOMER#) → PK, SK${typed}`,
      "PK = CUSTOMER#ann",
    ]);
    expect(await db.shop(shop).in("buysAt").limit(1).edges()).toEqual(edges);
  },
);
