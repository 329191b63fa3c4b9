// npm run first-project: README's first minutes with packages as npm would install them, in an empty folder.
//
// Packs the packages, makes a project by create-edgetable, installs it, and runs what README says: test, engine, script,
// command line. Then the same packages under TypeScript 5.9, 6 and 7, as modules, by require(), and in Jest's CommonJS.
// Closes with "N passed, N failed". --keep leaves the project where it is.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "..");
const work = mkdtempSync(join(tmpdir(), "edgetable-first-project-"));
const project = join(work, "my-graph");
const published = {
  edgetable: "edgetable",
  "@edgetable/local": "local",
  "@edgetable/testing": "testing",
  "@edgetable/cli": "cli",
  "@edgetable/eslint-plugin": "eslint-plugin",
  "create-edgetable": "create-edgetable",
};

// A project of a stranger knows nothing of the npm script that runs this one.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(cache|registry|userconfig))|^INIT_CWD$|^AWS_/i.test(name)),
);
const run = (command, args, { cwd = project, more = {} } = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...env, NO_COLOR: "1", ...more },
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    let [out, all] = ["", ""];
    child.stdout.on("data", (chunk) => ((out += chunk), (all += chunk)));
    child.stderr.on("data", (chunk) => (all += chunk));
    child
      .once("error", reject)
      .once("close", (code) => (code === 0 ? resolve(out) : reject(new Error(`${command} ${args.join(" ")} ended with ${code}\n${all}`))));
  });
const same = (found, wanted) => {
  if (found !== wanted) throw new Error(`found\n${found}\nwanted\n${wanted}`);
};
const includes = (text, part) => {
  if (!text.includes(part)) throw new Error(`${JSON.stringify(part)} is not in\n${text}`);
};

const write = (name, text) => {
  mkdirSync(join(project, name, ".."), { recursive: true });
  writeFileSync(join(project, name), text);
};

/** Packs every package; gives each one's tarball. */
const pack = async () => {
  const version = JSON.parse(readFileSync(join(root, "packages/edgetable/package.json"), "utf8")).version;
  const packing = Object.entries(published).map(async ([name, folder]) => {
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", work], { cwd: join(root, "packages", folder) });
    return [name, `file:${join(work, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`)}`];
  });
  return Object.fromEntries(await Promise.all(packing));
};

/** The project asks for versions that are not on npm yet: it takes the tarballs, and the tools that it is tried with. */
const useTarballs = (tarballs) => {
  const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  const own = (versions) => Object.fromEntries(Object.entries(versions).map(([name, version]) => [name, tarballs[name] ?? version]));
  const dependencies = own(manifest.dependencies);
  const devDependencies = {
    ...own(manifest.devDependencies),
    "@edgetable/testing": tarballs["@edgetable/testing"],
    jest: "^30",
    typescript59: "npm:typescript@~5.9",
    typescript6: "npm:typescript@^6",
  };
  const direct = { ...dependencies, ...devDependencies };
  const overrides = Object.fromEntries(Object.entries(tarballs).map(([name, tarball]) => [name, name in direct ? `$${name}` : tarball]));
  write("package.json", JSON.stringify({ ...manifest, dependencies, devDependencies, overrides }, undefined, 2));
};

/** Runs `npm run dev` for the time of a function. */
const withEngine = async (use) => {
  const child = spawn(process.execPath, [join(project, "node_modules/@edgetable/cli/bin/edgetable.js"), "dev", "--memory", "--json"], {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    for await (const line of createInterface({ input: child.stdout })) return await use(JSON.parse(line).endpoint);
    throw new Error("edgetable dev ended without an endpoint");
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
};

const things = `const graph = defineGraph({ table: "Things", nodes: { thing: node({ key: "T#{id}", schema: z.object({ id: z.string() }) }) } });`;
const trip = `
  const engine = await startEngine();
  const db = graph.connect({ endpoint: engine.endpoint });
  await db.table.create();
  await db.thing.create({ id: "1" });
  const thing = await db.thing({ id: "1" }).get();
  await db.close();
  await engine.stop();`;
const required = `const { defineGraph, EdgetableError, node } = require("edgetable");
const { startEngine } = require("@edgetable/local");
const { z } = require("zod");
for (const name of ["edgetable/sdk", "edgetable/check", "@edgetable/testing"]) require(name);
${things}`;

const programs = {
  "commonjs/one.cjs": `${required}
const run = async () => {${trip}
  if (thing.id !== "1" || (await import("edgetable")).EdgetableError !== EdgetableError) throw new Error("require() and import give two copies");
};
run();`,
  "commonjs/package.json": `{ "name": "commonjs", "private": true }`,
  "commonjs/one.test.js": `${required}
test("a node comes back", async () => {${trip}
  expect(thing).toEqual({ id: "1" });
});
test("an error is of the class that is exported", () => {
  expect(() => defineGraph({ table: "T", nodes: {} })).toThrow(EdgetableError);
});`,
  "types/required.cts": `import { defineGraph, node } from "edgetable";
import { startEngine } from "@edgetable/local";
import { z } from "zod";
${things}
export const run = async (): Promise<string | undefined> => {${trip}
  // @ts-expect-error -- the types are there: an id is a text
  const wrong: number | undefined = thing?.id;
  return thing?.id ?? String(wrong);
};`,
};

const tsc = (name, ...args) => run(process.execPath, [join(project, "node_modules", name, "bin/tsc"), ...args]);
const typesOf = (module, skipLibCheck) => ({
  compilerOptions: { target: "ES2023", module, types: ["node"], strict: true, skipLibCheck, noEmit: true },
  include: ["required.cts"],
});

const checks = {
  "npm test": async () => includes(await run("npm", ["test"]), "# fail 0"),
  "npm run dev, npm start: what README shows": () =>
    withEngine(async (endpoint) => {
      const [, shown] = /^```text\n([^]*?)^```/m.exec(readFileSync(join(root, "README.md"), "utf8"));
      same(await run("npm", ["start", "--silent"], { more: { AWS_ENDPOINT_URL_DYNAMODB: endpoint } }), shown);
      includes(
        await run("npx", ["edgetable", "find", "course", "--where", "name=Advanced Mathematics", "--endpoint", endpoint]),
        "Advanced Mathematics",
      );
    }),
  "npx edgetable patterns, explain, check": async () => {
    includes(await run("npx", ["edgetable", "patterns"]), "studentsOfCourse");
    includes(await run("npx", ["edgetable", "explain", "classmates"]), "predicted");
    includes(await run("npx", ["edgetable", "check", "--strict"]), "0 errors, 0 warnings");
  },
  "npm run build bundles the handler": () => run("npm", ["run", "build"]),
  "TypeScript 7": async () => same(await tsc("typescript"), ""),
  "TypeScript 6": async () => same(await tsc("typescript6"), ""),
  "TypeScript 5.9": async () => same(await tsc("typescript59"), ""),
  "types by require()": async () => {
    // TypeScript 7 reads the declarations of every library too; the others would take half a minute each for that.
    for (const [compiler, module, skipLibCheck] of [
      ["typescript", "node16", false],
      ["typescript", "nodenext", false],
      ["typescript59", "node16", true],
    ]) {
      write("types/tsconfig.json", JSON.stringify(typesOf(module, skipLibCheck)));
      same(await tsc(compiler, "-p", "types/tsconfig.json"), "");
    }
  },
  "require() and import give one copy": () => run(process.execPath, ["commonjs/one.cjs"]),
  "Jest 30, CommonJS, no configuration": () =>
    run(process.execPath, [join(project, "node_modules/jest/bin/jest.js"), "--rootDir", "commonjs"]),
};

let [passed, failed] = [0, 0];
const check = async (name, work) => {
  const began = performance.now();
  const problem = await Promise.resolve()
    .then(work)
    .then(
      () => undefined,
      (error) => error,
    );
  console.log(`${problem ? "FAIL" : "ok  "} ${name.padEnd(44)} ${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s`);
  if (problem) console.log(`     ${problem.message.replaceAll("\n", "\n     ")}`);
  if (problem) failed++;
  else passed++;
  return !problem;
};

try {
  const made = await check("npm create edgetable, npm install", async () => {
    const tarballs = await pack();
    await run(
      "npm",
      ["exec", "--yes", "--prefer-offline", `--package=${tarballs["create-edgetable"]}`, "--", "create-edgetable", "my-graph"],
      { cwd: work },
    );
    useTarballs(tarballs);
    await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund"]);
    for (const [name, text] of Object.entries(programs)) write(name, text);
  });
  if (made) for (const [name, work] of Object.entries(checks)) await check(name, work);
} finally {
  if (process.argv.includes("--keep")) console.log(`kept: ${project}`);
  else rmSync(work, { recursive: true, force: true });
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
