import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, distinct, edge, max, min, node, part, summarize } from "../index.ts";
import { verify } from "../verify/index.ts";
import { factsLabOfFile } from "./facts-lab.test-support.ts";

const id = z.string();
const expiring = { schema: z.object({ n: id, till: z.date().optional() }), ttl: "till", dates: ["till"] } as const;
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({
        key: "USER#{id}",
        schema: z.object({ id }),
        derived: {
          last: max<Date>({ out: "lent", of: "till", freshness: "stream" }),
          days: distinct({ out: "lent", of: "till", freshness: "stream" }),
          first: min<Date>({ parts: "pass", of: "till", freshness: "stream" }),
        },
      }),
      book: node({ key: "BOOK#{id}", schema: z.object({ id }) }),
    },
    edges: {
      lent: edge({ from: "user", to: "book", key: ["n"], ...expiring }),
      has: summarize(edge({ from: "user", to: "book" }), { last: max<Date>({ along: "lent", of: "till" }) }),
    },
    parts: { pass: part({ of: "user", key: "PASS#{n}", ...expiring }) },
    indexes: { byTime: { entries: { user: { by: "last:date", sparse: true }, has: { by: "last:date", sparse: true } } } },
  });

const lab = factsLabOfFile(modelIn);
const [user, book] = [{ id: "u" }, { id: "b" }];

test("the least and the greatest of times of expiry that are Dates are Dates, also in index keys", async () => {
  const { db } = lab.opened();
  const [early, late] = [new Date("2100-01-01T00:00:00Z"), new Date("2200-01-01T00:00:00Z")];
  await db.user.create(user).orThrow();
  await db.book.create(book).orThrow();
  await db.has.link(user, book).orThrow();
  for (const [n, till] of [
    ["1", late],
    ["2", early],
    ["3", late],
  ] as const) {
    await db.lent.link(user, book, { n, till }).orThrow();
    await db.pass.create(user, { n, till }).orThrow();
  }
  await lab.drain();
  expect(await db.user.get(user)).toEqual({ ...user, last: late, days: 2, first: early });
  expect(await db.has.get(user, book)).toMatchObject({ last: late });
  const after = { last: { gt: early } };
  expect([await db.find("user").where(after).rows(), await db.find("has").where(after).rows()]).toMatchObject([[user], [{ last: late }]]);
  expect((await verify(db, { settle: 10, staleAfter: 10 })).kinds).toEqual([]);
});
