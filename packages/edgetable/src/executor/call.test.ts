import { expect, test } from "vitest";
import { z } from "zod";
import { type Call, defineGraph, edge, EdgetableError, node, type Transport } from "../index.ts";

const graph = defineGraph({
  table: "Calls",
  nodes: { city: node({ key: "CITY#{cityId}", schema: z.object({ cityId: z.string(), born: z.string().optional() }) }) },
  edges: { road: edge({ from: "city", to: "city", schema: z.object({}), onDelete: { from: "cascade" } }) },
  indexes: { byBirth: { entries: { city: { by: "born", sparse: true } } } },
});
const refusal = new Error("refused");

type Calls = Readonly<Record<string, Call<unknown>>>;

/** Calls of every kind. */
const callsOf = (send: Transport["send"]): Calls => {
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
  return calls as never;
};

/** Calls of every kind, over a transport that refuses what it is given and counts it. */
const refused = (): { readonly calls: Calls; readonly sent: () => number } => {
  let sent = 0;
  const calls = callsOf(async () => {
    sent++;
    throw refusal;
  });
  return { calls, sent: () => sent };
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

test.each(Object.keys(refused().calls))("%s: an error of an answer names the functions that wait for the call", async (kind) => {
  // As from a socket, whose events have none of the program's functions on their stack.
  const send: Transport["send"] = async (operation, input) =>
    new Promise((_, reject) => {
      setTimeout(() => reject(new EdgetableError("execute.rejected", "refused", { request: { operation, input } })), 1);
    });
  const made = (): Call<unknown> => callsOf(send)[kind] as Call<unknown>;
  const awaits = async (): Promise<unknown> => {
    const value = await made();
    return value;
  };
  const runs = async (): Promise<unknown> => {
    const value = await made().run();
    return value;
  };
  const reports = async (): Promise<unknown> => {
    const { value } = await made().report();
    return value;
  };
  const waitsForAll = async (): Promise<unknown> => {
    const [value] = await Promise.all([made(), made()]);
    return value;
  };
  for (const waiting of [awaits, runs, reports, waitsForAll]) {
    const lines: readonly string[] = await waiting().then(
      () => [],
      (error: Error) => (error.stack ?? "").split("\n"),
    );
    expect(lines[0]).toMatch(/^EdgetableError: refused/);
    expect(lines.filter((line) => line.includes(` ${waiting.name} (`))).toHaveLength(1);
    expect(new Set(lines).size).toBe(lines.length);
  }
});
