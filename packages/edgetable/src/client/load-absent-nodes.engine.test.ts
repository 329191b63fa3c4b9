import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { edge, node, part } from "../schema/definition.ts";
import { count, sum } from "../schema/derived.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";
import { loadOf } from "./load.ts";
import { empty } from "./load-lab.test-support.ts";

let lab: WriteLab;
beforeAll(async () => {
  const id = z.string();
  lab = await openWriteLab({
    table: "AbsentNodes",
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id }), derived: { posts: count({ out: "wrote" }) } }),
      post: node({
        key: "POST#{id}",
        schema: z.object({ id, title: z.string().optional() }),
        derived: { authors: count({ in: "wrote" }), stars: sum({ parts: "vote", of: "stars" }) },
      }),
    },
    parts: {
      vote: part({
        of: "post",
        key: "VOTE#{n:3}",
        schema: z.object({ n: z.int(), stars: z.int(), note: z.string().optional() }),
        copies: { title: "title" },
      }),
    },
    edges: { wrote: edge({ from: "user", to: "post", onDelete: { from: "cascade", to: "cascade" } }) },
  });
});
beforeEach(() => empty(lab));
afterAll(() => lab.stop());

const users = (n: number) => Array.from({ length: n }, (_, at) => ({ node: "user" as const, row: { id: `u${at}` } }));
const posts = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => ({ node: "post" as const, row: { id: `p${from + at}` } }));
const edges = (n: number, ofPosts: number) =>
  Array.from({ length: n }, (_, at) => ({
    edge: "wrote" as const,
    from: { id: `u${at % 7}` },
    to: { id: `p${(at * 5 + Math.floor(at / 7)) % ofPosts}` },
    attributes: {},
  }));
const votes = (n: number, ofPosts: number) =>
  Array.from({ length: n }, (_, at) => ({ part: "vote" as const, owner: { id: `p${at % ofPosts}` }, row: { n: at, stars: 1 } }));

for (const [name, rows] of Object.entries({ edges: edges(280, 40), parts: votes(280, 40) }))
  test(`${name} whose nodes never come take a few requests for each group of rows, and not one for each row`, async () => {
    const load = loadOf(lab.driver);
    const report = await load([...users(7), ...rows] as never, { named: 1000 });
    expect(report).toMatchObject({ items: 7, failed: 280 });
    const { error } = report.failures[0] as { readonly error: Error };
    expect(error.message).toMatch(/^It was not written: endMissing \((to|owner) \{"id":"p\d+"\}\)\.$/);
    expect(new Set(report.failures.map(({ row }) => row)).size).toBe(280);
    expect(lab.sent.length).toBeLessThan(60);
  });

for (const order of ["any", "kept"] as const)
  test(`rows of a group whose nodes are there are written, and the others when theirs come, in order ${order}`, async () => {
    const load = loadOf(lab.driver);
    const input = [...users(7), ...posts(0, 10), ...edges(280, 40), ...votes(60, 40), ...posts(10, 30)];
    const report = await load(input as never, { order, named: 1000 });
    const lost = new Set(["p30", "p31", "p32", "p33", "p34", "p35", "p36", "p37", "p38", "p39"]);
    const missing = [...edges(280, 40).map(({ to }) => to.id), ...votes(60, 40).map(({ owner }) => owner.id)].filter((id) => lost.has(id));
    expect(report.failed).toBe(missing.length);
    const items = Object.entries(await lab.items());
    const counted = (id: string, attribute: string) => {
      const value = items.find(([key]) => key === `POST#${id} / #`)?.[1][attribute];
      return value && "N" in value ? Number(value.N) : 0;
    };
    for (let at = 0; at < 30; at++) {
      const id = `p${at}`;
      const to = new Set(edges(280, 40).flatMap((one) => (one.to.id === id ? [one.from.id] : [])));
      expect([id, counted(id, "authors")]).toEqual([id, to.size]);
      expect([id, counted(id, "stars")]).toEqual([id, votes(60, 40).filter(({ owner }) => owner.id === id).length]);
    }
  });

for (const order of ["any", "kept"] as const)
  test(`of rows that make one item, those that wait for its node are written or fail, whatever comes of the last one, in order ${order}`, async () => {
    const load = loadOf(lab.driver);
    const at = (n: number, of: string, long = false) => ({
      part: "vote" as const,
      owner: { id: of },
      row: { n, stars: 1, ...(long && { note: "x".repeat(500_000) }) },
    });
    const input = [at(1, "p1"), at(1, "p1", true), at(2, "p2", true), at(2, "p2"), at(3, "p3"), ...posts(1, 4), at(3, "p3", true)];
    const report = await load(input as never, { order, named: 100 });
    const items = await lab.items();
    expect(report.failures.map(({ row, error }) => [row, error.code])).toEqual([
      [0, "request.itemTooLarge"],
      [1, "request.itemTooLarge"],
      [8, "request.itemTooLarge"],
    ]);
    expect(report.failed).toBe(3);
    expect(Object.keys(items).filter((key) => key.includes("VOTE"))).toEqual(["POST#p2 / VOTE#002", "POST#p3 / VOTE#003"]);
  });
