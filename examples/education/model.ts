import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";

/**
 * Students and courses, as AWS re:Post publishes them: the node's own item is `METADATA`, and the index
 * swaps the two ids of an enrolment under hyphenated attribute names.
 */
export const education = defineGraph({
  table: "Education",
  nodes: {
    student: node({
      key: "STUDENT#{studentId}",
      schema: z.object({ studentId: z.string(), name: z.string(), email: z.email(), yearLevel: z.int() }),
      expect: { bytes: 110 },
    }),
    course: node({
      key: "COURSE#{courseId}",
      schema: z.object({ courseId: z.string(), name: z.string(), professor: z.string(), credits: z.int() }),
      expect: { bytes: 110 },
    }),
  },
  edges: {
    enrolledIn: edge({
      from: "student",
      to: "course",
      schema: z.object({ enrolledAt: z.iso.datetime({ local: true }), grade: z.string().optional() }),
      immutable: ["enrolledAt"],
      onDelete: { from: "cascade", to: "cascade" },
      expect: { from: 2, to: 2, bytes: 160 },
    }),
  },
  layout: {
    partitionKey: "PK",
    sortKey: "SK",
    typeAttribute: "EntityType",
    indexes: { GSI1: { partitionKey: "GSI1-PK", sortKey: "GSI1-SK" } },
    nodes: {
      student: { type: "STUDENT", keys: { SK: "METADATA" }, attributes: { name: "Name", email: "Email", yearLevel: "YearLevel" } },
      course: { type: "COURSE", keys: { SK: "METADATA" }, attributes: { name: "Name", professor: "Professor", credits: "Credits" } },
    },
    edges: {
      enrolledIn: {
        type: "ENROLLMENT",
        keys: { SK: "{to}", "GSI1-PK": "{to}", "GSI1-SK": "{from}" },
        attributes: { enrolledAt: "EnrollmentDate", grade: "Grade" },
      },
    },
  },
});

export type EducationDb = ReturnType<typeof education.connect>;
