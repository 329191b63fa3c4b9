import type { Job, JobHandle, ResumedJobs } from "edgetable";
import { type UntypedDb, withGraph } from "../connection.ts";
import { exitCode, type ExitCode } from "../exit-codes.ts";
import { failureOf } from "../failure.ts";
import { type CommandSpec, defineCommand, type Invocation, note, printJson } from "../invocation.ts";
import { counted } from "../output/explanation.ts";
import { renderTable, showCell } from "../output/table.ts";
import { createProgress, visibleLine } from "../output/terminal.ts";

interface Options {
  /** The job to resume, or true for all. */
  readonly resume?: string | true;
}

type Call = Invocation<Options>;
type Facts = Job["facts"];

const numbers =
  (...shown: readonly (readonly [fact: string, noun: string, plural?: string])[]) =>
  (facts: Facts): string =>
    shown.flatMap(([fact, noun, plural]) => (facts[fact] === undefined ? [] : [counted(Number(facts[fact]), noun, plural)])).join(", ");

const inPass =
  (pass: string, rest: (facts: Facts) => string) =>
  (facts: Facts): string =>
    [...(facts[pass] === undefined ? [] : [`pass ${facts[pass]}`]), rest(facts)].filter((text) => text !== "").join(", ");

/** What a kind of job does, how far one has come, and what resumes one that a process left behind. */
const kinds: Readonly<
  Record<Job["kind"], { readonly what: string; readonly progress: (facts: Facts) => string; readonly resumes?: (id: string) => string }>
> = {
  load: {
    what: "load",
    progress: numbers(["rows", "row"], ["items", "item"], ["failed", "row not written", "rows not written"]),
    resumes: (id) => `the load of the same file: edgetable load FILE --job ${id}`,
  },
  delete: { what: "deletion", progress: numbers(["items", "edge or part removed", "edges and parts removed"]) },
  copy: { what: "change of copies", progress: inPass("pass", numbers(["items", "copy changed", "copies changed"])) },
  reshard: {
    what: "resharding",
    progress: inPass("passes", numbers(["seen", "item"], ["moved", "moved", "moved"])),
    resumes: (id) => `edgetable reshard --job ${id}`,
  },
  verify: {
    what: "verification",
    progress: inPass("pass", numbers(["items", "item"], ["findings", "finding"])),
    resumes: (id) => `the same verification: edgetable verify --job ${id}`,
  },
  migrate: {
    what: "migration",
    progress: inPass("pass", numbers(["seen", "item"], ["changed", "changed", "changed"], ["unfit", "unfit", "unfit"])),
    resumes: () => "edgetable migrate run",
  },
  stream: {
    what: "stream position",
    progress: ({ shard, ended, consumer }) =>
      consumer === undefined ? [shard ?? "", ...(ended === 1 ? ["read to its end"] : [])].map(String).join(" ") : "a consumer",
  },
  custom: {
    what: "own job",
    progress: ({ fingerprint: _input, ...facts }) =>
      Object.entries(facts)
        .map(([name, value]) => `${name} ${showCell(value)}`)
        .join(", "),
    resumes: () => "the program that calls db.jobs.run",
  },
};

const isResumable = ({ kind }: Job): boolean => kind === "delete" || kind === "copy";

// A stream's position waits for any consumer of its name.
const isLeftBehind = ({ kind, running }: Job): boolean => !running && kind !== "stream";

const stateOf = (job: Job, now: number): string => {
  const begun = job.runs > 1 ? `, begun ${counted(job.runs, "time")}` : "";
  if (job.running) {
    const seconds = Math.ceil((job.leasedUntil - now) / 1000);
    return `runs; leased until ${new Date(job.leasedUntil).toISOString().slice(0, 19)}Z (${seconds} s)${begun}`;
  }
  return isLeftBehind(job) ? `left behind${begun}` : "waits for a consumer";
};

const printJobs = (call: Call, jobs: readonly Job[], now: number): void => {
  const { io, style } = call;
  if (jobs.length === 0) {
    io.out.write("There are no jobs.\n");
    return;
  }
  const columns = [{ title: "job" }, { title: "what" }, { title: "progress" }, { title: "state" }];
  const rows = jobs.map((job) => [
    visibleLine(job.id),
    kinds[job.kind].what,
    visibleLine(kinds[job.kind].progress(job.facts)),
    stateOf(job, now),
  ]);
  io.out.write(renderTable({ columns, rows }, io.out.columns, style));
  const left = jobs.filter(isLeftBehind);
  if (left.some(isResumable)) note(call, "Resume deletions and changes of copies with edgetable jobs --resume.");
  for (const { id, kind } of left) {
    const resumes = kinds[kind].resumes?.(/^[\w.:/-]+$/.test(id) ? id : JSON.stringify(id));
    if (resumes !== undefined) note(call, `Resume ${visibleLine(id)} with ${resumes}`);
  }
};

interface Resumed {
  readonly id: string;
  readonly items: number;
}

interface Refused {
  readonly id: string;
  readonly code: string;
  readonly message: string;
}

const refusedOf = (id: string, error: unknown): Refused => {
  const { code, message } = failureOf(error);
  if (code === "invariant") throw error;
  return { id, code, message };
};

/** Waits for all jobs, and shows meanwhile how far they have come. */
const finish = async (
  { io }: Call,
  handles: readonly JobHandle<unknown>[],
): Promise<{ readonly resumed: readonly Resumed[]; readonly failed: readonly Refused[] }> => {
  const progress = createProgress(io);
  const items = (): number => handles.reduce((sum, handle) => sum + handle.progress().items, 0);
  const timer = setInterval(() => progress.show(`${counted(handles.length, "job")}, ${counted(items(), "item")}`), 200);
  const resumed: Resumed[] = [];
  const failed: Refused[] = [];
  try {
    const ends = await Promise.allSettled(handles.map(({ done }) => done));
    for (const [at, end] of ends.entries()) {
      const handle = handles[at] as JobHandle<unknown>;
      if (end.status === "fulfilled") resumed.push({ id: handle.id, items: handle.progress().items });
      else if (io.signal.aborted) throw end.reason;
      else failed.push(refusedOf(handle.id, end.reason));
    }
    return { resumed, failed };
  } finally {
    clearInterval(timer);
    progress.clear();
  }
};

const resume = async (call: Call, db: UntypedDb): Promise<ExitCode> => {
  const { io, options } = call;
  const { resume: name, json } = options;
  const how = { signal: io.signal };
  const begun: ResumedJobs =
    typeof name === "string" ? { resumed: [await db.jobs.resume(name, how)], leased: [], refused: [] } : await db.jobs.resumeAll(how);
  const { resumed, failed } = await finish(call, begun.resumed);
  const refused = begun.refused.map(({ id, error }) => refusedOf(id, error));
  const code = failed.length === 0 && refused.length === 0 ? exitCode.ok : exitCode.no;
  if (json) {
    printJson(call, { resumed, failed, refused, leased: begun.leased });
    return code;
  }
  for (const { id, items } of resumed) io.out.write(`${visibleLine(id)}: done, ${counted(items, "item")}.\n`);
  for (const { id, message } of [...failed, ...refused]) io.out.write(`${visibleLine(id)}: not done. ${message}\n`);
  const now = Date.now();
  for (const job of begun.leased) io.out.write(`${visibleLine(job.id)}: ${stateOf(job, now)}\n`);
  if (resumed.length + failed.length + refused.length + begun.leased.length === 0)
    io.out.write("There is no deletion or change of copies to resume.\n");
  return code;
};

export const jobsCommand: CommandSpec = defineCommand<Options>({
  name: "jobs",
  group: "Data:",
  summary: "List the jobs of the table, and resume those that a process left behind",
  description:
    "A job is work of many requests: a load, a deletion of a node with its edges, a change of copies, a resharding, a verification, a migration, a consumer's position in the stream, or a job of your own. Its state is in the table until it ends. A process that runs one leases it for some seconds and renews the lease; the table does not record which process that is. After the process has died, the lease expires, and the job is left behind. Exits with 1 if a job is left behind, or could not be resumed.",
  options: [
    {
      flags: "--resume [job]",
      text: "resume every deletion and change of copies that was left behind, or only this one. The list says how to resume other jobs",
    },
  ],
  examples: ["edgetable jobs", "edgetable jobs --json", "edgetable jobs --resume", `edgetable jobs --resume 'delete course ["C1"]'`],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      if (call.options.resume !== undefined) return resume(call, db);
      const jobs = await db.jobs.list({ signal: call.io.signal });
      if (call.options.json) printJson(call, jobs);
      else printJobs(call, jobs, Date.now());
      return jobs.some(isLeftBehind) ? exitCode.no : exitCode.ok;
    }),
});
