// Starts the embedded engine with the college's rows, and the studio on it, by the command line as users do.
// node packages/studio/demo/start.mjs [students] [--write]: prints the studio's link and waits for Ctrl-C.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createLeanTransport } from "edgetable";
import { collegeRows, projectsCsv } from "./college-rows.mjs";

const bin = join(import.meta.dirname, "../../cli/bin/edgetable.js");
const model = `${join(import.meta.dirname, "college.ts")}#college`;
/** The model that a migration leads to. */
const nextModel = `${join(import.meta.dirname, "college-next.ts")}#collegeNext`;

/** Milliseconds that a command may take to end when it is asked to: it closes its connections first. */
const END = 30_000;

/** Asks a process to end, and ends it otherwise, which is a defect. */
const stopChild = async (child, ended, name) => {
  let isKilled = false;
  const timer = setTimeout(() => (isKilled = child.kill("SIGKILL")), END);
  child.kill("SIGTERM");
  await ended;
  clearTimeout(timer);
  if (isKilled) throw new Error(`edgetable ${name} had not ended ${END / 1000} s after SIGTERM.`);
};

/** Starts a command that prints one line of JSON when it is ready. */
const start = (args, of = model) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args, "--model", of, "--json"], { stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise((done) => child.once("exit", done));
    let text = "";
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (more) => (errors += more));
    child.stdout.setEncoding("utf8").on("data", (more) => {
      text += more;
      const end = text.indexOf("\n");
      if (end >= 0) resolve({ ready: JSON.parse(text.slice(0, end)), stop: () => stopChild(child, ended, args[0]) });
    });
    void ended.then((code) => reject(new Error(`edgetable ${args[0]} ended with ${code}: ${errors}`)));
  });

const runWith = (of, endpoint, ...args) => promisify(execFile)(process.execPath, [bin, ...args, "--endpoint", endpoint, "--model", of]);
const run = (endpoint, ...args) => runWith(model, endpoint, ...args);

/** Projects of the course C201, with fields that its users have defined. */
const importProjects = async (endpoint, folder) => {
  const file = join(folder, "projects.csv");
  writeFileSync(file, projectsCsv(42));
  await run(endpoint, "grid", "import", "project", file, "courseId=C201");
};

/** The last runs of some batch jobs, over a table in which two counts were broken when they ran. */
const runJobs = async (endpoint, lake) => {
  const transport = createLeanTransport({ endpoint });
  /** Sets a count, and gives the one before. */
  const setStudents = async ([course, students]) => {
    const { Attributes: before } = await transport.send("UpdateItem", {
      TableName: "College",
      Key: { pk: { S: `COURSE#${course}` }, sk: { S: "#" } },
      UpdateExpression: "SET students = :students",
      ExpressionAttributeValues: { ":students": { N: String(students) } },
      ReturnValues: "UPDATED_OLD",
    });
    return [course, before.students.N];
  };
  const right = [await setStudents(["C102", 99]), await setStudents(["C301", 0])];
  const batch = (...args) => run(endpoint, "batch", ...args, "--lake", lake);
  await batch("extract");
  await batch("run", "page-rank", "--edges", "enrolledIn");
  await batch("run", "recommend", "--edges", "enrolledIn", "--top", "3");
  // Differences end it with 1.
  await batch("validate").catch(() => undefined);
  for (const one of right) await setStudents(one);
  await transport.close();
};

/**
 * @param students rows grow with it: about 9 items for each student
 * @param options.writes whether the studio may write
 * @param options.projects whether a course has projects with fields of its users
 * @param options.results whether there are results of batch jobs
 * @param options.migrates whether a migration to the next model is under way, which the studio then has
 * @returns the studio's link, the engine's endpoint, and a function that stops both
 */
export const startDemo = async (students = 120, { writes = false, projects = false, results = false, migrates = false } = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "edgetable-studio-"));
  const data = join(folder, "college.json");
  writeFileSync(data, JSON.stringify(collegeRows(students)));
  const running = [];
  const stop = async () => {
    const problems = [];
    // One that does not end must not keep the others alive.
    for (const one of running.reverse()) await one.stop().catch((error) => problems.push(error));
    rmSync(folder, { recursive: true, force: true });
    if (problems.length > 0) throw problems[0];
  };
  try {
    const engine = await start(["dev", "--memory", "--data", data]);
    running.push(engine);
    // Live shows what the table's stream records.
    await run(engine.ready.endpoint, "table", "create", "--stream");
    if (projects) await importProjects(engine.ready.endpoint, folder);
    const lake = join(folder, "lake");
    if (results) await runJobs(engine.ready.endpoint, lake);
    const shown = [...(writes ? ["--write"] : []), ...(results ? ["--results", `${lake}.results`] : [])];
    const { endpoint } = engine.ready;
    if (migrates) await runWith(nextModel, endpoint, "migrate", "run");
    const studio = await start(["studio", "--endpoint", endpoint, ...shown], migrates ? nextModel : model);
    running.push(studio);
    /** Reads the table's stream to its end, as a consumer of this name. */
    const consume = (name) => run(endpoint, "stream", "--name", name, "--idle", "1");
    /** Starts another engine with the same rows where the first one was. */
    const startEngine = async () => {
      running.push(await start(["dev", "--memory", "--data", data, "--port", new URL(endpoint).port]));
      await run(endpoint, "table", "create", "--stream");
    };
    return { link: studio.ready.link, endpoint, consume, stopEngine: engine.stop, startEngine, stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { link, stop } = await startDemo(Number(process.argv[2] ?? 120), { writes: process.argv.includes("--write"), projects: true });
  console.log(link);
  const end = () => void stop().then(() => process.exit(0));
  process.on("SIGINT", end).on("SIGTERM", end);
}
