import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  count,
  combine,
  createLeanTransport,
  defineGraph,
  definePatterns,
  didYouMean,
  edge,
  explainPatterns,
  node,
  part,
  type Read,
  sum,
  summarize,
  type Transport,
} from "edgetable";
import {
  checkGraph,
  describeItem,
  exampleItems,
  explanationText,
  recommendShards,
  rewriteItem,
  shardsOf,
  tableDesign,
} from "edgetable/check";
import { verify } from "edgetable/verify";
import { createSdkTransport } from "edgetable/sdk";
import { createFaultTransport, createWriteHistory, seededRandom, virtualClock } from "@edgetable/testing";
import { z } from "zod";

/** What the examples in doc comments may take for granted: the names that stand in them without a declaration. */
const text = z.string();
const id = { projectId: "P1" };
const start = { fieldId: "start" };

const student = node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: text, name: text }) });
const course = node({ key: "COURSE#{courseId}", schema: z.object({ courseId: text }) });
const project = node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) });
const field = node({ key: "FIELD#{fieldId}", schema: z.object({ fieldId: text }) });
const issue = node({ key: "ISSUE#{issueId}", schema: z.object({ issueId: text }) });
const enrolledIn = edge({ from: "student", to: "course", schema: z.object({ enrolledAt: text.optional() }) });
const inProject = edge({ from: "issue", to: "project" });
const value = edge({ from: "issue", to: "field" });

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { student, course, project, field, issue },
    edges: { enrolledIn, inProject, value },
    indexes: { byValue: { entries: { student: "name" }, shards: 4 } },
  });

const difference = (all: readonly { readonly issueId: string }[], some: readonly { readonly issueId: string }[]): readonly string[] => {
  const out = new Set(some.map((one) => one.issueId));
  return all.map((one) => one.issueId).filter((one) => !out.has(one));
};

/** The names, over a table of the engine. */
export const openLab = async (transport: Transport, table: string) => {
  const education = graphOf(table);
  const db = education.connect({ transport });
  await db.table.create();
  const patterns = definePatterns(education, {
    studentsOfCourse: {
      question: "Which students take a course?",
      example: { courseId: "C1" },
      ask: (client, given: { readonly courseId: string }): Read<unknown> => client.course(given).in("enrolledIn").entries(),
    },
  });
  return {
    z,
    count,
    DynamoDBClient,
    combine,
    createLeanTransport,
    defineGraph,
    definePatterns,
    didYouMean,
    edge,
    explainPatterns,
    node,
    part,
    sum,
    summarize,
    checkGraph,
    describeItem,
    exampleItems,
    rewriteItem,
    shardsOf,
    tableDesign,
    explanationText,
    recommendShards,
    verify,
    createSdkTransport,
    createFaultTransport,
    createWriteHistory,
    seededRandom,
    virtualClock,
    difference,
    education,
    db,
    patterns,
    inner: transport,
    student,
    course,
    enrolledIn,
    id,
    start,
    jobId: "none",
    ann: { studentId: "A", name: "Ann" },
    bob: { studentId: "B", name: "Bob" },
    tom: { studentId: "T" },
    art: { courseId: "ART" },
    rows: [{ node: "student" as const, row: { studentId: "A", name: "Ann" } }],
  };
};

export type Lab = Awaited<ReturnType<typeof openLab>>;
