// Measures how far a reader has to travel: functions per 1,000 lines, the share of top-level functions that are private and
// called once, and the files that five calls pass through on the embedded engine. Every function of an instrumented copy of
// the library's sources announces its file when it is entered.
//
// Lines are counted as they are printed at 80 columns, as the libraries that we compare ourselves with print theirs (`--of`
// measures another one). Callbacks stand where they are read; the other functions have a name and are read elsewhere.
//
//   node scripts/measure-structure.mjs [--json | --by-folder | --once FOLDER | --route create|page|find|walk|load] [--of FOLDER]
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import MagicString from "magic-string";
import { format } from "oxfmt";
import ts from "typescript";

const root = join(import.meta.dirname, "..");
const library = join(root, "packages", "edgetable");
const other = process.argv.includes("--of") ? process.argv[process.argv.indexOf("--of") + 1] : undefined;
const sources = other ?? join(library, "src");
const isSource = (path) => path.endsWith(".ts") && !/test|fixture|bench|mock|\.d\.ts$/i.test(path);
const files = (await readdir(sources, { recursive: true })).filter(isSource).sort();

const parse = (file, text) => ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
const isFunction = (node) => (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) || false;
const visit = (node, see) => {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
};

const texts = new Map(await Promise.all(files.map(async (file) => [file, await readFile(join(sources, file), "utf8")])));

/** Lines, functions of every kind, and the functions that a file declares for itself with how often it mentions them. */
const measureFile = async ([file, text]) => {
  const { code } = await format(file, text, { printWidth: 80 });
  const tree = parse(file, text);
  let functions = 0;
  let callbacks = 0;
  const mentions = new Map();
  const calls = new Map();
  const count = (map, name) => map.set(name, (map.get(name) ?? 0) + 1);
  visit(tree, (node) => {
    if (isFunction(node)) functions++;
    if (ts.isArrowFunction(node) && (ts.isCallExpression(node.parent) || ts.isNewExpression(node.parent))) callbacks++;
    if (ts.isIdentifier(node)) count(mentions, node.text);
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) count(calls, node.expression.text);
  });
  const functionsIn = (statement) =>
    ts.isFunctionDeclaration(statement)
      ? [statement.name.text]
      : ts.isVariableStatement(statement)
        ? statement.declarationList.declarations.flatMap(({ name, initializer }) =>
            initializer && isFunction(initializer) ? [name.text] : [],
          )
        : [];
  const isExported = (statement) => statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
  const own = tree.statements.flatMap((statement) => (isExported(statement) ? [] : functionsIn(statement)));
  const topLevel = tree.statements.flatMap(functionsIn).length;
  return {
    file,
    lines: code.split("\n").length - 1,
    written: text.split("\n").length - 1,
    functions,
    callbacks,
    topLevel,
    once: own.filter((name) => mentions.get(name) === 2 && calls.get(name) === 1),
  };
};

const measured = await Promise.all([...texts].map(measureFile));

const figuresOf = (all) => {
  const sum = (of) => all.reduce((total, one) => total + one[of], 0);
  const perLines = (count) => Math.round((1000 * count) / sum("lines"));
  return {
    files: all.length,
    lines: sum("written"),
    functionsPer1000Lines: perLines(sum("functions")),
    namedPer1000Lines: perLines(sum("functions") - sum("callbacks")),
    privateCalledOnce: Math.round((100 * all.flatMap(({ once }) => once).length) / Math.max(1, sum("topLevel"))),
    longestFile: Math.max(...all.map(({ written }) => written)),
  };
};

if (process.argv.includes("--by-folder")) {
  console.log("files  lines  functions per 1,000 lines  without callbacks  private and called once, %  longest file");
  for (const folder of [...new Set(measured.map(({ file }) => dirname(file)))].sort()) {
    const figures = Object.values(figuresOf(measured.filter(({ file }) => dirname(file) === folder)));
    const [files, lines, density, named, once, longest] = figures.map(String);
    console.log(
      `${files.padStart(5)}  ${lines.padStart(5)}  ${density.padStart(25)}  ${named.padStart(17)}  ${once.padStart(26)}  ${longest.padStart(12)}  ${folder}`,
    );
  }
  process.exit(0);
}

if (process.argv.includes("--once")) {
  const folder = process.argv[process.argv.indexOf("--once") + 1];
  for (const { file, once } of measured) if (dirname(file) === folder && once.length > 0) console.log(`${file}: ${once.join(", ")}`);
  process.exit(0);
}

if (other !== undefined) {
  const { files: count, functionsPer1000Lines, namedPer1000Lines, privateCalledOnce } = figuresOf(measured);
  console.log(`${count} files; ${functionsPer1000Lines} functions per 1,000 lines, ${namedPer1000Lines} without callbacks`);
  console.log(`${privateCalledOnce} % of the top-level functions are private and called once`);
  process.exit(0);
}

/** The same source with every function announcing its file when it is entered. */
const instrumented = (file, text) => {
  const edited = new MagicString(text);
  const announce = `globalThis.enteredFile(${JSON.stringify(file)});`;
  visit(parse(file, text), (node) => {
    // Before super() there is no room for a statement.
    if (!isFunction(node) || ts.isConstructorDeclaration(node)) return;
    const { body } = node;
    if (ts.isBlock(body)) edited.appendRight(body.getStart() + 1, announce);
    else edited.appendRight(body.getStart(), `{ ${announce} return (`).appendLeft(body.getEnd(), "); }");
  });
  return edited.toString();
};

const compilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  rewriteRelativeImportExtensions: true,
  verbatimModuleSyntax: true,
};

// Beside the library, so that packages are found from there.
const folder = await mkdtemp(join(library, ".structure-"));
const routes = {};
const paths = {};
let engine;
try {
  for (const [file, text] of texts) {
    const { outputText } = ts.transpileModule(instrumented(file, text), { compilerOptions, fileName: file });
    const path = join(folder, file.replace(/\.ts$/, ".js"));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, outputText.replaceAll(/(import\("\.[^"]*)\.ts"\)/g, '$1.js")'));
  }
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  let trail = [];
  globalThis.enteredFile = (file) => void (trail.at(-1) === file || trail.push(file));
  const { defineGraph, edge, node } = await import(pathToFileURL(join(folder, "index.js")).href);
  const { z } = await import("zod");
  const { startEngine } = await import("@edgetable/local");
  engine = await startEngine();
  const graph = defineGraph({
    table: "Structure",
    nodes: {
      student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: z.string(), name: z.string(), email: z.string() }) }),
      course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: z.string(), name: z.string() }) }),
    },
    edges: { enrolledIn: edge({ from: "student", to: "course", schema: z.object({ at: z.string() }), orderBy: "at" }) },
    indexes: { byName: { entries: { course: "name", student: "name" }, shards: 4 } },
  });
  const db = graph.connect({ endpoint: engine.endpoint, region: "local", credentials: { accessKeyId: "local", secretAccessKey: "local" } });
  await db.table.create();
  const calls = {
    create: (at) => db.student.create({ studentId: `N${at}`, name: "Ann", email: "ann@example.com" }),
    page: () =>
      db
        .student({ studentId: "S1" })
        .out("enrolledIn")
        .where({ at: { gte: "2024" } })
        .page({ limit: 5 }),
    find: () =>
      db
        .find("student")
        .where({ name: { beginsWith: "A" } })
        .rows(),
    walk: () => db.student({ studentId: "S1" }).out("enrolledIn").in("enrolledIn").out("enrolledIn").dedupe().nodes(),
    load: (at) => db.load([{ node: "student", row: { studentId: `L${at}`, name: "Bo", email: "bo@example.com" } }]),
  };
  await db.student.create({ studentId: "S1", name: "Ann", email: "a@example.com" });
  for (const course of ["C1", "C2"]) {
    await db.course.create({ courseId: course, name: course });
    await db.enrolledIn.link({ studentId: "S1" }, { courseId: course }, { at: "2024-01-01" });
  }
  for (const [name, call] of Object.entries(calls)) {
    // Twice: what only the first call of a connection does is not the route.
    await call(10);
    trail = [];
    await call(11);
    const folders = trail.map((file) => dirname(file));
    paths[name] = [...new Set(trail)];
    routes[name] = { files: paths[name].length, folderMoves: folders.filter((one, at) => at > 0 && one !== folders[at - 1]).length };
  }
  await db.close();
} finally {
  await engine?.stop();
  await rm(folder, { recursive: true, force: true });
}

const figures = { ...figuresOf(measured), routes };
if (process.argv.includes("--json")) console.log(JSON.stringify(figures, undefined, 2));
else {
  console.log(`${figures.files} files, ${figures.lines} lines, the longest ${figures.longestFile}`);
  console.log(
    `${figures.functionsPer1000Lines} functions per 1,000 lines of 80 columns, ${figures.namedPer1000Lines} without callbacks; ${figures.privateCalledOnce} % of the top-level ones are private and called once`,
  );
  for (const [name, { files: count, folderMoves }] of Object.entries(routes))
    console.log(`${name.padEnd(8)} ${String(count).padStart(3)} files, ${folderMoves} moves between folders`);
  const asked = process.argv[process.argv.indexOf("--route") + 1];
  if (process.argv.includes("--route")) console.log((paths[asked] ?? [`--route takes one of ${Object.keys(paths).join(", ")}`]).join("\n"));
}
