import { isEdgetableError, type LoadReport } from "edgetable";
import type { Ending, WriteRecord } from "../record.ts";
import { jobOptions, persist, type Actor, type Made } from "./actor.ts";
import { isAmbiguous } from "../run-clients.ts";
import type { LoadCommand } from "./commands.ts";
import { idRow, nodeObject } from "./names.ts";

const reportOf = (error: unknown): LoadReport | undefined =>
  isEdgetableError(error) ? (error.details["report"] as LoadReport | undefined) : undefined;

/**
 * Takes a run's word for each row that it wrote, or named; of the others it says nothing. What is named
 * as not written was not written, unless an answer was lost, or an earlier run may have done it.
 */
const hear = (endings: Ending[], doubtful: boolean, { skipped, position, failures }: LoadReport): void => {
  for (let row = skipped; row < Math.min(position, endings.length); row++) endings[row] = "ok";
  for (const { row, error } of failures) endings[row] = doubtful || isAmbiguous(error) ? "ambiguous" : "failed";
};

/** Of rows of the same item, the last one stands; one before it may have been seen. */
const lastOf = (rows: LoadCommand["rows"]): ReadonlyMap<string, number> =>
  new Map(rows.map(({ type, id }, at) => [nodeObject(type, id), at]));

/** Begins a job again after errors that allow it; what is no job runs once. */
const loadAll = async (actor: Actor, rows: readonly unknown[], { named, number }: { readonly named: boolean; readonly number: number }) => {
  const { client } = actor;
  const before = client.lostAnswers();
  const endings: Ending[] = rows.map(() => "ambiguous");
  const reports: LoadReport[] = [];
  const heard = (report: LoadReport | undefined): void => {
    if (!report) return;
    hear(endings, reports.length > 0 || client.lostAnswers() > before, report);
    reports.push(report);
  };
  const options = {
    order: "kept",
    concurrency: 3,
    deadline: 6_000,
    ...(named ? { job: `load${number}`, lease: jobOptions.lease } : {}),
  } as const;
  const run = async (): Promise<LoadReport> => {
    try {
      const report = await client.db.load(rows as never, options);
      heard(report);
      return report;
    } catch (error) {
      heard(reportOf(error));
      throw error;
    }
  };
  const { value, errors } = await persist(actor, run, named ? undefined : 1);
  return { value, errors, endings, reports, repeated: reports.length > 1 || client.lostAnswers() > before };
};

/** Loads rows in kept order, as a job or not. */
export const performLoad = async (actor: Actor, { named, rows }: LoadCommand): Promise<Made> => {
  const number = actor.next();
  const valueAt = (at: number): string => `w${number}.${at}`;
  const given = rows.map(({ type, id, handle }, at) => ({
    node: type,
    row: { ...idRow(type, id), value: valueAt(at), ...(handle === undefined ? {} : { handle: `h${handle}` }) },
  }));
  const { value, errors, endings, reports, repeated } = await loadAll(actor, given, { named, number });
  const last = lastOf(rows);
  const writes = rows.map(({ type, id }, at): WriteRecord => {
    const object = nodeObject(type, id);
    const ending = last.get(object) === at ? (endings[at] ?? "missing") : "ambiguous";
    return { effect: { object, kind: "put", value: valueAt(at) }, ending, repeated };
  });
  const said = [...reports.flatMap(({ failures }) => failures.map(({ error }) => error)), ...errors.slice(0, value ? undefined : -1)];
  return { writes, observations: [], named: said, error: value ? undefined : errors.at(-1), ...(named ? { job: `load${number}` } : {}) };
};
