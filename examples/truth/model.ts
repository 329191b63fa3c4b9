import { count, defineGraph, edge, node, part, sum } from "edgetable";
import { z } from "zod";

const kinds = {
  table: "College",
  nodes: {
    student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: z.string(), name: z.string() }) }),
    course: node({
      key: "COURSE#{courseId}",
      schema: z.object({ courseId: z.string(), title: z.string(), teacher: z.string() }),
      derived: { students: count({ in: "enrolledIn" }) },
    }),
    invoice: node({
      key: "INVOICE#{invoiceId}",
      schema: z.object({ invoiceId: z.string(), due: z.iso.date() }),
      derived: { total: sum({ parts: "bill", of: "amount", freshness: "stream" }) },
    }),
  },
  edges: {
    enrolledIn: edge({ from: "student", to: "course", copies: { to: ["title"] }, onDelete: { from: "cascade", to: "cascade" } }),
  },
  parts: {
    bill: part({ of: "invoice", key: "BILL#{billId}", schema: z.object({ billId: z.string(), amount: z.number() }) }),
  },
};

const bySize = { entries: { course: "students:number" } } as const;
const byTeacher = { entries: { course: "teacher" } } as const;

/** A college in Edgetable's own layout, with one fact of each kind: a copy, a count in an index, a sum. */
export const college = defineGraph({ ...kinds, indexes: { bySize } });

/** The same college later: courses are also found by their teacher. */
export const collegeByTeacher = defineGraph({ ...kinds, indexes: { bySize, byTeacher } });

export type CollegeDb = ReturnType<typeof college.connect>;
export type CollegeByTeacherDb = ReturnType<typeof collegeByTeacher.connect>;
