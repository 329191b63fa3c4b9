import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

test("a collection has each edge once, also one from a node to itself that is stored twice", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("loops"),
    nodes: {
      page: node({ key: "PAGE#{id}", schema: z.object({ id: text }) }),
      tag: node({ key: "TAG#{id}", schema: z.object({ id: text }) }),
    },
    edges: {
      links: edge({ from: "page", to: "page", stored: "twice" }),
      cites: edge({ from: "page", to: "page", stored: "twice", key: ["at"], schema: z.object({ at: text }) }),
      marks: edge({ from: ["page", "tag"], to: ["page", "tag"], stored: "twice" }),
      names: edge({ from: "page", to: "tag", stored: "twice" }),
      mirrors: edge({ from: "page", to: "page", symmetric: true }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const [a, b] = [{ id: "a" }, { id: "b" }];
  for (const one of [a, b]) await db.page.create(one).orThrow();
  await db.tag.create(a).orThrow();
  const page = { type: "page", ...a } as const;
  const tag = { type: "tag", ...a } as const;
  for (const [from, to] of [
    [a, a],
    [a, b],
    [b, a],
  ] as const) {
    await db.links.link(from, to).orThrow();
    await db.mirrors.put(from, to).orThrow();
    for (const at of ["1", "2"]) await db.cites.link(from, to, { at }).orThrow();
  }
  for (const [from, to] of [
    [page, page],
    [page, tag],
    [tag, page],
  ] as const)
    await db.marks.link(from, to).orThrow();
  await db.names.link(a, a).orThrow();

  const { edges } = await db.page(a).collection();
  const ends = (rows: readonly { readonly from: object; readonly to: object }[] | undefined): unknown =>
    (rows ?? []).map(({ from, to }) => JSON.stringify([from, to])).toSorted();
  const pairs = (...all: readonly (readonly [object, object])[]): unknown => all.map((one) => JSON.stringify(one)).toSorted();
  expect(ends(edges.links)).toEqual(pairs([a, a], [a, b], [b, a]));
  expect(ends(edges.cites)).toEqual(pairs([a, a], [a, a], [a, b], [a, b], [b, a], [b, a]));
  expect(ends(edges.marks)).toEqual(pairs([page, page], [page, tag], [tag, page]));
  expect(ends(edges.mirrors)).toEqual(pairs([a, a], [a, b]));
  // The ends are of different types, and their ids are alike.
  expect(ends(edges.names)).toEqual(pairs([a, a]));
  expect(ends((await db.tag(a).collection()).edges.names)).toEqual(pairs([a, a]));
});
