import type { SentRequest } from "edgetable";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { adoptedGraph, ownGraph } from "./models.ts";
import type { Table } from "./refusal.ts";

/** A table of each model, with a few rows in the first. */
export interface Tables {
  readonly engine: TestEngine;
  readonly own: ReturnType<ReturnType<typeof ownGraph>["connect"]>;
  readonly adopted: ReturnType<ReturnType<typeof adoptedGraph>["connect"]>;
  readonly inOwn: Table;
  readonly inAdopted: Table;
}

export const openTables = async (onRequest: (sent: SentRequest) => void = () => {}): Promise<Tables> => {
  const engine = await openEngine();
  const { transport } = engine;
  const inOwn = { transport, name: engine.freshTableName("own") };
  const inAdopted = { transport, name: engine.freshTableName("adopted") };
  const own = ownGraph(inOwn.name).connect({ transport, onRequest });
  const adopted = adoptedGraph(inAdopted.name).connect({ transport });
  await own.table.create();
  await adopted.table.create();
  await own.student.create({ studentId: "S1", name: "Ann" }).orThrow();
  for (const courseId of ["C1", "C2", "C3"]) {
    await own.course.create({ courseId }).orThrow();
    await own.enrolledIn.link({ studentId: "S1" }, { courseId }, { enrolledAt: `2024-0${courseId.slice(1)}` }).orThrow();
  }
  await own.room.create({ floor: 1, door: "a" }).orThrow();
  // The first page of a table leaves the secret of its cursors there; no test counts that as a write of its own.
  await own.student({ studentId: "S1" }).out("enrolledIn").page({ limit: 1 });
  return { engine, own, adopted, inOwn, inAdopted };
};

/** What the types refuse, for the callers who have none. */
export const untyped = (value: unknown): never => value as never;
