import { z } from "zod";
import type { EdgetableError } from "../errors/edgetable-error.ts";
import type { Job } from "../executor/jobs/job-store.ts";
import { listJobs } from "../executor/jobs/job-store.ts";
import { edge, node, part } from "../schema/definition.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";

const student = node({ key: "STUDENT#{id}", schema: z.object({ id: z.string(), name: z.string().trim() }) });
const course = node({ key: "COURSE#{id}", schema: z.object({ id: z.string(), n: z.int().optional() }) });
const account = node({ key: "ACCOUNT#{id}", schema: z.object({ id: z.string(), email: z.string() }), unique: ["email"], version: true });
const house = node({ key: "HOUSE#{id}", schema: z.object({ id: z.string() }) });
const room = part({ of: "house", key: "ROOM#{n}", schema: z.object({ n: z.string() }) });
const takes = edge({ from: "student", to: "course", schema: z.object({ grade: z.string().optional() }), stored: "twice" });
const knows = edge({ from: "student", to: "student", symmetric: true });
const leads = edge({ from: "student", to: "course", multiplicity: "one-to-one" });

/** A table with nodes, parts and edges of every kind that a load writes. */
export const openLoadLab = (): Promise<WriteLab> =>
  openWriteLab({ table: "Load", nodes: { student, course, account, house }, parts: { room }, edges: { takes, knows, leads } });

/** Forgets what a test did. */
export const empty = async (lab: WriteLab): Promise<void> => {
  lab.hooks = {};
  for (const item of Object.values(await lab.items()))
    await lab.driver.session.send(
      "DeleteItem",
      { TableName: lab.catalog.table, Key: { pk: item["pk"]!, sk: item["sk"]! } },
      lab.driver.context({}),
    );
  lab.sent.length = 0;
};

export const jobsOf = async (lab: WriteLab): Promise<readonly Job[]> => listJobs(lab.driver.session, lab.driver.context({}));

export const errorOf = async (act: () => unknown): Promise<EdgetableError> => {
  try {
    await act();
  } catch (error) {
    return error as EdgetableError;
  }
  throw new Error("nothing was thrown");
};

export const courses = (count: number): readonly object[] =>
  Array.from({ length: count }, (_, at) => ({ node: "course", row: { id: `C${String(at).padStart(4, "0")}`, n: at } }));

export async function* slowly<T>(rows: Iterable<T>): AsyncGenerator<T> {
  for (const row of rows) {
    await Promise.resolve();
    yield row;
  }
}
