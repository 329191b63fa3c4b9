import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build, type BuildOptions } from "esbuild";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { build as viteBuild } from "vite";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";

const run = promisify(execFile);
const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const application = path("application.ts");

let engine: TestEngine;
let folder: string;
/** The main entry as it ships, and the same for production. */
let shipped: string;
let production: string;

beforeAll(async () => {
  engine = await openEngine();
  // Inside the workspace, so that Node takes the files for ES modules.
  folder = await mkdtemp(path("../../node_modules/.edgetable-bundles-"));
  shipped = join(folder, "shipped/index.js");
  production = join(folder, "shipped/production.js");
  await run(process.execPath, [path("../../scripts/bundle-library.mjs"), join(folder, "shipped")]);
}, 600_000);
afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

const withEsbuild = async (name: string, library: string, options: BuildOptions): Promise<string> => {
  await build({
    entryPoints: [application],
    outdir: join(folder, name),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    alias: { edgetable: library },
    logLevel: "error",
    ...options,
    external: ["@aws-sdk/*", ...(options.external ?? [])],
  });
  return join(folder, name, "application.mjs");
};

const withVite = async (name: string): Promise<string> => {
  await viteBuild({
    configFile: false,
    logLevel: "error",
    resolve: { alias: { edgetable: shipped } },
    ssr: { noExternal: true, external: ["@aws-sdk/client-dynamodb", "@aws-sdk/credential-provider-node"] },
    build: {
      ssr: application,
      outDir: join(folder, name),
      minify: true,
      rolldownOptions: { output: { entryFileNames: "application.mjs" } },
    },
  });
  return join(folder, name, "application.mjs");
};

const forms: Readonly<Record<string, () => Promise<string>>> = {
  "as it ships": () => withEsbuild("as-shipped", shipped, { external: [shipped] }),
  "as it ships for production": () => withEsbuild("production", production, { external: [production] }),
  "bundled by esbuild into one file": () => withEsbuild("one", shipped, { minify: true }),
  "bundled by esbuild into one file for production": () => withEsbuild("one-production", production, { minify: true }),
  "bundled by esbuild with splitting": () => withEsbuild("split", shipped, { minify: true, splitting: true }),
  "bundled by vite": () => withVite("vite"),
};

test.each(Object.keys(forms))("the library works %s, and first calls at the same time load and ask once", async (form) => {
  const program = await (forms[form] as () => Promise<string>)();
  const { stdout } = await run(process.execPath, [program, engine.endpoint, engine.freshTableName()], {
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  expect(JSON.parse(stdout)).toEqual({
    created: true,
    explained: ["PutItem"],
    loaded: 11,
    batched: 5,
    // One secret for three pages: looked for, then made.
    pages: [
      [2, 2, 2],
      ["GetItem", "Query", "Query", "Query", "UpdateItem"],
    ],
    jobs: [
      [[], []],
      ["Query", "Query"],
    ],
    deleted: true,
    left: [null, null],
    differences: [],
  });
});

// Turbopack (Next.js), webpack and Rspack end with "Module not found" for a package that is not installed, unless a `try`
// surrounds its import. A `catch()` behind the import is enough for esbuild, Rolldown and Rollup only.
test("imports of optional packages are in a try, so that bundlers build without the packages", async () => {
  const imported: string[] = [];
  const unguarded: string[] = [];
  const visit = (at: ts.Node, file: string, inTry: boolean): void => {
    if (ts.isCallExpression(at) && at.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const specifier = (at.arguments[0] as ts.StringLiteral).text;
      if (!/^[.]|^node:/.test(specifier)) (inTry ? imported : unguarded).push(`${file}: ${specifier}`);
    }
    if (ts.isTryStatement(at)) {
      visit(at.tryBlock, file, true);
      for (const other of [at.catchClause, at.finallyBlock]) if (other) visit(other, file, inTry);
      return;
    }
    const inside = inTry && !ts.isFunctionLike(at);
    ts.forEachChild(at, (child) => visit(child, file, inside));
  };
  const files = (await readdir(dirname(shipped), { recursive: true })).filter((file) => file.endsWith(".js"));
  for (const file of files) {
    const text = await readFile(join(dirname(shipped), file), "utf8");
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest), file, false);
  }
  expect(unguarded).toEqual([]);
  expect(new Set(imported.map((one) => one.split(": ")[1]))).toEqual(
    new Set(["@aws-sdk/client-dynamodb", "@aws-sdk/credential-provider-node"]),
  );
});

test("who imports the library, defines a model and explains a call loads neither sockets nor TLS; who connects does", async () => {
  const program = `
    import { defineGraph, node, offline } from ${JSON.stringify(shipped)};
    const loaded = () => ["net", "tls", "zlib"].filter((name) => process.moduleLoadList.includes("NativeModule " + name));
    const schema = { "~standard": { version: 1, vendor: "none", validate: (value) => ({ value }) } };
    const graph = defineGraph({ table: "Test", nodes: { person: node({ key: "PERSON#{id}", schema }) } });
    const { requests: { length } } = await graph.connect({ transport: offline }).person.get({ id: "a" }).explain();
    const before = loaded();
    await graph.connect({ endpoint: ${JSON.stringify(engine.endpoint)} }).close();
    console.log(JSON.stringify({ length, before, after: loaded() }));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program]);
  expect(JSON.parse(stdout)).toEqual({ length: 1, before: [], after: ["net", "tls", "zlib"] });
});

test("a wrong model fails at once, unless the condition is production: there the checks of development are trusted", async () => {
  const program = `
    import { defineGraph, node, EdgetableError } from "edgetable";
    import { createSdkTransport } from "edgetable/sdk";
    const schema = { "~standard": { version: 1, vendor: "none", validate: (value) => ({ value }) } };
    const same = node({ key: "PERSON#{id}", schema });
    const outcome = (() => {
      try {
        return defineGraph({ table: "Test", nodes: { person: same, human: same } }).kind;
      } catch (error) {
        return error.code;
      }
    })();
    const broken = createSdkTransport({ send: async () => { throw new Error("broken"); } });
    const sameClass = await broken.send("GetItem", { TableName: "Test", Key: {} }).catch((error) => error instanceof EdgetableError);
    console.log(JSON.stringify([outcome, sameClass]));`;
  const outcome = async (...flags: readonly string[]): Promise<unknown> => {
    const { stdout } = await run(process.execPath, [...flags, "--input-type=module", "--eval", program], { cwd: path(".") });
    return JSON.parse(stdout);
  };
  expect(await outcome()).toEqual(["schema.invalidModel", true]);
  expect(await outcome("--conditions=production")).toEqual(["graph", true]);
});
