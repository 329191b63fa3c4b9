import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";

/**
 * Students, the classes they take with a teacher, and where they live. A sort key is a hierarchy
 * (teacher, class; country, state, city), and the index splits the same hierarchy in another place:
 * its first level is the partition. Teachers and homes have no items of their own.
 */
export const school = defineGraph({
  table: "School",
  nodes: {
    student: node({
      key: "STUDENT#{studentId}",
      schema: z.object({ studentId: z.string(), name: z.string() }),
      mirror: true,
      expect: { bytes: 100 },
    }),
    teacher: node({ key: "TEACHER#{teacherId}", schema: z.object({ teacherId: z.string() }), stored: false }),
    home: node({
      key: "HOME#{country}#{state}#{city}",
      schema: z.object({ country: z.string(), state: z.string(), city: z.string() }),
      stored: false,
    }),
  },
  edges: {
    takes: edge({
      from: "student",
      to: "teacher",
      key: ["class"],
      schema: z.object({ class: z.string(), subject: z.string(), teacherName: z.string() }),
      expect: { from: 2, to: 1, bytes: 150 },
    }),
    // One home each; left undeclared, because the guard of a multiplicity is an item that the published table does not have.
    livesIn: edge({ from: "student", to: "home", expect: { from: 1, to: 1, bytes: 120 } }),
  },
  layout: {
    partitionKey: "PK",
    sortKey: "SK",
    typeAttribute: "TYPE",
    indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
    nodes: {
      student: { type: "STUDENT", keys: { SK: "{key}", GSI1PK: "{key}", GSI1SK: "{key}" }, attributes: { name: "Name" } },
    },
    edges: {
      takes: {
        type: "CLASS",
        keys: { SK: "{to}#CLASS#{class}", GSI1PK: "{to}", GSI1SK: "CLASS#{class}" },
        attributes: { subject: "Subject", teacherName: "Name" },
      },
      livesIn: { type: "HOME", keys: { SK: "{to}", GSI1PK: "COUNTRY#{to.country}", GSI1SK: "HOME#{to.state}#{to.city}" } },
    },
  },
});

export type SchoolDb = ReturnType<typeof school.connect>;
