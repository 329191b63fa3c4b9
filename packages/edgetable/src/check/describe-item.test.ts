import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { describeItem, listedAttributes } from "./index.ts";

const text = z.string();
const graph = defineGraph({
  table: "College",
  nodes: {
    student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: text, name: text }) }),
    course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: text, title: text, teacher: text }) }),
    session: node({ key: "SESSION#{sessionId}", schema: z.object({ sessionId: text, studentId: text, until: z.number() }), ttl: "until" }),
  },
  edges: {
    enrolledIn: edge({ from: "student", to: "course", schema: z.object({ at: text }), orderBy: "at" }),
    heldBy: edge({ from: "session", to: "student", stored: "reference" }),
  },
  parts: { note: part({ of: "student", key: "NOTE#{number:3}", schema: z.object({ number: z.int(), text }) }) },
});
const joined = (pieces: readonly { readonly text: string }[] | undefined): string => (pieces ?? []).map(({ text }) => text).join("");

test("an edge: its keys in pieces, its own fields, and the node in another partition that it names", () => {
  const item = {
    pk: { S: "STUDENT#S1" },
    sk: { S: "enrolledIn#COURSE#C1" },
    gsi1pk: { S: "COURSE#C1" },
    gsi1sk: { S: "enrolledIn#2024-01-10#STUDENT#S1" },
    at: { S: "2024-01-10" },
  };
  const { keys, ...rest } = describeItem(graph, item);
  expect(rest).toEqual({
    kind: "edge",
    name: "enrolledIn",
    mirror: false,
    row: { from: { studentId: "S1" }, to: { courseId: "C1" }, at: "2024-01-10" },
    id: undefined,
    fields: [{ name: "at", attribute: "at" }],
    ends: [{ role: "to", type: "course", id: { courseId: "C1" }, partition: "COURSE#C1" }],
    bytes: 99,
    expires: undefined,
  });
  expect(keys["sk"]?.filter(({ path }) => path !== undefined)).toEqual([{ text: "C1", path: "to.courseId" }]);
  for (const [attribute, pieces] of Object.entries(keys)) expect(joined(pieces)).toBe(item[attribute as keyof typeof item].S);
});

test("a part names its owner only from another partition; a padded number is one piece", () => {
  const { kind, name, keys, ends } = describeItem(graph.catalog, { pk: { S: "STUDENT#S1" }, sk: { S: "NOTE#007" }, text: { S: "late" } });
  expect({ kind, name, ends }).toEqual({ kind: "part", name: "note", ends: [] });
  expect(keys["sk"]?.at(-1)).toEqual({ text: "007", path: "number" });
});

test("a node with a reference edge and an expiry", () => {
  const item = { pk: { S: "SESSION#1" }, sk: { S: "#" }, until: { N: "1800000000" }, studentId: { S: "S1" } };
  expect(describeItem(graph, item)).toMatchObject({
    kind: "node",
    name: "session",
    id: { sessionId: "1" },
    expires: 1_800_000_000_000,
    ends: [{ role: "heldBy", type: "student", id: { studentId: "S1" }, partition: "STUDENT#S1" }],
  });
});

test("items of Edgetable's own, and items that the model does not know", () => {
  const own = { pk: { S: "~secret#cursor" }, sk: { S: "#" }, "~secret": { B: "AAAA" } };
  expect(describeItem(graph, own)).toMatchObject({ kind: "system", name: "secret" });
  for (const item of [{}, { pk: { S: "x" }, sk: { S: "y" } }, { pk: { N: "1" } }, { pk: { S: "STUDENT#S1" }, sk: { S: "NOTE#7x" } }])
    expect(describeItem(graph, item)).toMatchObject({ kind: "stray", name: "" });
});

test("the attributes of a schema in its order, also of one that takes others", () => {
  const shape = z.object({ id: z.string(), name: z.string(), size: z.number().optional() });
  for (const schema of [shape, shape.loose(), shape.catchall(z.number())]) {
    const { catalog } = defineGraph({ table: "Things", nodes: { thing: node({ key: "THING#{id}", schema }) } });
    expect(listedAttributes(catalog, catalog.nodes["thing"]!.shape)).toEqual(["id", "name", "size"]);
    const item = { pk: { S: "THING#1" }, sk: { S: "#" }, colour: { S: "red" }, size: { N: "1" }, name: { S: "x" } };
    expect(describeItem(catalog, item).fields.map(({ name }) => name)).toEqual(["name", "size", "colour"]);
  }
});
