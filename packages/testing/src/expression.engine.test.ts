import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AttributeValue, Item } from "edgetable";
import { openEngine, type TestEngine } from "../../../conformance/engines/open-engine.ts";
import { propertyRuns } from "../../../conformance/engines/property-runs.ts";
import { holds, parseCondition, parseProjection } from "./expression.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
  await engine.transport.send("CreateTable", {
    TableName: "filters",
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [
      { AttributeName: "pk", AttributeType: "S" },
      { AttributeName: "sk", AttributeType: "S" },
    ],
    KeySchema: [
      { AttributeName: "pk", KeyType: "HASH" },
      { AttributeName: "sk", KeyType: "RANGE" },
    ],
  });
});
afterAll(() => engine.close());

const scalar = fc.oneof(
  fc.constantFrom("", "a", "ab", "b", "Ab", "é", "\u{1f600}", "\ufffd").map((S): AttributeValue => ({ S })),
  fc.constantFrom("0", "1", "-1", "1.5", "15", "-0.02", "100", "1e2").map((N): AttributeValue => ({ N })),
  fc.constantFrom("AA==", "AAE=", "/w==").map((B): AttributeValue => ({ B })),
  fc.boolean().map((BOOL): AttributeValue => ({ BOOL })),
  fc.constant<AttributeValue>({ NULL: true }),
);
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.uniqueArray(fc.constantFrom("a", "b", "ab"), { minLength: 1 }).map((SS): AttributeValue => ({ SS })),
  fc.uniqueArray(fc.constantFrom("1", "2", "-1"), { minLength: 1 }).map((NS): AttributeValue => ({ NS })),
  fc.array(scalar, { maxLength: 3 }).map((L): AttributeValue => ({ L })),
  fc.dictionary(fc.constantFrom("a", "b"), scalar).map((M): AttributeValue => ({ M })),
);
const attributes = fc.dictionary(fc.constantFrom("a", "b", "c"), value);

const path = fc.constantFrom("#a", "#b", "#c", "#a.#b", "#b.#a", "#c[0]", "#a[1]");
const operand = fc.oneof(path, fc.constantFrom(":v0", ":v1", ":v2"));
const comparator = fc.constantFrom("=", "<>", "<", "<=", ">", ">=");
const ordered = fc.constantFrom(":n0", ":n1", ":s0");
const atom = fc.oneof(
  fc.tuple(path, comparator, operand).map((parts) => parts.join(" ")),
  fc.tuple(path, fc.constantFrom("<", "<=", ">", ">="), ordered).map((parts) => parts.join(" ")),
  fc.tuple(path, comparator, fc.constantFrom(":n0", ":n1")).map(([of, sign, n]) => `size(${of}) ${sign} ${n}`),
  path.map((of) => `${of} BETWEEN :low AND :high`),
  fc.tuple(path, operand, operand).map(([of, a, b]) => `${of} IN (${a}, ${b})`),
  path.map((of) => `attribute_exists(${of})`),
  path.map((of) => `attribute_not_exists(${of})`),
  fc.tuple(path, fc.constantFrom(":s0", ":s1")).map(([of, s]) => `begins_with(${of}, ${s})`),
  fc.tuple(path, fc.constantFrom(":v0", ":v1")).map(([of, v]) => `contains(${of}, ${v})`),
  path.map((of) => `attribute_type(${of}, :type)`),
);
const { condition } = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    atom,
    fc.tuple(tie("condition"), tie("condition")).map(([a, b]) => `(${a}) AND ${b}`),
    fc.tuple(tie("condition"), tie("condition")).map(([a, b]) => `${a} OR (${b})`),
    fc.tuple(tie("condition"), tie("condition")).map(([a, b]) => `${a} OR ${b}`),
    tie("condition").map((a) => `NOT (${a})`),
    atom.map((a) => `NOT ${a}`),
  ),
}));
const values = fc.record<Item>({
  ":v0": value,
  ":v1": value,
  ":v2": value,
  ":n0": fc.constant({ N: "1" }),
  ":n1": fc.constant({ N: "2.0" }),
  ":s0": fc.constant({ S: "a" }),
  ":s1": fc.constant({ S: "é" }),
  ":low": fc.constant({ S: "A" }),
  ":high": fc.constant({ S: "ab" }),
  ":type": fc.constantFrom({ S: "S" }, { S: "L" }, { S: "SS" }, { S: "M" }),
});
const allNames = { "#a": "a", "#b": "b", "#c": "c" };

/** One partition per case; every placeholder is used, or the service would refuse the request. */
let partitions = 0;
const stored = async (rows: readonly Item[]): Promise<readonly [string, readonly Item[]]> => {
  const partition = `p${String(partitions++)}`;
  const items = rows.map((row, index): Item => ({ ...row, pk: { S: partition }, sk: { S: String(index) } }));
  for (const item of items) await engine.transport.send("PutItem", { TableName: "filters", Item: item });
  return [partition, items];
};

const used = <T>(text: string, all: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => new RegExp(`${name}\\b`).test(text)));

const queried = async (partition: string, extra: object, given: { names: object; values: object }): Promise<readonly Item[]> => {
  const answer = await engine.transport.send("Query", {
    TableName: "filters",
    KeyConditionExpression: "#pk = :pk",
    ExpressionAttributeNames: { "#pk": "pk", ...given.names },
    ExpressionAttributeValues: { ":pk": { S: partition }, ...given.values },
    ...extra,
  });
  return answer.Items ?? [];
};

const refusal = Symbol("the engine refuses the expression");

test("a filter keeps the very items that the engine keeps", async () => {
  const property = fc.asyncProperty(fc.array(attributes, { minLength: 1, maxLength: 6 }), condition, values, async (rows, text, all) => {
    const [partition, items] = await stored(rows);
    const given = { names: used(text, allNames), values: used(text, all) };
    const answer = await queried(partition, { FilterExpression: text }, given).catch(() => refusal);
    if (answer === refusal) return;
    const parsed = parseCondition({ text, names: given.names, values: given.values });
    const kept = items.filter((item) => holds(parsed, item)).map(({ sk }) => sk);
    expect(kept).toEqual((answer as readonly Item[]).map(({ sk }) => sk));
  });
  await fc.assert(property, propertyRuns(300));
});

test("a projection takes the very parts that the engine takes", async () => {
  const paths = fc.uniqueArray(path, { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(fc.array(attributes, { minLength: 1, maxLength: 4 }), paths, async (rows, list) => {
    const text = list.join(", ");
    const [partition, items] = await stored(rows);
    const names = used(text, allNames);
    const answer = await queried(partition, { ProjectionExpression: text }, { names, values: {} }).catch(() => refusal);
    if (answer === refusal) return;
    const normal = (item: Item): unknown => JSON.parse(JSON.stringify(item).replaceAll("1e2", "100"));
    const sorted = (item: unknown): string =>
      JSON.stringify(item, (_, inner: unknown) =>
        inner && typeof inner === "object" && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).toSorted()) : inner,
      );
    expect(items.map(parseProjection(text, names)).map(normal).map(sorted)).toEqual((answer as readonly Item[]).map(sorted));
  });
  await fc.assert(property, propertyRuns(150));
});
