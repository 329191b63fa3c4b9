import { average, count, defineGraph, edge, node, part, sum } from "edgetable";
import { z } from "zod";

const id = z.string();
const mixed = z.union([z.number(), z.string()]).optional();

/** A model whose every kind of derived fact is kept by transactions. */
export const factsModel = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({
        key: "STUDENT#{id}",
        schema: z.object({ id, name: z.string() }),
        version: true,
        derived: { courses: count({ out: "takes" }), coded: count({ out: "takes", where: { code: { exists: true } } }) },
      }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id, name: z.string(), code: z.string().optional() }),
        unique: ["code"],
        derived: {
          students: count({ in: "takes" }),
          passed: count({ in: "takes", where: { grade: { gte: 5 } } }),
          points: sum({ in: "takes", of: "grade" }),
          mean: average({ in: "takes", of: "grade" }),
          rooms: count({ parts: "room" }),
          annsRooms: count({ parts: "room", where: { course: "ann" } }),
          seats: sum({ parts: "room", of: "seats" }),
          size: average({ parts: "room", of: "size" }),
          friends: count({ out: "near" }),
          fans: count({ in: "likes", shards: 2 }),
          stars: sum({ in: "likes", of: "stars", shards: 2 }),
        },
      }),
    },
    edges: {
      takes: edge({
        from: "student",
        to: "course",
        schema: z.object({ term: z.string(), grade: z.number().optional() }),
        key: ["term"],
        copies: { to: { course: "name", code: "code" }, from: { student: "name" } },
        orderBy: "course",
        onDelete: { from: "cascade", to: "cascade" },
      }),
      likes: edge({
        from: "student",
        to: "course",
        schema: z.object({ stars: mixed, mood: z.string().optional() }),
        onDelete: { from: "cascade", to: "cascade" },
      }),
      near: edge({ from: "course", to: "course", symmetric: true, onDelete: { from: "cascade", to: "cascade" } }),
      follows: edge({
        from: "student",
        to: "student",
        stored: "twice",
        copies: { to: { followed: "name" } },
        ends: "unchecked",
        onDelete: { from: "cascade" },
      }),
    },
    parts: {
      room: part({
        of: "course",
        key: "ROOM#{room}",
        schema: z.object({ room: z.string(), seats: z.number().optional(), size: mixed }),
        copies: { course: "name" },
      }),
    },
    indexes: {
      bySize: { entries: { course: "students:number" } },
      byMean: { entries: { course: { by: ["mean:number"], sparse: true } } },
      byCourse: { entries: { takes: "course" } },
    },
  });

export type FactsDb = ReturnType<ReturnType<typeof factsModel>["connect"]>;
