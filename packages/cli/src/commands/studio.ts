import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createLeanTransport } from "edgetable";
import { recordFolder } from "../batch-record.ts";
import { callOptions, endpointOf, placeOf } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { failureOf, usageError } from "../failure.ts";
import { defineCommand, note, wholeNumber, type CommandSpec, type Invocation } from "../invocation.ts";
import { loadModel, theGraph, type Model } from "../model.ts";
import { toJson } from "../output/json.ts";
import { renderPairs } from "../output/table.ts";
import { studioApi } from "../studio/studio-api.ts";
import { startStudioServer } from "../studio/studio-server.ts";

interface Options {
  readonly port?: number;
  readonly open?: boolean;
  readonly write?: boolean;
  readonly results?: string;
}

/**
 * The folder of the web app. It is a package of its own, so that a server's installation does not contain it.
 *
 * @throws {cli.usage} if the package is not installed
 */
export const findApp = async (load: () => Promise<{ readonly appFolder: string }> = () => import("@edgetable/studio")): Promise<string> => {
  try {
    return (await load()).appFolder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw usageError(`The studio is another package: npm install --save-dev @edgetable/studio (${failureOf(error).message})`);
  }
};

/** Opens a link with the system's program for it. */
export const openLink = (call: Invocation, link: string): void => {
  const [program, ...args] =
    process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["cmd", "/c", "start", ""] : ["xdg-open"];
  const child = spawn(program ?? "xdg-open", [...args, link], { stdio: "ignore", detached: true });
  child.once("error", () => note(call, `${program} is not available: open the link yourself.`));
  child.unref();
};

const isLocal = (endpoint: string | undefined): boolean =>
  endpoint !== undefined && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(endpoint).hostname);

/** Where the table is, as the page shows it: a host or a region, without what an endpoint may carry besides. */
const shownPlace = (call: Invocation): string => {
  const endpoint = endpointOf(call);
  if (endpoint !== undefined) return new URL(endpoint).host;
  const { io, options } = call;
  return options.region ?? io.env["AWS_REGION"] ?? io.env["AWS_DEFAULT_REGION"] ?? "AWS";
};

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** The folder or file with results of batch jobs: the one that is named, or else the records of the jobs over `lake`. @throws {cli.usage} */
const resultsOf = ({ io }: Invocation, named: string | undefined): string | undefined => {
  const path = resolve(io.cwd, named ?? recordFolder("lake"));
  if (existsSync(path)) return path;
  if (named !== undefined) throw usageError(`--results names "${named}", which does not exist.`);
  return undefined;
};

/** A studio that is served. */
export interface RunningStudio {
  /** With the token that admits to it. */
  readonly link: string;
  /** The same, with a token that is good for one request: other users of the machine may see what a program is started with. */
  readonly oneTimeLink: () => string;
  readonly close: () => Promise<void>;
}

/**
 * Serves the studio for the graph of a model.
 *
 * @throws {cli.usage} if `@edgetable/studio` is not installed, or the model has several graphs
 */
export const startStudio = async (
  call: Invocation,
  model: Model,
  { port = 0, write: writes = false, results }: Pick<Options, "port" | "write" | "results"> = {},
): Promise<RunningStudio> => {
  const graph = theGraph(model);
  const folder = await findApp();
  const transport = createLeanTransport(placeOf(call));
  const { api, close } = studioApi({
    model,
    graph,
    transport,
    options: callOptions,
    place: shownPlace(call),
    local: isLocal(endpointOf(call)),
    stream: placeOf(call),
    writes,
    results: resultsOf(call, results),
  });
  const end = async (): Promise<void> => {
    await close();
    await transport.close();
  };
  try {
    const server = await startStudioServer({ port, folder, api });
    return {
      link: server.link,
      oneTimeLink: () => server.oneTimeLink(),
      close: async () => {
        await server.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
};

export const studioCommand: CommandSpec = defineCommand<Options>({
  name: "studio",
  group: "Develop:",
  summary: "Look at the table, its patterns and its graph in a browser",
  description:
    "Serves a web app on 127.0.0.1 and prints its link. Only someone with the token in that link can use it. Without --write it sends no writes, whatever the model's code asks for; with --write, its pages can change rows, as the model validates them. The page loads nothing from any other host. Ctrl-C stops it and exits with 0.",
  options: [
    { flags: "--port <n>", text: "port on 127.0.0.1 (default: any free port)", parse: wholeNumber(65_535) },
    { flags: "--open", text: "open the link in the browser" },
    { flags: "--write", text: "let the page create, change, link and delete" },
    { flags: "--results <path>", text: "folder or file with results of batch jobs, for Live (default: lake.results, if there is one)" },
  ],
  examples: [
    "edgetable studio --open",
    "edgetable studio --endpoint http://127.0.0.1:8000 --write",
    "edgetable studio --model src/graph.ts --port 5600",
  ],
  run: async (call) => {
    const { io, options, style } = call;
    const model = await loadModel(options.model, io.cwd);
    const studio = await startStudio(call, model, options);
    try {
      const { table } = theGraph(model).catalog;
      if (options.json) io.out.write(`${toJson({ link: studio.link, table })}\n`);
      else {
        const pairs = [
          ["studio", studio.link],
          ["table", `${table} (${shownPlace(call)})`],
          ["model", model.file],
        ] as const;
        io.out.write(`${renderPairs(pairs, io.out.columns, style)}\n`);
        const may = options.write ? "read and change" : "read";
        note(call, `Anyone with the link can ${may} the table until the studio stops. Press Ctrl-C to stop it.`);
      }
      if (options.open) openLink(call, studio.oneTimeLink());
      await untilAborted(io.signal);
    } finally {
      await studio.close();
    }
    note(call, "Stopped.");
    return exitCode.ok;
  },
});
