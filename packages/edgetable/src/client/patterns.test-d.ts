import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineGraph, definePatterns, edge, node } from "../index.ts";

const user = node({ key: "USER#{id}", schema: z.object({ id: z.string(), role: z.enum(["reader", "writer"]) }) });
const team = node({ key: "TEAM#{team}", schema: z.object({ team: z.string() }) });
const post = node({ key: "POST#{post}", schema: z.object({ post: z.string() }) });
const memberOf = edge({ from: "user", to: "team", schema: z.object({ as: z.enum(["lead", "guest"]), since: z.string() }), key: ["as"] });
const follows = edge({ from: ["user", "team"], to: ["user", "team"] });
const graph = defineGraph({ table: "T", nodes: { user, team, post }, edges: { memberOf, follows } });

const { patterns } = definePatterns(graph, {
  guests: {
    question: "Who is in a team in one of two ways?",
    example: { team: "red", as: "guest" },
    ask: (db, { team: name, as }) => db.team({ team: name }).in("memberOf").where({ as }).edges(),
  },
  followers: {
    question: "Who follows several, users or teams?",
    example: { of: [{ type: "user", id: "1" }, { type: "team", team: "red" }], as: ["lead", "guest"], most: 3 },
    ask: (db, { of, most }) => db.user({ id: "1" }).out("follows").walk().among(of).ids({ budget: { depth: most } }),
  },
  chosen: {
    question: "What of a role that the caller names?",
    example: { role: "reader" },
    ask: (db, { role }: { readonly role: "reader" | "writer" }) => db.user({ id: role === "writer" ? "w" : "r" }).get(),
  },
});

test("literals of an example need no `as const`, and stand for other values of their type", () => {
  expectTypeOf<Parameters<typeof patterns.guests.ask>[1]>().toEqualTypeOf<{ readonly team: string; readonly as: string }>();
  const asked = null as unknown as Parameters<typeof patterns.followers.ask>[1];
  expectTypeOf(asked.as).toEqualTypeOf<readonly ("lead" | "guest")[]>();
  expectTypeOf(asked.most).toEqualTypeOf<number>();
  const db = graph.connect();
  void (() => patterns.guests.ask(db, { team: "blue", as: "lead" }));
  // @ts-expect-error -- a number is no name of a team
  void (() => patterns.guests.ask(db, { team: 1, as: "lead" }));
});

test("what an example lacks is refused where it is asked for", () => {
  definePatterns(graph, {
    wrong: {
      question: "What is not there?",
      example: { id: "1" },
      // @ts-expect-error -- no such parameter
      ask: (db, { ids }) => db.user({ id: ids }).get(),
    },
  });
});
