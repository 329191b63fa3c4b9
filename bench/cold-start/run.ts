import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { bundle, bundleSplit, optionalPeersOf } from "../bundle/bundle.ts";
import { buildLibrary, productionEntry } from "../bundle/library.ts";
import { loadCandidate } from "../calls/candidates.ts";
import type { CandidateName } from "../calls/candidates.ts";
import { students } from "../calls/data.ts";
import { createTable } from "../calls/table.ts";
import { startEngine } from "../engine/engine.ts";
import { randomFrom, shuffled } from "../measure/random.ts";

export interface ColdStartPlan {
  readonly candidates: readonly CandidateName[];
  /** Fresh processes for each candidate. */
  readonly processes: number;
  readonly seed: number;
}

/** Milliseconds above an empty process, the fastest of the fresh processes on both sides: what else the machine does only adds. */
export interface ColdStart {
  readonly candidate: CandidateName;
  readonly imported: number;
  /** The packages alone, without a bundle, as npm installs them; ElectroDB's with the SDK's client. */
  readonly installed: number | undefined;
  readonly answered: number;
  /** Until the first answer where the bundler splits at `import()`, as Rollup and Vite do, and esbuild when asked to. */
  readonly answeredSplit: number | undefined;
  /** CPU until the first answer, all threads. */
  readonly cpu: number;
}

interface Start {
  readonly imported: number;
  readonly answered: number;
  readonly cpu: number;
}
type Program = CandidateName | `${CandidateName}-installed` | `${CandidateName}-split` | "empty";

const run = promisify(execFile);
const folder = "dist/cold-start";

// performance.now() counts from the start of the process, before Node's own start-up.
const report = `
const report = (imported: number): void => {
  const answered = performance.now();
  const { user, system } = process.cpuUsage();
  process.stdout.write(JSON.stringify({ imported, answered, cpu: (user + system) / 1000 }), () => process.exit(0));
};`;
const programs = (candidate: CandidateName): string => `
import { connect } from "./calls/candidates/${candidate}.ts";
const imported = performance.now();
${report}
const [endpoint = "", table = ""] = process.argv.slice(2);
const first = async (): Promise<void> => {
  const calls = await connect({ endpoint, table });
  const student = await calls.getStudent("${students[0]?.studentId}");
  if (student?.name !== "${students[0]?.name}") throw new Error("not the student that was put");
  report(imported);
};
void first();`;

/** What a program loads of its packages, by their names; ours is where its build is. */
const packages: Partial<Record<CandidateName, readonly string[]>> = {
  electrodb: ["electrodb", "@aws-sdk/client-dynamodb"],
  "edgetable-mini": [productionEntry],
};
/** Who loads parts of itself late: what a bundler makes of it depends on whether it splits. */
const splits = (candidate: CandidateName): boolean => candidate === "edgetable-mini";
const installedProgram = (names: readonly string[]): string =>
  `${names.map((name) => `import ${JSON.stringify(name)};`).join("\n")}
const imported = performance.now();
process.stdout.write(JSON.stringify({ imported, answered: 0, cpu: 0 }));`;
const fileOf = (program: Program): string => {
  if (program.endsWith("-split")) return `${folder}/${program}/program.mjs`;
  return `${folder}/${program}.${program.endsWith("-installed") ? "mjs" : "cjs"}`;
};

const write = async (program: Program, source: string): Promise<void> =>
  writeFile(`${folder}/${program}.cjs`, await bundle(source, { format: "cjs", external: optionalPeersOf(program) }));

const prepare = async (candidate: CandidateName, endpoint: string): Promise<void> => {
  await write(candidate, programs(candidate));
  const names = packages[candidate];
  if (splits(candidate)) {
    await rm(`${folder}/${candidate}-split`, { recursive: true, force: true });
    await bundleSplit(programs(candidate), `${folder}/${candidate}-split`, optionalPeersOf(candidate));
  }
  if (names) await writeFile(`${folder}/${candidate}-installed.mjs`, installedProgram(names));
  const table = `Cold-${candidate}`;
  await createTable(endpoint, table);
  const { connect } = await loadCandidate(candidate);
  const calls = await connect({ endpoint, table });
  await calls.putStudent(students[0] as (typeof students)[number]);
  await calls.close();
};

const start = async (program: Program, endpoint: string): Promise<Start> => {
  const { stdout } = await run(process.execPath, [fileOf(program), endpoint, `Cold-${program.replace(/-(installed|split)$/, "")}`], {
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  return JSON.parse(stdout) as Start;
};

const above = (own: readonly Start[], empty: readonly Start[], figure: keyof Start): number =>
  Math.min(...own.map((each) => each[figure])) - Math.min(...empty.map((each) => each[figure]));

const measure = async (plan: ColdStartPlan, endpoint: string): Promise<Map<Program, Start[]>> => {
  const random = randomFrom(plan.seed);
  const all: readonly Program[] = [
    "empty",
    ...plan.candidates.flatMap((name) => [
      name,
      ...(packages[name] ? [`${name}-installed` as const] : []),
      ...(splits(name) ? [`${name}-split` as const] : []),
    ]),
  ];
  const starts = new Map<Program, Start[]>(all.map((program) => [program, []]));
  // Each file is read once beforehand, so that no candidate pays for a cold disk.
  for (const program of all) await start(program, endpoint);
  for (let round = 0; round < plan.processes; round++) {
    for (const program of shuffled(all, random)) starts.get(program)?.push(await start(program, endpoint));
  }
  return starts;
};

/** Import, client, first GetItem, each time in a fresh process: bundled with everything inside, and as installed. */
export const runColdStart = async (plan: ColdStartPlan): Promise<readonly ColdStart[]> => {
  await mkdir(folder, { recursive: true });
  await buildLibrary();
  const engine = await startEngine();
  try {
    await write("empty", `const imported = performance.now();${report}\nreport(imported);`);
    for (const candidate of plan.candidates) await prepare(candidate, engine.endpoint);
    const starts = await measure(plan, engine.endpoint);
    const empty = starts.get("empty") ?? [];
    return plan.candidates.map((candidate) => {
      const own = starts.get(candidate) ?? [];
      const unbundled = starts.get(`${candidate}-installed`);
      const split = starts.get(`${candidate}-split`);
      return {
        candidate,
        imported: above(own, empty, "imported"),
        installed: unbundled && above(unbundled, empty, "imported"),
        answered: above(own, empty, "answered"),
        answeredSplit: split && above(split, empty, "answered"),
        cpu: above(own, empty, "cpu"),
      };
    });
  } finally {
    await engine.stop();
  }
};
