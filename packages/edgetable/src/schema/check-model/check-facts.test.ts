import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checkModel } from "../check-model.ts";
import { edge, type GraphDefinition, node, part } from "../definition.ts";
import { average, count, type CopyList, type DerivedAttribute, max, min, sum } from "../derived.ts";

const id = z.string();
const model = (settings: {
  readonly derived?: Readonly<Record<string, DerivedAttribute>>;
  readonly edge?: object;
  readonly course?: object;
  readonly copies?: { readonly from?: CopyList; readonly to?: CopyList };
}): GraphDefinition => ({
  table: "Facts",
  nodes: {
    student: node({ key: "S#{id}", schema: z.object({ id, name: z.string() }), immutable: ["name"] }),
    course: node({
      key: "C#{id}",
      schema: z.object({ id, name: z.string(), endsAt: z.number().optional() }),
      derived: settings.derived ?? {},
      ...settings.course,
    }),
  },
  edges: {
    takes: edge({
      from: "student",
      to: "course",
      schema: z.object({ grade: z.number(), until: z.number().optional() }),
      onDelete: { to: "cascade" },
      ...(settings.copies && { copies: settings.copies }),
      ...settings.edge,
    } as never),
  },
  parts: { room: part({ of: "course", key: "R#{room}", schema: z.object({ room: z.string(), seats: z.number() }) }) },
});
const messages = (settings: Parameters<typeof model>[0]): readonly string[] => checkModel(model(settings)).map(({ message }) => message);

describe("aggregates", () => {
  test("a transaction cannot keep what follows from a copy of the stream", () => {
    const copies = { from: { by: { of: "name", freshness: "stream" } } } as const;
    expect(messages({ copies: { from: [{ of: "name" }] as never } }).join()).toContain(
      'from is [{"of":"name"}]: give a list of attributes',
    );
    expect(messages({ copies, derived: { anns: count({ in: "takes", where: { by: "Ann" } }) } })).toEqual([
      expect.stringContaining('a transaction cannot keep it: "by" is written by the stream or a job, after the transaction'),
    ]);
    expect(messages({ copies, derived: { anns: count({ in: "takes", where: { by: "Ann" }, freshness: "stream" }) } })).toEqual([]);
    expect(messages({ copies, derived: { others: count({ in: "takes", where: { or: [{ not: { by: "Ann" } }] } }) } })).toHaveLength(1);
    expect(messages({ copies: { from: ["name"] }, derived: { anns: count({ in: "takes", where: { name: "Ann" } }) } })).toEqual([]);
  });

  test("that a transaction can keep are accepted, and so are all others by the stream", () => {
    const derived = {
      students: count({ in: "takes" }),
      seats: sum({ parts: "room", of: "seats" }),
      best: max({ in: "takes", of: "grade" }),
    };
    expect(messages({ derived })).toEqual([]);
    expect(messages({ derived: { n: count({ in: "takes", freshness: "stream" }) }, edge: { onDelete: {}, ends: "unchecked" } })).toEqual(
      [],
    );
  });

  test.each([
    ["an unknown edge", { n: count({ in: "take" }) }, {}, 'Did you mean "takes"?'],
    ["the wrong direction", { n: count({ out: "takes" }) }, {}, '"takes" is not an edge that leaves "course"'],
    ["an unknown part", { n: count({ parts: "rom" }) }, {}, 'Did you mean "room"?'],
    ["no source", { n: count({} as never) }, {}, "give one of `in`, `out` and `parts`"],
    ["an unknown attribute", { n: sum({ in: "takes", of: "grad" }) }, {}, 'Did you mean "grade"?'],
    ["an unknown condition", { n: count({ in: "takes", where: { grad: 1 } }) }, {}, 'Did you mean "grade"?'],
    [
      "an unknown condition within others",
      { n: count({ in: "takes", where: { not: { or: [{ grad: 1 }] } } }) },
      {},
      'Did you mean "grade"?',
    ],
    ["a path into an unknown attribute", { n: count({ in: "takes", where: { "grad.best": 1 } }) }, {}, 'Did you mean "grade"?'],
    ["a text that is no path", { n: count({ in: "takes", where: { "grade..a": 1 } }) }, {}, '"grade..a" is not a path within an attribute'],
    [
      "alternatives that are no list",
      { n: count({ in: "takes", where: { or: { grade: 1 } } }) },
      {},
      "`or` takes a list of 1 to 100 conditions",
    ],
    ["nothing that is denied", { n: count({ in: "takes", where: { or: [{ not: {} }] } }) }, {}, "`not` takes conditions"],
    ["a type within others", { n: count({ in: "takes", where: { not: { grade: "5" } } }) }, {}, 'and never "5"'],
    ["a sum of texts", { n: sum({ parts: "room", of: "room" }) }, {}, '"room" is text by its schema, and a sum takes numbers'],
    [
      "a mean of copied texts",
      { n: average({ in: "takes", of: "by" }) },
      { copies: { from: { by: "name" } } },
      '"by" is text by its schema',
    ],
    [
      "a condition of another type",
      { n: count({ in: "takes", where: { grade: "5" } }) },
      {},
      '"grade" is number by its schema, and never "5"',
    ],
    ["a list with one", { n: count({ in: "takes", where: { grade: { in: [1, "2"] } } }) }, {}, 'and never "2"'],
    [
      "a bound of another type",
      { n: count({ parts: "room", where: { room: { gte: 5 } } }) },
      {},
      '"room" is text by its schema, and never 5',
    ],
    [
      "a number that no item holds",
      { n: count({ in: "takes", where: { grade: { gte: Number.NaN } } }) },
      {},
      "compared with the number NaN",
    ],
    [
      "a Date that no item holds",
      { n: count({ in: "takes", where: { grade: { in: [new Date("?")] } } }) },
      {},
      "compared with an invalid Date",
    ],
    ["an unknown comparison", { n: count({ in: "takes", where: { grade: { gtt: 1 } } }) }, {}, '"gtt" is not a comparison for "grade"'],
    ["one within others", { n: count({ in: "takes", where: { or: [{ not: { grade: { gtt: 1 } } }] } }) }, {}, '"gtt" is not a comparison'],
    [
      "one of an end's field",
      { n: count({ in: "takes", where: { from: { id: { like: "a" } } } }) },
      {},
      '"like" is not a comparison for "from.id"',
    ],
    ["a condition on undefined", { n: count({ in: "takes", where: { grade: undefined } }) }, {}, '"grade" is undefined'],
    ["an empty condition", { n: count({ in: "takes", where: { grade: {} } }) }, {}, 'The condition on "grade" is empty'],
    ["an empty list", { n: count({ in: "takes", where: { grade: { in: [] } } }) }, {}, '"in" of "grade" takes a list of 1 to 100 values'],
    ["one bound of two", { n: count({ in: "takes", where: { grade: { between: [1] } } }) }, {}, "takes a list of two values"],
    ["no attribute", { n: sum({ in: "takes" } as never) }, {}, "sum needs `of`"],
    ["a name that is taken", { name: count({ in: "takes" }) }, {}, '"name" is an attribute of the schema already'],
    ["something else", { n: 5 as never }, {}, "make it with count, sum"],
    [
      "a minimum by transaction",
      { n: min({ in: "takes", of: "grade", freshness: "transaction" }) },
      {},
      "has to be found among all others",
    ],
    ["edges that stay behind", { n: count({ in: "takes" }) }, { onDelete: {} }, 'set onDelete.to to "cascade" or "restrict"'],
    ["edges to nodes that are not there", { n: count({ in: "takes" }) }, { ends: "unchecked" }, 'ends: "unchecked"'],
    ["a bound that no stream keeps", { n: count({ in: "takes", within: 5 }) }, {}, "only the stream keeps a bound of staleness"],
    [
      "a bound of no time",
      { n: count({ in: "takes", freshness: "stream", within: 0 }) },
      {},
      "0 is not a number of seconds from 1 to 86,400",
    ],
    ["references", { n: count({ in: "takes" }) }, { stored: "reference", onDelete: {} }, 'it may lead to a "course" that does not exist'],
    ["edges that expire", { n: average({ in: "takes", of: "grade" }) }, { ttl: "until" }, "which no transaction sees"],
  ])("name %s", (_, derived, settings, message) => {
    expect(messages({ derived, edge: settings }).join()).toContain(message);
  });

  test("of a node that expires need the stream", () => {
    expect(messages({ derived: { n: count({ in: "takes" }) }, course: { ttl: "endsAt" } }).join()).toContain('. Set freshness: "stream".');
  });

  test("of edges that stay when their node is deleted need the stream, or a rule for the deletion", () => {
    const edge = { onDelete: {} };
    expect(messages({ derived: { n: count({ in: "takes" }) }, edge }).join()).toContain(
      'set onDelete.to to "cascade" or "restrict". Or set freshness: "stream".',
    );
  });
});

describe("shards", () => {
  const likes = (shards: number) => ({ n: count({ in: "takes", shards }) });
  test("of counts, sums and averages over edges are accepted", () => {
    expect(messages({ derived: { ...likes(8), total: sum({ in: "takes", of: "grade", shards: 8 }) } })).toEqual([]);
  });

  test.each([
    ["one", likes(1), {}, "a whole number from 2 to 64, not 1"],
    ["a fraction", likes(2.5), {}, "not 2.5"],
    ["parts", { n: count({ parts: "room", shards: 8 }) }, {}, "their node's own partition"],
    ["the stream", { n: count({ in: "takes", shards: 8, freshness: "stream" }) }, {}, "the stream and batch jobs do not need them"],
    ["another number", { ...likes(8), m: count({ in: "takes", shards: 4 }) }, {}, "with 4 shards, and every link would still meet"],
    ["none beside it", { ...likes(8), m: count({ in: "takes" }) }, {}, "with no shards"],
    ["a restricted end", likes(8), { edge: { onDelete: { to: "restrict" } } }, 'Set it to "cascade"'],
    ["a limited end", likes(8), { edge: { maxDegree: { to: 5 } } }, 'has a limit at "to"'],
    ["copies that each link checks", likes(8), { copies: { to: ["endsAt"] } }, "which each link checks"],
  ])("%s are refused", (_, derived, more, message) => {
    expect(messages({ derived, ...more }).join()).toContain(message);
  });

  test("of more counters than a deletion can mark are refused", () => {
    const derived = { ...likes(64), m: count({ out: "knows", shards: 64 }) };
    const edges = { knows: edge({ from: "course", to: "course", onDelete: { from: "cascade" } }) };
    const definition = model({ derived });
    expect(
      checkModel({ ...definition, edges: { ...definition.edges, ...edges } })
        .map(({ message }) => message)
        .join(),
    ).toContain("128 counters");
  });
});

describe("copies", () => {
  test("are accepted with their freshness", () => {
    expect(messages({ copies: { to: ["name"], from: { student: { of: "name", freshness: "immutable" } } } })).toEqual([]);
  });

  test.each([
    ["a bound without a stream", { to: { title: { of: "name", within: 9 } } }, 'set freshness: "stream", or leave it out'],
    ["an unknown attribute", { to: ["nam"] }, 'Did you mean "name"?'],
    ["a name that is taken", { to: { grade: "name" } }, "is an attribute here already"],
    ["two copies of one name", { from: ["name"], to: ["name"] }, "is copied from both ends"],
    [
      "an immutable copy of what may change",
      { to: { title: { of: "name", freshness: "immutable" } } },
      "may change, and an immutable copy would not",
    ],
    ["an unknown freshness", { to: { title: { of: "name", freshness: "soon" as never } } }, '"soon" is not a freshness'],
  ] as const)("name %s", (_, copies, message) => {
    expect(messages({ copies }).join()).toContain(message);
  });

  test("of a derived attribute follow by the stream", () => {
    expect(messages({ derived: { students: count({ in: "takes" }) }, copies: { to: ["students"] } }).join()).toContain("is derived itself");
  });

  test("onto edges whose values the same node takes are no circle, if they are of other attributes", () => {
    const copies: CopyList = { title: { of: "name", freshness: "stream" } };
    expect(messages({ derived: { best: max({ in: "takes", of: "grade" }) }, copies: { to: copies } })).toEqual([]);
  });

  test("that lead back to where they began are refused", () => {
    const total = sum({ in: "takes", of: "total", freshness: "stream" });
    expect(messages({ derived: { total }, copies: { to: { total: { of: "total", freshness: "stream" } } } }).join()).toContain(
      "it depends on itself",
    );
  });
});
