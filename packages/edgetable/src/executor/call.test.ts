import { expect, test } from "vitest";
import { z } from "zod";
import { type Call, defineGraph, edge, node, type Transport } from "../index.ts";

const graph = defineGraph({
  table: "Calls",
  nodes: { city: node({ key: "CITY#{cityId}", schema: z.object({ cityId: z.string(), born: z.string().optional() }) }) },
  edges: { road: edge({ from: "city", to: "city", schema: z.object({}), onDelete: { from: "cascade" } }) },
  indexes: { byBirth: { entries: { city: { by: "born", sparse: true } } } },
});
const refusal = new Error("refused");

/** Calls of every kind, over a transport that refuses what it is given and counts it. */
const refused = (): { readonly calls: Readonly<Record<string, Call<unknown>>>; readonly sent: () => number } => {
  let sent = 0;
  const send: Transport["send"] = async () => {
    sent++;
    throw refusal;
  };
  const db = graph.connect({ transport: { send, close: () => undefined }, cursorSecret: "secret".padEnd(43, "-") });
  const [a, b] = [{ cityId: "a" }, { cityId: "b" }] as const;
  const calls = {
    get: db.city.get(a),
    put: db.city.put(a),
    delete: db.city.delete(a),
    link: db.road.link(a, b),
    ids: db.city(a).out("road").ids(),
    page: db.city(a).out("road").page({ limit: 2 }),
    find: db.find("city").where({ born: "1900" }).rows(),
    walk: db.city(a).out("road").out("road").ids(),
    batch: db.batch([db.city.put(a)]),
  };
  return { calls: calls as never, sent: () => sent };
};

test.each(Object.keys(refused().calls))("%s: catch and finally are those of a promise, and make the call once", async (kind) => {
  const { calls, sent } = refused();
  const call = calls[kind] as Call<unknown>;
  expect(sent()).toBe(0);
  let settled = 0;
  expect(await call.catch((reason: unknown) => ["caught", reason])).toEqual(["caught", refusal]);
  const requests = sent();
  expect(requests).toBeGreaterThan(0);
  await expect(call.finally(() => settled++)).rejects.toBe(refusal);
  await expect(call).rejects.toBe(refusal);
  expect([settled, sent()]).toEqual([1, requests]);
});
