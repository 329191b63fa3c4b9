import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { createJiti } from "jiti";
import { didYouMean, EdgetableError, type AnyGraph, type Patterns } from "edgetable";
import { failureOf, usageError } from "../failure.ts";
import { compiledCache } from "./compiled-cache.ts";
import { findModel, type ModelPlace } from "./find-model.ts";

/** What a model file exports. */
export interface Model {
  readonly path: string;
  /** Relative to the working directory, for messages. */
  readonly file: string;
  readonly graphs: readonly Exported<AnyGraph>[];
  readonly patterns: readonly Exported<Patterns>[];
}

interface Exported<T> {
  readonly name: string;
  readonly value: T;
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/**
 * `:line:column` where the error's message names the model file, else `:line` from its stack: the first place
 * there is the nearest, and its column is one of the code that TypeScript became.
 */
const placeIn = (path: string, error: unknown): string => {
  const { message = "", stack = "" } = error instanceof Error ? error : {};
  const written = new RegExp(`${escaped(path)}(:\\d+(?::\\d+)?)`).exec(message);
  return (written ?? new RegExp(`${escaped(path)}(:\\d+)`).exec(stack))?.[1] ?? "";
};

const otherPlace = (error: unknown): string => {
  const found = /ParseError: [^\n]*\n\s*(\S+:\d+:\d+)/.exec(error instanceof Error ? error.message : "");
  return found?.[1] === undefined ? "" : ` (${found[1]})`;
};

const lineOfImport = (path: string, name: string): string => {
  const at = readFileSync(path, "utf8")
    .split("\n")
    .findIndex((line) => line.includes(`"${name}"`) || line.includes(`'${name}'`));
  return at < 0 ? "" : `:${at + 1}`;
};

const unreadable = (path: string, file: string, error: unknown): EdgetableError => {
  const { message, code, details } = failureOf(error);
  const place = placeIn(path, error);
  const absent = /^Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1];
  if (code === "schema.invalidModel") return new EdgetableError(code, `${file}${place}: ${message}`, { details, cause: error });
  const context = { details: { path }, cause: error };
  if (absent !== undefined) {
    const mend = absent.startsWith(".") || absent.startsWith("/") ? "There is no such file." : `Install it: npm install ${absent}`;
    return new EdgetableError(
      "cli.modelUnreadable",
      `${file}${lineOfImport(path, absent)} imports "${absent}", which cannot be found. ${mend}`,
      context,
    );
  }
  const problem = (message.split("\n")[0] ?? "").replace(/^ParseError: /, "").trim();
  const elsewhere = place === "" ? otherPlace(error) : "";
  return new EdgetableError("cli.modelUnreadable", `${file}${place} cannot be read: ${problem.replace(/\.$/, "")}${elsewhere}.`, context);
};

const kindOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? (value as { readonly kind?: unknown }).kind : undefined;

/** Node has nothing left to do, and the model is still awaited. */
const untilIdle = async <T>(work: Promise<T>): Promise<T> => {
  let stop = (): void => {};
  const idle = new Promise<never>((_, reject) => {
    stop = () => reject(new Error("it awaits what never comes"));
    process.once("beforeExit", stop);
  });
  try {
    return await Promise.race([work, idle]);
  } finally {
    process.off("beforeExit", stop);
  }
};

// Standard output is for answers, which may be rows for a file.
const printingAside = async <T>(work: () => Promise<T>): Promise<T> => {
  const { log, info } = console;
  Object.assign(console, { log: console.error, info: console.error });
  try {
    return await work();
  } finally {
    Object.assign(console, { log, info });
  }
};

const importModel = async (path: string, file: string): Promise<Readonly<Record<string, unknown>>> => {
  try {
    // Resolves the model's imports from the model's own place: its `edgetable` may be another copy than ours.
    // `interopDefault`: a CommonJS model makes modules of what it requires, and those import Node's by default.
    const jiti = createJiti(path, { interopDefault: true, moduleCache: false, fsCache: compiledCache(path) });
    const found = await printingAside(() => untilIdle(jiti.import<Readonly<Record<string, unknown>>>(path)));
    // What CommonJS assigns to module.exports may be the graph itself.
    return kindOf(found) === "graph" && !Object.hasOwn(found, "default") ? { default: found } : found;
  } catch (error) {
    throw unreadable(path, file, error);
  }
};

const ofKind = <T>(exports: Readonly<Record<string, unknown>>, kind: string): readonly Exported<T>[] => {
  const found = new Map<unknown, string>();
  for (const [name, value] of Object.entries(exports)) {
    // A default export that is also exported by name keeps the name.
    if (kindOf(value) === kind && (!found.has(value) || found.get(value) === "default")) found.set(value, name);
  }
  return [...found].map(([value, name]) => ({ name, value: value as T }));
};

const withPatternGraphs = (
  graphs: readonly Exported<AnyGraph>[],
  patterns: readonly Exported<Patterns>[],
): readonly Exported<AnyGraph>[] => {
  const known = new Set(graphs.map(({ value }) => value));
  return [...graphs, ...patterns.flatMap(({ name, value }) => (known.has(value.graph) ? [] : [{ name, value: value.graph }]))];
};

const only = (exports: Readonly<Record<string, unknown>>, place: ModelPlace, file: string): Readonly<Record<string, unknown>> => {
  const { exported } = place;
  if (exported === undefined) return exports;
  if (!(exported in exports)) throw usageError(`${file} exports no "${exported}".${didYouMean(exported, Object.keys(exports))}`);
  const value = exports[exported];
  const patterns = Object.entries(exports).filter(([, one]) => kindOf(one) === "patterns" && (one as Patterns).graph === value);
  return Object.fromEntries([[exported, value], ...patterns]);
};

/**
 * Reads a model file, TypeScript included. Exports are told by their `kind`.
 *
 * @throws {cli.modelUnreadable} when it is missing, does not parse or throws, with file and line.
 * @throws {schema.invalidModel} when the model itself is wrong.
 */
export const loadModel = async (text: string | undefined, cwd: string): Promise<Model> => {
  const place = findModel(text, cwd);
  const file = relative(cwd, place.path) || place.path;
  const exports = only(await importModel(place.path, file), place, file);
  const patterns = ofKind<Patterns>(exports, "patterns");
  const graphs = withPatternGraphs(ofKind<AnyGraph>(exports, "graph"), patterns);
  if (graphs.length > 0) return { path: place.path, file, graphs, patterns };
  throw new EdgetableError(
    "cli.modelUnreadable",
    `${file} exports no graph: export what defineGraph gives, such as \`export const shop = defineGraph({ … })\`.`,
    { details: { path: place.path, exports: Object.keys(exports) } },
  );
};

/**
 * The one graph of a model.
 *
 * @throws {cli.usage} when there are several and none was named.
 */
export const theGraph = ({ graphs, file }: Model): AnyGraph => {
  const [first, ...more] = graphs;
  if (first && more.length === 0) return first.value;
  const names = graphs.map(({ name }) => name);
  throw usageError(`${file} exports several graphs (${names.join(", ")}): say which, such as --model ${file}#${names[0] ?? ""}.`);
};
