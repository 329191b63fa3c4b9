import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, type Effects, part, type Timestamps } from "edgetable";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { propertyRuns } from "../engines/property-runs.ts";

/**
 * Times under random writes of two writers whose clocks differ: `created` is that of the write that made the row and never
 * changes, `modified` that of the last write that took effect, in the row and in every copy and index of it.
 */

const text = z.string().optional();
const modelOf = (table: string, names: Timestamps) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id: z.string(), text }), timestamps: true, version: true, unique: ["text"] }),
      team: node({ key: "TEAM#{id}", schema: z.object({ id: z.string(), text }), timestamps: names }),
    },
    parts: { post: part({ of: "team", key: "POST#{n:4}", schema: z.object({ n: z.int(), text }), timestamps: names }) },
    edges: {
      joined: edge({ from: "user", to: "team", schema: z.object({ text }), timestamps: names, stored: "twice", ends: "unchecked" }),
      friend: edge({ from: "user", to: "user", schema: z.object({ text }), timestamps: true, symmetric: true, ends: "unchecked" }),
    },
    indexes: { byTime: { entries: { user: { by: ["modified"] } } } },
  });

const HOSTILE = ["created", "#", "$~", "constructor", "é\u{1f600}", "2026-01-01T00:00:00.000Z"];

const commands = fc.array(
  fc.record({
    kind: fc.constantFrom("create", "put", "putRead", "update", "upsert", "delete", "transact", "batch", "load"),
    of: fc.constantFrom("user", "team", "post", "joined", "friend"),
    id: fc.nat({ max: 2 }),
    other: fc.nat({ max: 1 }),
    writer: fc.nat({ max: 1 }),
    tick: fc.integer({ min: -5000, max: 5000 }),
    stated: fc.boolean(),
  }),
  { minLength: 5, maxLength: 25 },
);
type Command = typeof commands extends fc.Arbitrary<readonly (infer C)[]> ? C : never;

/** What is known of a row: when it was created and last written. */
interface Times {
  readonly created: number;
  readonly modified: number;
}

type Call = never;
type Api = Readonly<Record<string, (...given: readonly unknown[]) => Call>>;
interface Outcome {
  readonly ok: boolean;
}

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const forms = [
  ["text", true, (time: number) => new Date(time).toISOString()],
  ["seconds", { created: "constructor", modified: "_md", as: "seconds" }, (time: number) => Math.floor(time / 1000)],
  ["dates", { created: "é", as: "date" }, (time: number) => new Date(time)],
] as const;

for (const [name, timestamps, shown] of forms)
  test(`created never changes and modified follows every write: ${name}`, async () => {
    let now = Date.UTC(2026, 0, 1);
    const effects: Effects = { now: () => now, random: Math.random, sleep: async () => undefined } as never;
    const own = { created: "created", modified: "modified", ...(timestamps === true ? {} : timestamps) };
    const graph = modelOf(engine.freshTableName("times"), timestamps);
    const dbs = [0, 1].map(() => graph.connect({ transport: engine.transport, advanced: { effects } }));
    await dbs[0]!.table.create();
    let scope = 0;
    await fc.assert(
      fc.asyncProperty(commands, async (history) => {
        scope++;
        const known = new Map<string, Times>();
        for (const command of history) await step(command);

        async function step({ kind, of, id, other, writer, tick, stated }: Command): Promise<void> {
          now += tick;
          const db = dbs[writer] as never as Readonly<Record<string, Api>> & {
            transact(calls: readonly unknown[]): Promise<Outcome>;
            batch(calls: readonly unknown[]): { orThrow(): Promise<unknown> };
            load(rows: readonly unknown[]): Promise<{ readonly failed: number }>;
          };
          const api = db[of]!;
          const nameOf = (at: number): Record<string, string> => ({ id: `${HOSTILE[at]}${scope}` });
          const isEdge = of === "joined" || of === "friend";
          const [a, b] = of === "friend" && id < other ? [other, id] : [id, other];
          const at: readonly unknown[] = isEdge
            ? [nameOf(a), nameOf(of === "friend" ? b + 3 : b)]
            : of === "post"
              ? [nameOf(id), { n: other }]
              : [nameOf(id)];
          const key = JSON.stringify([of, at]);
          const fields = of === "user" || of === "friend" ? { created: "created", modified: "modified" } : own;
          const form = of === "user" || of === "friend" ? (time: number): unknown => new Date(time).toISOString() : shown;
          const before = known.get(key);
          const read = async (): Promise<Record<string, unknown> | undefined> => (await api["get"]!(...at)) as never;
          const body = { text: of === "user" ? `${id} ${scope} ${now}` : `${now}` };
          const past = now - 1_000_000;
          const row = (more: object = {}): readonly unknown[] =>
            isEdge
              ? [...at, { ...body, ...more }]
              : of === "post"
                ? [at[0], { ...(at[1] as object), ...body, ...more }]
                : [{ ...(at[0] as object), ...body, ...more }];
          const [create, update, remove] = isEdge ? ["link", "relink", "unlink"] : ["create", "update", "delete"];
          let outcome: Outcome = { ok: true };
          let created = before?.created ?? now;
          switch (kind) {
            case "create":
              outcome = await api[create]!(...row());
              expect(outcome.ok, "create").toBe(before === undefined);
              break;
            case "put":
              outcome = await api["put"]!(...row(stated ? { [fields.created]: form(past), [fields.modified]: 5 } : {}));
              break;
            case "putRead": {
              const { from: _from, to: _to, n: _n, id: _id, text: _text, ...seen } = (await read()) ?? {};
              outcome = await api["put"]!(...row(seen));
              break;
            }
            case "update":
              outcome = await api[update]!(...at, body);
              expect(outcome.ok, "update").toBe(before !== undefined);
              break;
            case "upsert":
              outcome = await api["upsert"]!(...row(), body);
              break;
            case "delete":
              outcome = await api[remove]!(...at);
              expect(outcome.ok, "delete").toBe(before !== undefined);
              known.delete(key);
              // Parts go with their node.
              if (of === "team" && before) for (const n of [0, 1]) known.delete(JSON.stringify(["post", [at[0], { n }]]));
              return;
            case "transact":
              outcome = await db.transact([api["put"]!(...row())]);
              break;
            case "batch":
              if (of === "user") return;
              await db.batch([api["put"]!(...row(stated ? { [fields.created]: form(past) } : {}))]).orThrow();
              break;
            case "load": {
              const states = stated ? { [fields.created]: form(past) } : {};
              const given = isEdge
                ? { edge: of, from: at[0], to: at[1], attributes: { ...body, ...states } }
                : of === "post"
                  ? { part: of, owner: at[0], row: { ...(at[1] as object), ...body, ...states } }
                  : { node: of, row: { ...(at[0] as object), ...body, ...states } };
              expect((await db.load([given])).failed).toBe(0);
              if (stated) created = past;
            }
          }
          if (outcome.ok) known.set(key, { created, modified: now });
          const times = known.get(key);
          const stored = await read();
          const label = `${JSON.stringify({ kind, of, id, other, stated })} ${key}`;
          expect(stored?.[fields.created], label).toEqual(times && form(times.created));
          expect(stored?.[fields.modified], label).toEqual(times && form(times.modified));
          if (isEdge && stored) {
            const type = of === "friend" ? "user" : "team";
            const edges = await (
              db[type] as never as (id: unknown) => { in(edge: string): { edges(): Promise<readonly Record<string, unknown>[]> } }
            )(at[1])
              .in(of)
              .edges();
            const ends = JSON.stringify(at);
            const back = edges.find((one) =>
              [JSON.stringify([one["from"], one["to"]]), JSON.stringify([one["to"], one["from"]])].includes(ends),
            );
            expect(back?.[fields.created], `${label} back`).toEqual(stored[fields.created]);
            expect(back?.[fields.modified], `${label} back`).toEqual(stored[fields.modified]);
          }
        }
      }),
      propertyRuns(15),
    );
  });
