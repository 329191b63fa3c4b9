import * as z from "zod/mini";
import type { Calls, Place } from "../calls.ts";
import { callsOver, type Schemas } from "./edgetable/education.ts";

/** Made with the connection, as every candidate makes its model then: an import is an import alone. */
const makeSchemas = (): Schemas => ({
  student: z.object({
    studentId: z.string(),
    name: z.string(),
    email: z.string(),
    yearLevel: z.number(),
    major: z.string(),
    city: z.string(),
    country: z.string(),
    gpa: z.number(),
    active: z.boolean(),
    tags: z.readonly(z.array(z.string())),
  }),
  course: z.object({
    courseId: z.string(),
    name: z.string(),
    professor: z.string(),
    credits: z.number(),
    department: z.string(),
    room: z.string(),
    capacity: z.number(),
    language: z.string(),
    level: z.string(),
    open: z.boolean(),
  }),
  enrolment: z.object({
    enrolledAt: z.string(),
    grade: z.string(),
    status: z.string(),
    credits: z.number(),
    term: z.string(),
    note: z.string(),
  }),
});

/** The same model over the schema library's small form, for what is bundled: zod itself is four times the rest. */
export const connect = (place: Place): Calls => callsOver(makeSchemas(), place);
