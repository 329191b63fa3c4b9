import { didYouMean, EdgetableError } from "edgetable";

/** Options of an engine. */
export interface EngineOptions {
  /** Path of the database file, created if missing. @default in memory, until the engine stops */
  readonly file?: string | undefined;
  /** Port on 127.0.0.1 that clients connect to, 1 to 65,535; 0 takes a free one. @default 0 */
  readonly port?: number | undefined;
  /** Aborts the start, and stops the engine later. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the engine must answer a request, 1 to 600,000. @default 10000; 60000 for DynamoDB Local, 300000 in Docker */
  readonly startTimeout?: number | undefined;
  /** Path of a dynoxide binary. @default EDGETABLE_ENGINE, the platform package, `dynoxide` on PATH */
  readonly binary?: string | undefined;
  /** Origins of web pages that may use the engine, such as `http://localhost:5173`. @default none: all pages are refused */
  readonly allowOrigins?: readonly string[] | undefined;
  /** Names to accept in the Host header, besides those of loopback, such as `host.docker.internal`. @default none */
  readonly allowHosts?: readonly string[] | undefined;
  /**
   * Milliseconds between deletions of expired items, 100 to 86,400,000. Each deletion reads every table with a time to live.
   * @default never: the embedded engine keeps expired items
   */
  readonly sweepEvery?: number | undefined;
  /**
   * Which engine to start: the embedded one, or Amazon DynamoDB Local, in memory, on Java or Docker.
   * @default "dynoxide"
   */
  readonly engine?: EngineName | undefined;
  /** Path of DynamoDBLocal.jar. @default EDGETABLE_DYNAMODB_LOCAL_JAR, else what Maven fetches, else a Docker image */
  readonly jar?: string | undefined;
}

/** The engines that can be started. */
export type EngineName = "dynoxide" | "dynamodb-local";

const invalidOption = (option: string, value: unknown, rule: string): EdgetableError =>
  new EdgetableError("plan.invalidOption", `${option} is ${JSON.stringify(value)}: ${rule}.`, { details: { option, value } });

const checkNumber = (option: string, value: number | undefined, [lowest, highest]: readonly [number, number]): void => {
  if (value === undefined || (Number.isInteger(value) && value >= lowest && value <= highest)) return;
  throw invalidOption(option, value, `give a whole number from ${lowest} to ${highest}`);
};

const known: Readonly<Record<keyof EngineOptions, true>> = {
  file: true,
  port: true,
  signal: true,
  startTimeout: true,
  binary: true,
  allowOrigins: true,
  allowHosts: true,
  sweepEvery: true,
  engine: true,
  jar: true,
};

/** @throws {plan.invalidOption} if an option is unknown, a value is out of range, or two options exclude each other */
export const checkOptions = (options: EngineOptions): void => {
  for (const option of Object.keys(options))
    if (!Object.hasOwn(known, option))
      throw new EdgetableError("plan.invalidOption", `There is no option "${option}".${didYouMean(option, Object.keys(known))}`, {
        details: { option },
      });
  const { port, startTimeout, sweepEvery, allowOrigins = [], allowHosts = [], file, engine = "dynoxide", jar, binary } = options;
  checkNumber("port", port, [0, 65_535]);
  checkNumber("startTimeout", startTimeout, [1, 600_000]);
  checkNumber("sweepEvery", sweepEvery, [100, 86_400_000]);
  for (const [option, values] of Object.entries({ allowOrigins, allowHosts }))
    if (!Array.isArray(values)) throw invalidOption(option, values, "give a list of texts");
  for (const origin of allowOrigins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw invalidOption("allowOrigins", origin, 'give scheme, host and port only, such as "http://localhost:5173"');
  for (const name of allowHosts)
    if (!/^[\w.-]+$/.test(name))
      throw invalidOption("allowHosts", name, 'give a name without scheme and port, such as "host.docker.internal"');
  if (file === "") throw invalidOption("file", file, "give the path of a database file, or omit it for one in memory");
  if (engine !== "dynoxide" && engine !== "dynamodb-local") throw invalidOption("engine", engine, 'give "dynoxide" or "dynamodb-local"');
  if (engine === "dynamodb-local" && file !== undefined)
    throw invalidOption(
      "file",
      file,
      "DynamoDB Local loses acknowledged writes to a file when it is killed, so it runs in memory only; omit file",
    );
  if (engine === "dynamodb-local" && binary !== undefined)
    throw invalidOption("binary", binary, 'it names a dynoxide; with engine "dynamodb-local" give jar');
  if (engine === "dynoxide" && jar !== undefined) throw invalidOption("jar", jar, 'give engine "dynamodb-local" with it');
};
