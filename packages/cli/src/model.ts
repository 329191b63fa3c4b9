import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, type Stats } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { createJiti } from "jiti";
import { didYouMean, EdgetableError, explainPatterns, type AnyGraph, type Explanation, type Patterns } from "edgetable";
import { failureOf, usageError, type Failure } from "./failure.ts";

/** The exports of a model file. */
export interface Model {
  readonly path: string;
  /** The path relative to the working directory, for messages. */
  readonly file: string;
  readonly graphs: readonly Exported<AnyGraph>[];
  readonly patterns: readonly Exported<Patterns>[];
  /** The export `streamHandlers`: handlers for `edgetable stream`. */
  readonly streamHandlers: object | undefined;
}

interface Exported<T> {
  readonly name: string;
  readonly value: T;
}

type Exports = Readonly<Record<string, unknown>>;

/** A model file, and the export to take from it. */
export interface ModelPlace {
  readonly path: string;
  readonly exported: string | undefined;
}

const unreadable = (message: string, details: Readonly<Record<string, unknown>>, cause?: unknown): EdgetableError =>
  new EdgetableError("cli.modelUnreadable", message, { details, cause });

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

/** Finds the model file that is named, or the first of the default names that exists. @throws {cli.modelUnreadable} if there is none */
export const findModel = (text: string | undefined, cwd: string): ModelPlace => {
  if (text !== undefined) {
    // `model.ts#billing` names an export, unless there is a file of that name.
    const [, file = text, exported] = isFile(resolve(cwd, text)) ? [] : (/^(.+)#([\w$]+)$/.exec(text) ?? []);
    const path = resolve(cwd, file);
    if (!isFile(path)) throw unreadable(`There is no model file ${relative(cwd, path) || path}.`, { path });
    return { path, exported };
  }
  for (const folder of ["", "src/"])
    for (const base of ["edgetable", "edgetable.config", "model"])
      for (const extension of [".ts", ".mts", ".js", ".mjs"]) {
        const path = resolve(cwd, `${folder}${base}${extension}`);
        if (isFile(path)) return { path, exported: undefined };
      }
  throw unreadable(
    "No model found. Looked for edgetable.ts, edgetable.config.ts and model.ts (also .mts, .js, .mjs) in this folder and in src/. Name it with --model FILE.",
    { path: cwd },
  );
};

/** True if no other account can create files in a folder. On Windows, the user profile's access lists ensure that. */
const isOurs = ({ uid, mode }: Stats): boolean => {
  const own = process.getuid?.();
  return own === undefined || ((uid === own || uid === 0) && (mode & 0o022) === 0);
};

/**
 * The folder for compiled models: `node_modules/.cache/edgetable` of the model's project. Its files are executed, so it is
 * not used if another account can write to it or to one of its two parents.
 *
 * @returns false if there is no such folder; each start then compiles the model, which takes 0.2 s
 */
const compiledCache = (file: string): string | false => {
  try {
    let project = dirname(file);
    while (!statSync(join(project, "node_modules"), { throwIfNoEntry: false })?.isDirectory()) {
      if (project === dirname(project)) return false;
      project = dirname(project);
    }
    const nodeModules = join(project, "node_modules");
    if (!isOurs(statSync(nodeModules))) return false;
    const [cache, own] = [join(nodeModules, ".cache"), join(nodeModules, ".cache", "edgetable")];
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return [cache, own].every((folder) => lstatSync(folder).isDirectory() && isOurs(lstatSync(folder))) && own;
  } catch {
    // The project is read-only.
    return false;
  }
};

/** Turns an error of the import into one that names file and line, and the remedy if a module is missing. */
const importError = (path: string, file: string, error: unknown): EdgetableError => {
  const { message, code, details, stack = "" } = failureOf(error);
  const escaped = path.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  // The message has line and column in the source. The stack has the line; its column is that of the compiled code.
  const place = (new RegExp(`${escaped}(:\\d+(?::\\d+)?)`).exec(message) ?? new RegExp(`${escaped}(:\\d+)`).exec(stack))?.[1] ?? "";
  if (code === "schema.invalidModel") return new EdgetableError(code, `${file}${place}: ${message}`, { details, cause: error });
  const absent = /^Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1];
  if (absent !== undefined) {
    const lines = readFileSync(path, "utf8").split("\n");
    const at = lines.findIndex((line) => line.includes(`"${absent}"`) || line.includes(`'${absent}'`));
    const mend = absent.startsWith(".") || absent.startsWith("/") ? "There is no such file." : `Install it: npm install ${absent}`;
    return unreadable(`${file}${at < 0 ? "" : `:${at + 1}`} imports "${absent}", which cannot be found. ${mend}`, { path }, error);
  }
  const problem = (message.split("\n")[0] ?? "").replace(/^ParseError: /, "").trim();
  const imported = place === "" ? /ParseError: [^\n]*\n\s*(\S+:\d+:\d+)/.exec(message)?.[1] : undefined;
  const elsewhere = imported === undefined ? "" : ` (${imported})`;
  return unreadable(`${file}${place} cannot be read: ${problem.replace(/\.$/, "")}${elsewhere}.`, { path }, error);
};

const kindOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? (value as { readonly kind?: unknown }).kind : undefined;

const importModel = async (path: string, file: string): Promise<Exports> => {
  // Standard output is for the answer, so a model prints on standard error.
  const { log, info } = console;
  Object.assign(console, { log: console.error, info: console.error });
  let stop = (): void => {};
  const idle = new Promise<never>((_, reject) => {
    stop = () => reject(new Error("its top-level await never resolves"));
    // Node exits if only the model is left to wait for.
    process.once("beforeExit", stop);
  });
  try {
    // Resolves imports from the model's folder: its `edgetable` may be another copy than ours.
    // `interopDefault`: a CommonJS model's requires become modules, which import Node's modules by default.
    const jiti = createJiti(path, { interopDefault: true, moduleCache: false, fsCache: compiledCache(path) });
    const found = await Promise.race([jiti.import<Exports>(path), idle]);
    // In CommonJS, module.exports may be the graph itself.
    return kindOf(found) === "graph" && !Object.hasOwn(found, "default") ? { default: found } : found;
  } catch (error) {
    throw importError(path, file, error);
  } finally {
    process.off("beforeExit", stop);
    Object.assign(console, { log, info });
  }
};

const exportsOfKind = <T>(exports: Exports, kind: string): Exported<T>[] => {
  const found = new Map<unknown, string>();
  for (const [name, value] of Object.entries(exports)) {
    // A default export that is also exported by name keeps the name.
    if (kindOf(value) === kind && (!found.has(value) || found.get(value) === "default")) found.set(value, name);
  }
  return [...found].map(([value, name]) => ({ name, value: value as T }));
};

/**
 * Imports a model file, TypeScript included. Exports are identified by their `kind`.
 *
 * @throws {cli.modelUnreadable} if it is missing, does not parse or throws, with file and line
 * @throws {schema.invalidModel} if the model is invalid
 */
export const loadModel = async (text: string | undefined, cwd: string): Promise<Model> => {
  const { path, exported } = findModel(text, cwd);
  const file = relative(cwd, path) || path;
  let exports = await importModel(path, file);
  if (exported !== undefined) {
    if (!(exported in exports)) throw usageError(`${file} has no export "${exported}".${didYouMean(exported, Object.keys(exports))}`);
    const value = exports[exported];
    const beside = Object.entries(exports).filter(
      ([name, one]) => name === "streamHandlers" || (kindOf(one) === "patterns" && (one as Patterns).graph === value),
    );
    exports = Object.fromEntries([[exported, value], ...beside]);
  }
  const patterns = exportsOfKind<Patterns>(exports, "patterns");
  const given = exports["streamHandlers"];
  const streamHandlers = typeof given === "object" && given !== null ? given : undefined;
  const graphs = exportsOfKind<AnyGraph>(exports, "graph");
  const known = new Set(graphs.map(({ value }) => value));
  for (const { name, value } of patterns) if (!known.has(value.graph)) graphs.push({ name, value: value.graph });
  if (graphs.length > 0) return { path, file, graphs, patterns, streamHandlers };
  throw unreadable(`${file} exports no graph. Export the result of defineGraph, as in \`export const shop = defineGraph({ … })\`.`, {
    path,
    exports: Object.keys(exports),
  });
};

/** The only graph of a model. @throws {cli.usage} if there are several and none was named */
export const theGraph = ({ graphs, file }: Model): AnyGraph => {
  const [first, ...more] = graphs;
  if (first && more.length === 0) return first.value;
  const names = graphs.map(({ name }) => name);
  throw usageError(`${file} exports several graphs (${names.join(", ")}). Choose one, such as --model ${file}#${names[0] ?? ""}.`);
};

/** A pattern with its plan, or with the reason why it has none. */
export interface PlannedPattern {
  readonly name: string;
  readonly question: string;
  readonly explanation: Explanation | undefined;
  readonly problem: Failure | undefined;
}

/** Plans each pattern separately, so that one that cannot be planned does not hide the others. */
export const planPatterns = async (of: Patterns): Promise<readonly PlannedPattern[]> => {
  const planned: PlannedPattern[] = [];
  for (const [name, pattern] of Object.entries(of.patterns)) {
    const { question } = pattern;
    try {
      const [explained] = await explainPatterns({ ...of, patterns: { [name]: pattern } });
      planned.push({ name, question, explanation: explained?.explanation, problem: undefined });
    } catch (error) {
      planned.push({ name, question, explanation: undefined, problem: failureOf(error) });
    }
  }
  return planned;
};
