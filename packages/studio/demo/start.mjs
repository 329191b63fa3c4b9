// Starts the embedded engine with the college's rows, and the studio on it, by the command line as users do.
// node packages/studio/demo/start.mjs [students] [--write]: prints the studio's link and waits for Ctrl-C.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { collegeRows, projectsCsv } from "./college-rows.mjs";

const bin = join(import.meta.dirname, "../../cli/bin/edgetable.js");
const model = `${join(import.meta.dirname, "college.ts")}#college`;

/** Starts a command that prints one line of JSON when it is ready. */
const start = (args) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args, "--model", model, "--json"], { stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise((done) => child.once("exit", done));
    let text = "";
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (more) => (errors += more));
    child.stdout.setEncoding("utf8").on("data", (more) => {
      text += more;
      const end = text.indexOf("\n");
      if (end >= 0) resolve({ ready: JSON.parse(text.slice(0, end)), stop: () => (child.kill("SIGTERM"), ended) });
    });
    void ended.then((code) => reject(new Error(`edgetable ${args[0]} ended with ${code}: ${errors}`)));
  });

const run = (endpoint, ...args) => promisify(execFile)(process.execPath, [bin, ...args, "--endpoint", endpoint, "--model", model]);

/** Projects of the course C201, with fields that its users have defined. */
const importProjects = async (endpoint, folder) => {
  const file = join(folder, "projects.csv");
  writeFileSync(file, projectsCsv(42));
  await run(endpoint, "grid", "import", "project", file, "courseId=C201");
};

/**
 * @param students rows grow with it: about 9 items for each student
 * @param options.writes whether the studio may write
 * @param options.projects whether a course has projects with fields of its users
 * @returns the studio's link, the engine's endpoint, and a function that stops both
 */
export const startDemo = async (students = 120, { writes = false, projects = false } = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "edgetable-studio-"));
  const data = join(folder, "college.json");
  writeFileSync(data, JSON.stringify(collegeRows(students)));
  const running = [];
  const stop = async () => {
    for (const one of running.reverse()) await one.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const engine = await start(["dev", "--memory", "--data", data]);
    running.push(engine);
    // Live shows what the table's stream records.
    await run(engine.ready.endpoint, "table", "create", "--stream");
    if (projects) await importProjects(engine.ready.endpoint, folder);
    const studio = await start(["studio", "--endpoint", engine.ready.endpoint, ...(writes ? ["--write"] : [])]);
    running.push(studio);
    return { link: studio.ready.link, endpoint: engine.ready.endpoint, stopEngine: engine.stop, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { link, stop } = await startDemo(Number(process.argv[2] ?? 120), { writes: process.argv.includes("--write"), projects: true });
  console.log(link);
  const end = () => void stop().then(() => process.exit(0));
  process.on("SIGINT", end).on("SIGTERM", end);
}
