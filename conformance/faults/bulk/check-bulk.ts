import type { ErrorCode, Job } from "edgetable";
import { checkThrown } from "../check-errors.ts";
import { checkRegisters } from "../check-registers.ts";
import { checkTable } from "../check-table.ts";
import type { Clients } from "../clients.ts";
import { readRawTable, type Decoded, type RawTable } from "../raw-table.ts";
import { ABSENT, type CallRecord } from "../record.ts";
import { FIRST } from "../run-clients.ts";
import type { Made } from "./actor.ts";
import { bulkCounts, type BulkCommand, type BulkEdge } from "./commands.ts";
import type { BulkDb } from "./model.ts";
import { endObject, readEdgeObject } from "./names.ts";

/** A call of a history in bulk. */
export interface BulkRecord extends CallRecord, Made {
  readonly command: BulkCommand;
}

const expected: Readonly<Partial<Record<ErrorCode, boolean>>> = {
  "job.busy": true,
  // It ended between being listed and being resumed.
  "job.notFound": false,
  // A row's own failure: its unique value is taken.
  "execute.notWritten": false,
};

const registerOf = ({ shape, row }: Decoded): readonly (readonly [string, string])[] => {
  const value = String(row["value"]);
  if (shape.kind === "edge") return shape.role === "own" ? [[readEdgeObject(shape.definition as BulkEdge, row), value]] : [];
  if (shape.definition !== "note") return [[`${shape.definition}:${String(row[`${shape.definition}Id`])}`, value]];
  return Number(row["line"]) < bulkCounts.line ? [[`note:${String(row["groupId"])}/${String(row["line"])}`, value]] : [];
};

const initial = (object: string): string => (/^(item|user|group):/.test(object) ? FIRST : ABSENT);

const lastLook = (calls: readonly CallRecord[], final: ReadonlyMap<string, string>): CallRecord => {
  const objects = new Set([...final.keys(), ...calls.flatMap(({ writes }) => writes.map(({ effect }) => effect.object))]);
  const observations = [...objects].map((object) => ({ object, value: final.get(object) ?? ABSENT, strong: true, moving: false }));
  const [end, until] = [calls.length * 2, Math.max(0, ...calls.map((call) => call.until))];
  const times = { invoke: end, respond: end + 1, from: until, until };
  return { client: -1, text: "the table in the end", ...times, writes: [], observations, error: undefined };
};

/** Nothing outlives the node that it was tied to. */
const checkEnds = ({ decoded }: RawTable, final: ReadonlyMap<string, string>): readonly string[] =>
  decoded.flatMap(({ shape, row }) => {
    if (shape.kind !== "edge")
      return shape.definition === "note" && !final.has(`group:${String(row["groupId"])}`)
        ? [`${JSON.stringify(row)} outlived its node`]
        : [];
    const edge = shape.definition as BulkEdge;
    return (["from", "to"] as const)
      .map((end) => endObject(edge, row, end))
      .filter((object) => !final.has(object))
      .map((object) => `${readEdgeObject(edge, row)} outlived ${object}`);
  });

const kindOf: Readonly<Record<Job["kind"], readonly BulkCommand["kind"][]>> = {
  delete: ["delete", "resume"],
  load: ["load"],
  reshard: ["reshard"],
  custom: [],
  verify: [],
  copy: [],
  migrate: [],
  stream: [],
};

/** A job is in the table only where a call of its kind did not end well. */
const checkJobs = (jobs: readonly Job[], calls: readonly BulkRecord[]): readonly string[] =>
  jobs
    .filter(
      ({ id, kind }) =>
        !calls.some(
          ({ command, error, job }) => error !== undefined && kindOf[kind].includes(command.kind) && (kind !== "load" || job === id),
        ),
    )
    .map(({ id, kind }) => `job ${id} (${kind}) is left behind, though every such call ended well`);

// Whoever was cut off is helped to the end, in the sun: each job's lease is over by then.
const finish = async ({ calm, clock }: Clients<BulkDb>, jobs: readonly Job[]): Promise<readonly string[]> => {
  await clock.advance(60_000);
  try {
    const { resumed } = await calm.jobs.resumeAll({ indexLag: 0 });
    await Promise.all(resumed.map(({ done }) => done));
    for (const { id } of jobs.filter(({ kind }) => kind !== "delete")) await calm.jobs.forget(id);
  } catch (error) {
    return [`what was left behind cannot be finished: ${String(error)}`];
  }
  return (await calm.jobs.list()).map(({ id }) => `job ${id} is left behind after all`);
};

/** What must hold of what was written in bulk, of every job, and of the table in the end. */
export const checkBulk = async (clients: Clients<BulkDb>, calls: readonly BulkRecord[]): Promise<readonly string[]> => {
  const { calm, transport } = clients;
  const jobs = await calm.jobs.list();
  const left = [...checkJobs(jobs, calls), ...(await finish(clients, jobs))];
  // An acknowledged resharding leaves nothing to move: then nobody may help.
  if (!calls.some(({ command, error }) => command.kind === "reshard" && error === undefined))
    await calm.reshard({ indexLag: 0, rate: 100_000 });
  const table = await readRawTable(transport, calm.catalog);
  const final = new Map(table.decoded.flatMap(registerOf));
  const errors = calls.flatMap(({ text, error, named }) => [error, ...named].map((one) => ({ text, error: one })));
  return [
    ...checkThrown(errors, expected),
    ...left,
    ...checkRegisters([...calls, lastLook(calls, final)], initial),
    ...checkEnds(table, final),
    ...(await checkTable(table, transport)),
  ];
};
