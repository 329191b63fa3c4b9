import { isAbsolute, join, relative, resolve } from "node:path";
import type { AnyGraph } from "edgetable";
import { startEngine, type EngineName, type EngineOptions, type LocalEngine } from "@edgetable/local";
import { withDb } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { failureOf, hasCode, usageError } from "../failure.ts";
import { collect, defineCommand, note, type CommandSpec, type Invocation } from "../invocation.ts";
import { openFile } from "../load/open-file.ts";
import { runLoad, summary } from "../load/run-load.ts";
import { findModel } from "../model/find-model.ts";
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
  readonly engine?: EngineName;
  readonly jar?: string;
  readonly allowOrigin?: readonly string[];
  readonly allowHost?: readonly string[];
  /** Seconds. */
  readonly sweep?: number;
}

type Call = Invocation<Options>;

// DynamoDB Local's, which examples everywhere name.
const usualPort = 8000;

const fileOf = ({ options, io }: Call): string | undefined =>
  options.memory || options.engine === "dynamodb-local" ? undefined : resolve(io.cwd, options.file ?? join(".edgetable", "data.db"));

const portIsTaken = (error: unknown): boolean =>
  hasCode(error, "local.engineFailed") && /already in use|address in use/i.test(failureOf(error).message);

/** Starts the engine on the usual port, and on a free one where that is taken; one that was asked for must be free. */
const start = async (call: Call): Promise<LocalEngine> => {
  const { engine, jar, allowOrigin, allowHost, sweep } = call.options;
  const options: EngineOptions = {
    signal: call.io.signal,
    file: fileOf(call),
    engine,
    jar: jar === undefined ? undefined : resolve(call.io.cwd, jar),
    allowOrigins: allowOrigin,
    allowHosts: allowHost,
    sweepEvery: sweep === undefined ? undefined : sweep * 1000,
  };
  if (engine === "dynamodb-local" && !call.options.json) note(call, "Starting DynamoDB Local. The first start may have to fetch it.");
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

/** The model that is named or lies here. Without one the engine starts all the same, with the tables that its file has. */
const modelOf = async ({ options, io }: Call): Promise<Model | undefined> => {
  try {
    findModel(options.model, io.cwd);
  } catch (error) {
    if (options.model === undefined) return undefined;
    throw error;
  }
  return loadModel(options.model, io.cwd);
};

const prepare = async (
  graphs: Model["graphs"],
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

const loadSample = async (call: Call, model: Model | undefined, endpoint: string): Promise<string | undefined> => {
  const { data } = call.options;
  if (data === undefined || model === undefined) return undefined;
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

/** How this platform's usual shell sets a variable. */
const exported = (name: string, value: string): string =>
  process.platform === "win32" ? `$env:${name} = "${value}"` : `export ${name}=${value}`;

const engineNames: Readonly<Record<EngineName, string>> = { dynoxide: "dynoxide", "dynamodb-local": "DynamoDB Local" };

interface Ready {
  readonly engine: LocalEngine;
  readonly model: Model | undefined;
  readonly tables: readonly Prepared[];
  readonly loaded: string | undefined;
}

const announce = (call: Call, { engine, model, tables, loaded }: Ready): void => {
  const { io, style, options } = call;
  const { endpoint, version, pid } = engine;
  const taken = options.port === undefined && !endpoint.endsWith(`:${usualPort}`) ? `  (port ${usualPort} is taken)` : "";
  const file = fileOf(call);
  // One line, so that a script that starts it can wait for it.
  if (options.json) io.out.write(`${toJson({ endpoint, engine: engine.engine, version, pid, file: file ?? null, tables })}\n`);
  else {
    const created = tables.map(({ table, created }) => `${table}${created ? " (created)" : ""}`).join(", ");
    const pairs: readonly (readonly [string, string])[] = [
      ["endpoint", `${endpoint}${taken}`],
      ["data", shown(file, io.cwd)],
      ["tables", model ? created : "none created: there is no model here; --model names one, edgetable init makes one"],
      ...(loaded === undefined ? [] : [["loaded", loaded] as const]),
      ["connect", `graph.connect({ endpoint: "${endpoint}" })`],
      ["shell", `${exported("AWS_ENDPOINT_URL_DYNAMODB", endpoint)}   (then graph.connect(), edgetable and AWS's own clients go here)`],
      ["engine", `${engineNames[engine.engine]} ${version}, process ${pid}`],
    ];
    io.out.write(`${renderPairs(pairs, io.out.columns, style)}\n`);
    note(call, "Ctrl-C stops the engine.");
  }
};

export const devCommand: CommandSpec = defineCommand<Options>({
  name: "dev",
  group: "Develop:",
  summary: "Run an engine on this machine, with the model's tables",
  description:
    "The data stays in a file until that is deleted. Ctrl-C stops the engine and ends with 0. Without a model it starts with no table of its own. Programs on this machine can connect; web pages cannot, unless --allow-origin names theirs.",
  options: [
    { flags: "--file <path>", text: "database file (default: .edgetable/data.db)" },
    { flags: "--memory", text: "keep everything in memory instead" },
    { flags: "--port <n>", text: "port on 127.0.0.1 (default: 8000, or a free one where that is taken)", parse: wholeNumber(65_535) },
    { flags: "--data <file>", text: "load this JSON or NDJSON file first (its form: edgetable load --help)" },
    { flags: "--sweep <seconds>", text: "delete items whose time to live is over, so often (default: never)", parse: wholeNumber(86_400) },
    {
      flags: "--allow-origin <origin>",
      text: "let web pages of this origin read and write, such as http://localhost:5173; repeatable",
      parse: collect,
    },
    { flags: "--allow-host <name>", text: "accept this name in the Host header, such as host.docker.internal; repeatable", parse: collect },
    {
      flags: "--engine <name>",
      text: "dynoxide, or Amazon's dynamodb-local, in memory, by Java or Docker (default: dynoxide)",
      choices: ["dynoxide", "dynamodb-local"],
    },
    { flags: "--jar <path>", text: "DynamoDBLocal.jar to run (default: EDGETABLE_DYNAMODB_LOCAL_JAR, else Maven fetches it, else Docker)" },
  ],
  examples: [
    "edgetable dev",
    "edgetable dev --memory --data sample.json",
    "edgetable dev --model src/graph.ts --file /tmp/graph.db --port 8123",
    "edgetable dev --engine dynamodb-local",
  ],
  run: async (call) => {
    const { memory, file, data, engine: name } = call.options;
    if (memory && file !== undefined) throw usageError("Give one of --file and --memory.");
    if (name === "dynamodb-local" && file !== undefined) throw usageError("DynamoDB Local runs in memory: leave out --file.");
    if (data !== undefined && /\.[ct]sv$/i.test(data))
      throw usageError(`--data takes JSON or NDJSON, whose rows say what they are. Load ${data} by edgetable load, while this runs.`);
    const model = await modelOf(call);
    if (data !== undefined && model === undefined) throw usageError("--data needs a model, and there is none here: --model names one.");
    const engine = await start(call);
    try {
      const { endpoint } = engine;
      const tables = await prepare(model?.graphs ?? [], { endpoint, signal: call.io.signal });
      const loaded = await loadSample(call, model, endpoint);
      announce(call, { engine, model, tables, loaded });
      await untilInterrupted(engine, fileOf(call), call.io.signal);
    } finally {
      await engine.stop();
    }
    const kept = fileOf(call);
    note(
      call,
      kept === undefined ? "Stopped. The data was in memory, and is gone." : `Stopped. The data stays in ${shown(kept, call.io.cwd)}.`,
    );
    return exitCode.ok;
  },
});
