import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { createStreamHandler, replayDeadLetters } from "./index.ts";

const graph = defineGraph({
  table: "Education",
  nodes: {
    student: node({ key: "STUDENT#{id}", schema: z.object({ id: z.string(), name: z.string() }) }),
    course: node({ key: "COURSE#{id}", schema: z.object({ id: z.string(), title: z.string() }) }),
  },
  edges: { enrolledIn: edge({ from: "student", to: "course", schema: z.object({ grade: z.number().optional() }) }) },
  parts: { room: part({ of: "course", key: "ROOM#{room}", schema: z.object({ room: z.string(), seats: z.number() }) }) },
});

test("events have the rows of the model", () => {
  createStreamHandler(graph, {
    greet: {
      on: "student",
      created: ({ before, after, kind, changed }) => {
        expectTypeOf(before).toEqualTypeOf<undefined>();
        expectTypeOf(after.name).toEqualTypeOf<string>();
        expectTypeOf(kind).toEqualTypeOf<"created">();
        expectTypeOf(changed).toEqualTypeOf<readonly ("id" | "name")[]>();
      },
      expired: ({ before }) => expectTypeOf(before.id).toEqualTypeOf<string>(),
    },
    renamed: { on: "course", whenChanged: ["title"], updated: ({ before, after }) => void [before.title, after.title] },
    grades: {
      on: "enrolledIn",
      relinked: ({ after }) => {
        expectTypeOf(after.grade).toEqualTypeOf<number | undefined>();
        expectTypeOf(after.from.id).toEqualTypeOf<string>();
      },
    },
    rooms: { on: "room", event: ({ after }) => expectTypeOf(after?.seats).toEqualTypeOf<number | undefined>() },
    all: {
      on: "*",
      event: (event) => {
        if (event.name === "course" && event.kind === "deleted") expectTypeOf(event.before.title).toEqualTypeOf<string>();
      },
      unknown: ({ reason }) => expectTypeOf(reason).toEqualTypeOf<string>(),
    },
  });
});

test("what the model does not have is refused", () => {
  // @ts-expect-error no such node, edge or part
  createStreamHandler(graph, { mail: { on: "studnt", event: () => 1 } });
  // @ts-expect-error nodes are not linked
  createStreamHandler(graph, { mail: { on: "student", linked: () => 1 } });
  // @ts-expect-error no such attribute
  createStreamHandler(graph, { mail: { on: "student", whenChanged: ["nam"], event: () => 1 } });
  void (() => replayDeadLetters(graph.connect(), { mail: { on: "student", event: ({ replayed }) => expectTypeOf(replayed).toEqualTypeOf<boolean>() } }));
});
