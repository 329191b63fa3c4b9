import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { components, type Lake, pageRank, type Program } from "@edgetable/analytics";
import { countComponents, rankError } from "./checks.ts";
import { extractRates } from "./extract-rate.ts";
import { type Form, makeLake } from "./made-lake.ts";

// `run.js [jobs|extract] [edges] [memory]`: batch jobs on made graphs, on two threads; the extraction against a bare Scan.
const [what = "jobs", count = "1000000", memory = "2GB"] = process.argv.slice(2);
const edges = Number(count);
const rounds = 20;

const seconds = (from: number): number => (performance.now() - from) / 1000;

interface Timed {
  readonly table: string;
  readonly seconds: number;
  /** CPU of all threads: on a busy machine it says more than the time. */
  readonly "CPU seconds": number;
}

const timed = async (lake: Lake, program: Program): Promise<Timed> => {
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  const table = await lake.compute(program);
  const { user, system } = process.cpuUsage(cpu);
  return { table, seconds: seconds(began), "CPU seconds": (user + system) / 1e6 };
};

const peak = (): number => process.resourceUsage().maxRSS / 1024;

const measure = async (folder: string, form: Form): Promise<void> => {
  const lake = await makeLake(join(folder, form), form, edges, memory);
  // The check by a second implementation holds all edges as JavaScript objects: that is for a million of them.
  const checked = edges <= 2_000_000;
  if (form === "scale-free") {
    const { table, ...taken } = await timed(lake, pageRank(lake, { rounds }));
    const rss = peak();
    const error = checked ? await rankError(lake, table, rounds, 0.85) : undefined;
    console.log({ job: "pageRank", form, edges, memory, rounds, ...taken, "peak RSS MB": rss, "largest error": error });
  }
  const { table, ...taken } = await timed(lake, components(lake));
  const rss = peak();
  const [found] = await lake.query(`select count(distinct component) as components from ${table}`);
  const expected = checked ? await countComponents(lake) : undefined;
  console.log({
    job: "components",
    form,
    edges,
    memory,
    ...taken,
    "peak RSS MB": rss,
    components: Number(found?.["components"]),
    expected,
  });
  lake.close();
};

const folder = await mkdtemp(join(process.env["EDGETABLE_BENCH_FOLDER"] ?? tmpdir(), "batch-"));
try {
  if (what === "extract") console.table(await extractRates(folder, edges));
  else for (const form of ["scale-free", "sparse", "path"] as const) await measure(folder, form);
} finally {
  await rm(folder, { recursive: true, force: true });
}
