import { startEngine, type LocalEngine } from "@edgetable/local";
import { defineGraph, node } from "edgetable";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { UntypedDb } from "../connection.ts";
import { readGrid, readGroups, setValues } from "./fields.ts";
import { changeRow } from "./rows.ts";

const text = z.string();
const graph = defineGraph({
  table: "Fields",
  nodes: {
    project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
    seat: node({ key: "SEAT#{seat:number}", schema: z.object({ seat: z.int(), name: text }) }),
    room: node({ key: "ROOM#{house}#{floor:number}", schema: z.object({ house: text, floor: z.int() }) }),
    issue: node({
      key: "ISSUE#{issueId}",
      schema: z.object({ issueId: text, projectId: text, title: text.optional() }),
      fields: { of: "project" },
    }),
  },
});
const parent = { projectId: "P" };

let engine: LocalEngine;
let db: ReturnType<typeof graph.connect>;
beforeAll(async () => {
  engine = await startEngine();
  db = graph.connect({ endpoint: engine.endpoint });
  await db.table.create();
  await db.project.create(parent).orThrow();
  await db.issue.create({ issueId: "i", ...parent }).orThrow();
  const fields = db.issue.fields(parent);
  const choices = ["a,b", "a", "x;y", "z", " s"];
  await fields.define({ fieldId: "one", name: "One", type: "choice", choices });
  await fields.define({ fieldId: "some", name: "Some", type: "choices", choices });
  await fields.define({ fieldId: "rank", name: "Rank", type: "number" });
  await fields.define({ fieldId: "note", name: "Note", type: "text" });
  await fields.define({ fieldId: "seat", name: "Seat", type: "reference", node: "seat" });
  await fields.define({ fieldId: "room", name: "Room", type: "reference", node: "room" });
});
afterAll(async () => {
  await db.close();
  await engine.stop();
});

const untyped = (): UntypedDb => db as unknown as UntypedDb;

/** The value that a person's text becomes. */
const written = async (field: string, typed: string): Promise<unknown> => {
  await db.issue.values({ issueId: "i" }).set({ [field]: null });
  const cells = { [`field:${field}`]: { text: typed } };
  const { row } = await setValues(untyped(), { type: "issue", id: { issueId: "i" }, cells, was: {} });
  return row?.[`field:${field}`];
};

/** How many rows a filter keeps, of one. */
const kept = async (field: string, filter: string): Promise<number> => {
  const request = { type: "issue", parent, sort: undefined, reverse: false, cursor: undefined, limit: 10 };
  const { rows } = await readGrid(untyped(), { ...request, filters: { [`field:${field}`]: filter } }, new AbortController().signal);
  return rows.length;
};

test("choices may contain what separates them", async () => {
  for (const [typed, value] of [
    ["a,b", ["a,b"]],
    ["a, z", ["a", "z"]],
    ["x;y; a,b;z", ["a,b", "x;y", "z"]],
    [" s; z", ["z", " s"]],
    [";a;;", ["a"]],
  ] as const)
    expect(await written("some", typed)).toEqual(value);
  await expect(written("some", "a,c")).rejects.toMatchObject({ code: "grid.invalidValue" });
  await written("some", "a,b; x;y");
  await written("one", "x;y");
  expect([await kept("some", "=x;y; a,b"), await kept("some", "=x;y"), await kept("some", "A,B")]).toEqual([1, 0, 1]);
  expect([await kept("one", "x;y"), await kept("one", "z, X;Y"), await kept("one", "=a"), await kept("one", "a; z")]).toEqual([1, 1, 0, 0]);
});

test("the id of a node has the types of its schema, and what is no JSON is named", async () => {
  expect(await written("seat", "12")).toEqual({ seat: 12 });
  expect(await written("seat", '{"seat":12}')).toEqual({ seat: 12 });
  expect([await kept("seat", "12"), await kept("seat", "=13")]).toEqual([1, 0]);
  expect(await written("room", '{"house":"A","floor":-1}')).toEqual({ house: "A", floor: -1 });
  await expect(written("room", "{A")).rejects.toMatchObject({ code: "cli.usage", message: expect.stringContaining('{"house":"…"') });
  await expect(kept("room", "{A")).rejects.toMatchObject({ code: "cli.usage" });
  await expect(written("seat", "window")).rejects.toMatchObject({ code: "grid.invalidValue" });
});

test("a number is refused that would lose digits, or is none", async () => {
  expect(await written("rank", " 1e3 ")).toBe(1000);
  expect(await written("rank", "9007199254740994")).toBe(9007199254740994);
  await expect(written("rank", "9007199254740993")).rejects.toMatchObject({ message: expect.stringContaining("more digits") });
  await expect(written("rank", "9".repeat(400))).rejects.toMatchObject({ message: expect.stringContaining("more digits") });
  await expect(written("rank", "0x10")).rejects.toMatchObject({ message: '"0x10" is not a number.' });
});

test("the value of an attribute that a group shows is found by it, with the space around it", async () => {
  const id = { issueId: "i" };
  const { signal } = new AbortController();
  for (const title of ["plain", " spaced ", "=sign"]) {
    await db.issue.update(id, { title }).orThrow();
    const { groups } = await readGroups(untyped(), { type: "issue", parent, filters: {}, column: "title" }, signal);
    const request = { type: "issue", parent, sort: undefined, reverse: false, cursor: undefined, limit: 10 };
    const { rows } = await readGrid(untyped(), { ...request, filters: { title: `=${String(groups[0]?.value)}` } }, signal);
    expect(rows).toMatchObject([{ title }]);
  }
  await db.issue.update(id, { remove: ["title"] }).orThrow();
});

test("the value that a group shows is found by it, and a choice by a part of its name", async () => {
  const values = db.issue.values({ issueId: "i" });
  await values.set({ rank: 1 / 3, note: " a  ", one: "x;y", some: ["x;y"] });
  for (const field of ["rank", "note"]) {
    const { groups } = await readGroups(
      untyped(),
      { type: "issue", parent, filters: {}, column: `field:${field}` },
      new AbortController().signal,
    );
    expect(await kept(field, `=${String(groups[0]?.value)}`)).toBe(1);
  }
  expect([await kept("one", "X"), await kept("one", "Z"), await kept("some", "X")]).toEqual([1, 0, 1]);
  await expect(kept("one", "none of them")).rejects.toMatchObject({ code: "grid.invalidFilter" });
  await values.set({ rank: null, note: null, one: null, some: null });
});

test("a row whose field was written and whose attribute was refused can be saved again", async () => {
  const id = { issueId: "i" };
  await db.issue.update(id, { title: "theirs" }).orThrow();
  const set = { "field:rank": { text: "5" }, title: { text: "mine" } };
  const first = await changeRow(untyped(), { type: "issue", id, set, was: { title: "old" } });
  expect(first).toMatchObject({ ok: false, row: { title: "theirs", "field:rank": 5 } });
  expect(await changeRow(untyped(), { type: "issue", id, set, was: { title: "theirs" } })).toMatchObject({
    ok: true,
    row: { title: "mine" },
  });
  // A value that somebody else has written is still not overwritten.
  await db.issue.values(id).set({ rank: 7 });
  expect(await changeRow(untyped(), { type: "issue", id, set: { "field:rank": { text: "8" } }, was: { "field:rank": 5 } })).toMatchObject({
    ok: false,
    row: { "field:rank": 7 },
  });
  await db.issue.values(id).set({ rank: null });
});

test("a reference is the same in whatever order the fields of its id come", async () => {
  const id = { issueId: "i" };
  await db.issue.values(id).set({ room: { house: "A", floor: 1 } });
  const cells = { "field:room": { text: '{"house":"B","floor":2}' } };
  for (const room of [
    { house: "A", floor: 1 },
    { floor: 1, house: "A" },
  ]) {
    await db.issue.values(id).set({ room: { house: "A", floor: 1 } });
    expect(await setValues(untyped(), { type: "issue", id, cells, was: { "field:room": room } })).toMatchObject({ ok: true });
  }
  await db.issue.values(id).set({ room: null });
});
