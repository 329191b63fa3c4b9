import { EdgetableError } from "edgetable";

/** How to start an engine. */
export interface EngineOptions {
  /** Path of the database file, made when missing. @default in memory, gone when the engine stops */
  readonly file?: string | undefined;
  /** Port on 127.0.0.1 that clients connect to, 1 to 65,535. @default a free one */
  readonly port?: number | undefined;
  /** Ends the start, and later the engine, when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the engine must answer a request, 1 to 600,000. @default 10000; 60000 for DynamoDB Local, 300000 in Docker */
  readonly startTimeout?: number | undefined;
  /** Path of a dynoxide binary. @default EDGETABLE_ENGINE, the platform package, `dynoxide` on PATH */
  readonly binary?: string | undefined;
  /** Origins of web pages that may use the engine, such as `http://localhost:5173`. @default none: every page is refused */
  readonly allowOrigins?: readonly string[] | undefined;
  /** Names in the Host header to accept beside those of loopback, such as `host.docker.internal`. @default none */
  readonly allowHosts?: readonly string[] | undefined;
  /**
   * Milliseconds between two deletions of items whose time to live is over, 100 to 86,400,000. Each reads every table
   * with a time to live. @default never: the embedded engine keeps such items
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

const refuse = (option: string, value: unknown, rule: string): never => {
  throw new EdgetableError("plan.invalidOption", `${option} is ${JSON.stringify(value)}: ${rule}.`, { details: { option, value } });
};

const checkNumber = (
  option: "port" | "startTimeout" | "sweepEvery",
  value: number | undefined,
  [least, most]: readonly [number, number],
): void => {
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return;
  refuse(option, value, `give a whole number from ${least} to ${most}`);
};

const checkTexts = (
  option: "allowOrigins" | "allowHosts",
  values: readonly string[] | undefined,
  rule: (text: string) => string | undefined,
): void => {
  if (values === undefined) return;
  if (!Array.isArray(values)) refuse(option, values, "give a list of texts");
  for (const value of values) {
    const broken = rule(value);
    if (broken !== undefined) refuse(option, value, broken);
  }
};

const originRule = (text: string): string | undefined =>
  URL.canParse(text) && new URL(text).origin === text ? undefined : 'give scheme, host and port alone, such as "http://localhost:5173"';

const hostRule = (text: string): string | undefined =>
  /^[\w.-]+$/.test(text) ? undefined : 'give a name without scheme and port, such as "host.docker.internal"';

/** @throws {plan.invalidOption} when a value is out of its range, or two options exclude each other. */
export const checkOptions = (options: EngineOptions): void => {
  const { port, startTimeout, sweepEvery, file, engine = "dynoxide", jar, binary } = options;
  checkNumber("port", port, [1, 65_535]);
  checkNumber("startTimeout", startTimeout, [1, 600_000]);
  checkNumber("sweepEvery", sweepEvery, [100, 86_400_000]);
  checkTexts("allowOrigins", options.allowOrigins, originRule);
  checkTexts("allowHosts", options.allowHosts, hostRule);
  if (file === "") refuse("file", file, "give the path of a database file, or leave it out for one in memory");
  if (engine !== "dynoxide" && engine !== "dynamodb-local") refuse("engine", engine, 'give "dynoxide" or "dynamodb-local"');
  if (engine === "dynamodb-local" && file !== undefined)
    refuse("file", file, "DynamoDB Local loses acknowledged writes of a file when it is killed, so it runs in memory only; leave file out");
  if (engine === "dynamodb-local" && binary !== undefined)
    refuse("binary", binary, 'it names a dynoxide; with engine "dynamodb-local" give jar');
  if (engine === "dynoxide" && jar !== undefined) refuse("jar", jar, 'give engine "dynamodb-local" with it');
};
