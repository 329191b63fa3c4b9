import { z } from "zod";
import { describe, expect, test } from "vitest";
import { node } from "../schema/definition.ts";
import { defineGraph } from "./define-graph.ts";
import { combine, definePatterns, explainPatterns } from "./patterns.ts";

const graph = defineGraph({ table: "Users", nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: z.string() }) }) } });

type Users = ReturnType<typeof graph.connect>;
interface User {
  readonly id: string;
}

/** A pattern as an untyped model writes it. */
const asked = (ask: unknown) => definePatterns(graph, { broken: { question: "Broken", example: { id: "1" }, ask } } as never);

describe("definePatterns", () => {
  test("reports every mistake at once", () => {
    const wrong = { a: { example: {}, ask: () => 1 }, b: { question: "B", ask: 5 }, c: null };
    expect(() => definePatterns(graph, wrong as never)).toThrowError(
      expect.objectContaining({
        code: "schema.invalidModel",
        message: [
          "The patterns have 4 mistakes:",
          "- a: `question` is missing: write the question in words.",
          "- b: `example` is missing: give example parameters, or {} if `ask` needs none.",
          "- b: `ask` must be a function (db, parameters) that returns a call.",
          "- c: this is not a pattern: write { question, example, ask }.",
        ].join("\n"),
      }),
    );
    expect(() => definePatterns(graph, null as never)).toThrow("Expected an object for patterns");
  });
});

describe("explainPatterns", () => {
  test.each([
    ["a write", (db: Users, id: User) => db.user.create(id), 'Pattern "broken": `ask` must return a read or a walk; this call writes.'],
    ["a batch of writes", (db: Users, id: User) => db.batch([db.user.put(id)]), "this call writes"],
    [
      "a combined write",
      (db: Users, id: User) => combine({ one: db.user.get(id), two: db.user.create(id) as never }, () => 1),
      "one of its calls writes",
    ],
    [
      "an awaited call",
      async (db: Users, id: User) => await db.user.get(id),
      'Pattern "broken": `ask` must return a call without awaiting it.',
    ],
    ["a number", () => 5, "must return a call without awaiting it"],
    ["nothing", () => undefined, "must return a call without awaiting it"],
  ])("refuses %s", async (_, ask, message) => {
    await expect(explainPatterns(asked(ask))).rejects.toMatchObject({
      code: "plan.invalidOption",
      message: expect.stringContaining(message),
    });
  });
});
