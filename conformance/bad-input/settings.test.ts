import { expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, type EdgetableError, isEdgetableError, node, part, sum } from "../../packages/edgetable/src/index.ts";

// Callers in JavaScript, and types that somebody has widened, give settings of any form. Whatever they give, a model is accepted, or
// refused by a message that names the place and says what to write.

const wrong: Readonly<Record<string, unknown>> = {
  text: "zz",
  number: 5,
  negative: -1,
  fraction: 1.5,
  "not a number": Number.NaN,
  null: null,
  true: true,
  false: false,
  "no members": [],
  texts: ["zz"],
  numbers: [5],
  "no names": {},
  "an unknown name": { zz: 1 },
  "a function": () => 1,
  "a date": new Date(0),
};

const a = {
  key: "A#{a}",
  schema: z.object({ a: z.string(), n: z.number(), s: z.string(), e: z.number().optional(), d: z.date() }),
  dates: ["d"],
};
const e = { from: "a", to: "b", schema: z.object({ x: z.string(), w: z.number() }), onDelete: { from: "cascade", to: "cascade" } };
const p = { of: "a", key: "P#{k}", schema: z.object({ k: z.string(), w: z.number() }) };

interface Settings {
  readonly a?: object;
  readonly e?: object;
  readonly p?: object;
  readonly derived?: object;
  readonly graph?: object;
}
const define = (settings: Settings): unknown =>
  defineGraph({
    table: "Settings",
    nodes: {
      a: node({ ...a, ...settings.a } as never),
      b: node({ key: "B#{b}", schema: z.object({ b: z.string() }), derived: { c: count({ in: "e" }), ...settings.derived } } as never),
    },
    edges: { e: edge({ ...e, ...settings.e } as never) },
    parts: { p: part({ ...p, ...settings.p } as never) },
    ...settings.graph,
  } as never);

const each = (
  place: string,
  names: string,
  settings: (given: object) => Settings,
): readonly (readonly [string, (value: unknown) => Settings])[] =>
  names.split(" ").map((name) => [`${place}.${name}`, (value) => settings({ [name]: value })]);
const indexed = (index: object, entry: unknown = "s"): Settings => ({
  graph: { indexes: { byValue: { entries: { a: entry }, ...index } } },
});
const shards = { count: 2, per: "s", hot: { x: 4 } };

const places = [
  ...each(
    "node",
    "key schema dates derived expect fields immutable mirror reads renamed retyped stored timestamps ttl unique validate version",
    (a) => ({ a }),
  ),
  ...each(
    "edge",
    "from to by copies dates derived ends expect immutable key maxDegree multiplicity onDelete orderBy reads renamed retyped schema sides stored symmetric timestamps ttl validate version",
    (e) => ({ e }),
  ),
  ...each("part", "of key schema owner copies expect dates ttl timestamps version validate reads", (p) => ({ p })),
  ...each("graph", "table nodes edges parts indexes layout settings", (graph) => ({ graph })),
  ...each("index", "entries shards projection zz", indexed),
  ...each("entry", "by split sparse shards expect", (entry) => indexed({}, { by: "s", ...entry })),
  ...each("shards", "count by per hot", (given) => indexed({}, { by: "s", shards: { ...shards, ...given } })),
  ...each("hot", "x", (hot) => indexed({}, { by: "s", shards: { ...shards, hot } })),
  ...each("entries", "a", (entries) => indexed({ entries })),
  ...each("count", "in out parts where freshness within shards zz", (given) => ({ derived: { q: count({ in: "e", ...given } as never) } })),
  ...each("sum", "of freshness", (given) => ({ derived: { q: sum({ in: "e", of: "w", ...given } as never) } })),
  ...each("derived", "q", (derived) => ({ derived })),
  ...each("copies", "from to", (copies) => ({ e: { copies } })),
  ...each("copies.from", "q", (from) => ({ e: { copies: { from } } })),
  ...each("copy", "of freshness within beyond", (copy) => ({ e: { copies: { from: { q: { of: "s", ...copy } } } } })),
  ...each("onDelete", "from", (onDelete) => ({ e: { onDelete } })),
  ...each("maxDegree", "from", (maxDegree) => ({ e: { maxDegree } })),
  ...each("timestamps", "created as optional", (timestamps) => ({ a: { timestamps } })),
  ...each("expect", "bytes count rowsPerValue rowsPerRange", (expect) => ({ a: { expect } })),
  ...each("settings", "stream", (settings) => ({ graph: { settings } })),
];

test.each(places)("%s", (_, settings) => {
  for (const [what, value] of Object.entries(wrong)) {
    try {
      define(settings(value));
    } catch (error) {
      expect([what, isEdgetableError(error, "schema.invalidModel")]).toEqual([what, true]);
      // What follows from a value of the wrong form may be told after it.
      const [first] = (error as EdgetableError).details["findings"] as readonly { readonly message: string }[];
      expect([what, first?.message]).toEqual([
        what,
        expect.not.stringMatching(/is not a function|\[object|TypeError|convert undefined|of undefined|^undefined/),
      ]);
      expect([what, String(error)]).toEqual([what, expect.not.stringMatching(/is not a function|TypeError|convert undefined/)]);
    }
  }
});
