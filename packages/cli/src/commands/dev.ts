import { isAbsolute, join, relative, resolve } from "node:path";
import type { AnyGraph } from "edgetable";
import { startEngine, type EngineOptions, type LocalEngine } from "@edgetable/local";
import { withDb } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { failureOf, hasCode, usageError } from "../failure.ts";
import { defineCommand, note, type CommandSpec, type Invocation } from "../invocation.ts";
import { openFile } from "../load/open-file.ts";
import { runLoad, summary } from "../load/run-load.ts";
import { loadModel, theGraph, type Model } from "../model/load-model.ts";
import { renderPairs } from "../output/table.ts";
import { toJson } from "../output/json.ts";
import { untilInterrupted } from "./watch-engine.ts";
import { wholeNumber } from "../text/whole-number.ts";

interface Options {
  readonly file?: string;
  readonly memory?: boolean;
  readonly port?: number;
  readonly data?: string;
}

type Call = Invocation<Options>;

// DynamoDB Local's, which examples everywhere name.
const usualPort = 8000;

const fileOf = ({ options, io }: Call): string | undefined =>
  options.memory ? undefined : resolve(io.cwd, options.file ?? join(".edgetable", "data.db"));

const portIsTaken = (error: unknown): boolean =>
  hasCode(error, "local.engineFailed") && /already in use|address in use/i.test(failureOf(error).message);

/** Starts the engine on the usual port, and on a free one where that is taken; one that was asked for must be free. */
const start = async (call: Call): Promise<LocalEngine> => {
  const file = fileOf(call);
  const options: EngineOptions = { signal: call.io.signal, ...(file === undefined ? {} : { file }) };
  try {
    return await startEngine({ ...options, port: call.options.port ?? usualPort });
  } catch (error) {
    if (call.options.port !== undefined || !portIsTaken(error)) throw error;
    return startEngine(options);
  }
};

interface Prepared {
  readonly table: string;
  readonly created: boolean;
}

const prepare = async (
  { graphs }: Model,
  connection: { readonly endpoint: string; readonly signal: AbortSignal },
): Promise<readonly Prepared[]> => {
  const prepared: Prepared[] = [];
  const tables = new Map<string, AnyGraph>(graphs.map(({ value }) => [value.catalog.table, value]));
  for (const [table, graph] of tables) {
    const { created } = await withDb(graph, { endpoint: connection.endpoint }, (db) => db.table.create({ signal: connection.signal }));
    prepared.push({ table, created });
  }
  return prepared;
};

const loadSample = async (call: Call, model: Model, endpoint: string): Promise<string | undefined> => {
  const { data } = call.options;
  if (data === undefined) return undefined;
  const result = await withDb(theGraph(model), { endpoint }, (db) =>
    runLoad(db, openFile(data, {}, call.io), { io: call.io, load: { name: data, targets: [] } }),
  );
  return summary(data, result);
};

const shown = (path: string | undefined, cwd: string): string => {
  if (path === undefined) return "in memory, gone when it stops";
  const short = relative(cwd, path);
  return short.startsWith("..") || isAbsolute(short) ? path : short;
};

interface Ready {
  readonly engine: LocalEngine;
  readonly tables: readonly Prepared[];
  readonly loaded: string | undefined;
}

const announce = (call: Call, { engine, tables, loaded }: Ready): void => {
  const { io, style, options } = call;
  const { endpoint, version, pid } = engine;
  const taken = options.port === undefined && !endpoint.endsWith(`:${usualPort}`) ? `  (port ${usualPort} is taken)` : "";
  const file = fileOf(call);
  // One line, so that a script that starts it can wait for it.
  if (options.json) io.out.write(`${toJson({ endpoint, version, pid, file: file ?? null, tables })}\n`);
  else {
    const pairs: readonly (readonly [string, string])[] = [
      ["endpoint", `${endpoint}${taken}`],
      ["data", shown(file, io.cwd)],
      ["tables", tables.map(({ table, created }) => `${table}${created ? " (created)" : ""}`).join(", ")],
      ...(loaded === undefined ? [] : [["loaded", loaded] as const]),
      ["connect", `graph.connect({ endpoint: "${endpoint}" })`],
      ["shell", `export AWS_ENDPOINT_URL_DYNAMODB=${endpoint}`],
      ["engine", `dynoxide ${version}, process ${pid}`],
    ];
    io.out.write(`${renderPairs(pairs, io.out.columns, style)}\n`);
    note(call, "Ctrl-C stops it.");
  }
};

export const devCommand: CommandSpec = defineCommand<Options>({
  name: "dev",
  group: "Develop:",
  summary: "Run an engine on this machine, with the model's tables",
  description: "The data stays in a file until that is deleted. Ctrl-C stops the engine and ends with 0.",
  options: [
    { flags: "--file <path>", text: "database file (default: .edgetable/data.db)" },
    { flags: "--memory", text: "keep everything in memory instead" },
    { flags: "--port <n>", text: "port on 127.0.0.1 (default: 8000, or a free one where that is taken)", parse: wholeNumber(65_535) },
    { flags: "--data <file>", text: "load this JSON or NDJSON file first (its form: edgetable load --help)" },
  ],
  examples: [
    "edgetable dev",
    "edgetable dev --memory --data sample.json",
    "edgetable dev --model src/graph.ts --file /tmp/graph.db --port 8123",
  ],
  run: async (call) => {
    const { memory, file, data } = call.options;
    if (memory && file !== undefined) throw usageError("Give one of --file and --memory.");
    if (data !== undefined && /\.[ct]sv$/i.test(data))
      throw usageError(`--data takes JSON or NDJSON, whose rows say what they are. Load ${data} by edgetable load, while this runs.`);
    const model = await loadModel(call.options.model, call.io.cwd);
    const engine = await start(call);
    try {
      const { endpoint } = engine;
      const tables = await prepare(model, { endpoint, signal: call.io.signal });
      const loaded = await loadSample(call, model, endpoint);
      announce(call, { engine, tables, loaded });
      await untilInterrupted(engine, fileOf(call), call.io.signal);
    } finally {
      await engine.stop();
    }
    note(call, "Stopped.");
    return exitCode.ok;
  },
});
