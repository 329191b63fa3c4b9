import { statSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { startEngine, type EngineName, type EngineOptions, type LocalEngine } from "@edgetable/local";
import { type AnyGraph, EdgetableError } from "edgetable";
import { checkGraph } from "edgetable/check";
import { withDb } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { failureOf, hasCode, usageError } from "../failure.ts";
import { collect, defineCommand, note, wholeNumber, type CommandSpec, type Invocation } from "../invocation.ts";
import { loadFile, summary } from "../load/load-file.ts";
import { openFile } from "../load/read-file.ts";
import { findModel, loadModel, theGraph, type Model } from "../model.ts";
import { toJson } from "../output/json.ts";
import { openLink, type RunningStudio, startStudio } from "./studio.ts";
import { renderPairs } from "../output/table.ts";

interface Options {
  readonly file?: string;
  readonly memory?: boolean;
  readonly port?: number;
  readonly data?: string;
  readonly engine?: EngineName;
  readonly jar?: string;
  readonly allowOrigin?: readonly string[];
  readonly allowHost?: readonly string[];
  /** Seconds. */
  readonly sweep?: number;
  readonly studio?: boolean;
  readonly write?: boolean;
  readonly open?: boolean;
}

type Call = Invocation<Options>;

// The port of DynamoDB Local, which most examples use.
const DEFAULT_PORT = 8000;
/** Milliseconds between two checks that the database file still exists. */
const CHECK_INTERVAL = 500;

/** Starts the engine on the given port. Without one, uses the default port, or a free one if that is in use. */
const start = async (call: Call, file: string | undefined): Promise<LocalEngine> => {
  const { engine, jar, allowOrigin, allowHost, sweep, port } = call.options;
  const options: EngineOptions = {
    signal: call.io.signal,
    file,
    engine,
    jar: jar === undefined ? undefined : resolve(call.io.cwd, jar),
    allowOrigins: allowOrigin,
    allowHosts: allowHost,
    sweepEvery: sweep === undefined ? undefined : sweep * 1000,
  };
  if (engine === "dynamodb-local" && !call.options.json) note(call, "Starting DynamoDB Local. The first start may download it.");
  try {
    return await startEngine({ ...options, port: port ?? DEFAULT_PORT });
  } catch (error) {
    const inUse = hasCode(error, "local.engineFailed") && /already in use|address in use/i.test(failureOf(error).message);
    if (port !== undefined || !inUse) throw error;
    return startEngine(options);
  }
};

/** The model that is named or in this folder. Without one, the engine starts with the tables in its file. */
const modelOf = async ({ options, io }: Call): Promise<Model | undefined> => {
  try {
    findModel(options.model, io.cwd);
  } catch (error) {
    if (options.model === undefined) return undefined;
    throw error;
  }
  return loadModel(options.model, io.cwd);
};

const shown = (path: string | undefined, cwd: string): string => {
  if (path === undefined) return "in memory; lost when the engine stops";
  const short = relative(cwd, path);
  return short.startsWith("..") || isAbsolute(short) ? path : short;
};

interface MadeTable {
  readonly table: string;
  readonly created: boolean;
  /** Why the table that is in the file does not fit the model, and what to do. */
  readonly problem?: string;
}

/** Creates a table. One in the file that does not fit the model stays, because migrating or deleting it needs a running engine. */
const createTable = async (graph: AnyGraph, endpoint: string, signal: AbortSignal): Promise<MadeTable> => {
  const { table } = graph.catalog;
  // The embedded engine writes more slowly while it records changes.
  const stream = checkGraph(graph).some(({ rule }) => rule === "neededStream");
  try {
    const { created } = await withDb(graph, { endpoint }, (db) => db.table.create({ signal, stream }));
    return { table, created };
  } catch (error) {
    if (!hasCode(error, "table.mismatch")) throw error;
    return { table, created: false, problem: failureOf(error).message };
  }
};

interface Ready {
  readonly engine: LocalEngine;
  readonly file: string | undefined;
  readonly model: Model | undefined;
  readonly tables: readonly MadeTable[];
  readonly loaded: string | undefined;
  readonly studio: RunningStudio | undefined;
}

const announce = (call: Call, { engine, file, model, tables, loaded, studio }: Ready): void => {
  const { io, style, options } = call;
  const { endpoint, version, pid } = engine;
  if (options.json) {
    // On one line, so that a script that starts the engine can wait for it.
    io.out.write(
      `${toJson({ endpoint, engine: engine.engine, version, pid, file: file ?? null, tables, ...(studio && { studio: studio.link }) })}\n`,
    );
    return;
  }
  const taken = options.port === undefined && !endpoint.endsWith(`:${DEFAULT_PORT}`) ? `  (port ${DEFAULT_PORT} is in use)` : "";
  const name = "AWS_ENDPOINT_URL_DYNAMODB";
  const variable = process.platform === "win32" ? `$env:${name} = "${endpoint}"` : `export ${name}=${endpoint}`;
  const state = ({ created, problem }: MadeTable): string => (created ? " (created)" : problem ? " (does not fit the model)" : "");
  const shownTables = tables.map((one) => `${one.table}${state(one)}`).join(", ");
  const pairs: (readonly [string, string])[] = [
    ["endpoint", `${endpoint}${taken}`],
    ["data", shown(file, io.cwd)],
    ["tables", model ? shownTables : "none created: no model found (use --model, or create one with edgetable init)"],
    ["connect", `graph.connect({ endpoint: "${endpoint}" })`],
    ["shell", `${variable}   (directs graph.connect(), edgetable and AWS clients here)`],
    ["engine", `${engine.engine === "dynoxide" ? "dynoxide" : "DynamoDB Local"} ${version}, process ${pid}`],
  ];
  if (studio) pairs.push(["studio", studio.link]);
  if (loaded !== undefined) pairs.splice(3, 0, ["loaded", loaded]);
  io.out.write(`${renderPairs(pairs, io.out.columns, style)}\n`);
  for (const { problem } of tables) if (problem) note(call, problem);
  note(call, "Press Ctrl-C to stop the engine.");
};

/** Identifies a file independently of its path; undefined if it does not exist. */
const identity = (file: string | undefined): string | undefined => {
  const state = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  return state && `${state.dev} ${state.ino}`;
};

/**
 * Resolves when the signal aborts. The engine does not keep this process alive, and it continues to answer requests if its
 * database file is removed, so a timer does both.
 *
 * @throws {local.engineFailed} if the engine ends, or its file is gone
 */
const untilInterrupted = (engine: LocalEngine, file: string | undefined, signal: AbortSignal): Promise<void> =>
  new Promise((done, reject) => {
    const before = identity(file);
    const timer = setInterval(() => {
      if (identity(file) === before) return;
      const message = `${file} was removed or replaced, and its data is lost. Start the engine again and reload the data.`;
      end(new EdgetableError("local.engineFailed", message, { details: { file } }));
    }, CHECK_INTERVAL);
    const end = (failure: EdgetableError | undefined): void => {
      clearInterval(timer);
      signal.removeEventListener("abort", interrupted);
      if (failure) reject(failure);
      else done();
    };
    const interrupted = (): void => end(undefined);
    if (signal.aborted) return interrupted();
    signal.addEventListener("abort", interrupted, { once: true });
    void engine.ended.then(end);
  });

export const devCommand: CommandSpec = defineCommand<Options>({
  name: "dev",
  group: "Develop:",
  summary: "Run a local engine with the model's tables",
  description:
    "Keeps the data in a file. Ctrl-C stops the engine and exits with 0. Without a model, it starts the engine and creates no tables. Programs on this machine can connect; web pages cannot, unless you allow their origin with --allow-origin.",
  options: [
    { flags: "--file <path>", text: "database file (default: .edgetable/data.db)" },
    { flags: "--memory", text: "keep the data in memory instead" },
    { flags: "--port <n>", text: "port on 127.0.0.1 (default: 8000, or a free one if that is in use)", parse: wholeNumber(65_535) },
    { flags: "--data <file>", text: "first load this JSON or NDJSON file (format: edgetable load --help)" },
    { flags: "--studio", text: "serve the studio, too: the tables in a browser" },
    { flags: "--open", text: "with --studio: open it in the browser" },
    { flags: "--write", text: "with --studio: let its pages create, change, link and delete" },
    { flags: "--sweep <seconds>", text: "delete expired items at this interval (default: never)", parse: wholeNumber(86_400) },
    {
      flags: "--allow-origin <origin>",
      text: "let web pages of this origin read and write, such as http://localhost:5173; can be repeated",
      parse: collect,
    },
    {
      flags: "--allow-host <name>",
      text: "accept this name in the Host header, such as host.docker.internal; can be repeated",
      parse: collect,
    },
    {
      flags: "--engine <name>",
      text: "dynoxide, or Amazon's dynamodb-local, in memory, with Java or Docker (default: dynoxide)",
      choices: ["dynoxide", "dynamodb-local"],
    },
    { flags: "--jar <path>", text: "DynamoDBLocal.jar to run (default: EDGETABLE_DYNAMODB_LOCAL_JAR, else from Maven, else Docker)" },
  ],
  examples: [
    "edgetable dev",
    "edgetable dev --memory --data sample.json",
    "edgetable dev --studio --open",
    "edgetable dev --model src/graph.ts --file /tmp/graph.db --port 8123",
    "edgetable dev --engine dynamodb-local",
  ],
  run: async (call) => {
    const { io, options } = call;
    const { signal } = io;
    const { memory, data, engine: name } = options;
    if (memory && options.file !== undefined) throw usageError("Use only one of --file and --memory.");
    if (name === "dynamodb-local" && options.file !== undefined) throw usageError("DynamoDB Local runs in memory: omit --file.");
    if (data !== undefined && /\.[ct]sv$/i.test(data))
      throw usageError(`--data accepts JSON or NDJSON. While this runs, load ${data} with edgetable load.`);
    const model = await modelOf(call);
    if (data !== undefined && model === undefined) throw usageError("--data needs a model, and none was found. Name it with --model.");
    for (const name of ["open", "write"] as const) if (options[name] && !options.studio) throw usageError(`--${name} needs --studio.`);
    if (options.studio) {
      if (model === undefined) throw usageError("--studio needs a model, and none was found. Name it with --model.");
      theGraph(model);
    }
    const file = memory || name === "dynamodb-local" ? undefined : resolve(io.cwd, options.file ?? join(".edgetable", "data.db"));
    const engine = await start(call, file);
    try {
      const { endpoint } = engine;
      const tables: MadeTable[] = [];
      const graphs = new Map((model?.graphs ?? []).map(({ value }) => [value.catalog.table, value]));
      for (const graph of graphs.values()) tables.push(await createTable(graph, endpoint, signal));
      let loaded: string | undefined;
      if (data !== undefined && model !== undefined) {
        const load = { name: data, targets: [] };
        loaded = summary(data, await withDb(theGraph(model), { endpoint }, (db) => loadFile(db, openFile(data, {}, io), { io, load })));
      }
      const here: Invocation<Options> = { ...call, options: { ...options, endpoint } };
      const studio = options.studio && model ? await startStudio(here, model, { write: options.write ?? false }) : undefined;
      try {
        announce(call, { engine, file, model, tables, loaded, studio });
        if (studio && options.open) openLink(call, studio.oneTimeLink());
        await untilInterrupted(engine, file, signal);
      } finally {
        await studio?.close();
      }
    } finally {
      await engine.stop();
    }
    note(call, file === undefined ? "Stopped. The data was in memory and is gone." : `Stopped. The data is in ${shown(file, io.cwd)}.`);
    return exitCode.ok;
  },
});
