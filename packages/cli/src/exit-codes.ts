/** Exit codes, as listed by `--help` and README.md. */
export const exitCode = {
  ok: 0,
  /** Negative result: not found, a failed check, rows that were not loaded. */
  no: 1,
  usage: 2,
  model: 3,
  /** Service, connection, credentials, engine. */
  service: 4,
  /** A bug in edgetable. */
  defect: 70,
  /** Standard output or a file cannot be written. */
  output: 74,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The section of `--help`. */
export const exitCodeHelp = `Exit codes:
  0    success
  1    negative result: not found, a check failed, rows were not loaded
  2    incorrect usage
  3    the model cannot be read or is invalid
  4    service, connection, credentials or engine error
  70   a bug in edgetable
  74   the output cannot be written, and is incomplete
  130  interrupted

Each error names its section of docs/errors.md in node_modules/edgetable.`;

const byFamily: Readonly<Record<string, ExitCode>> = {
  schema: exitCode.usage,
  keys: exitCode.usage,
  plan: exitCode.usage,
  traverse: exitCode.usage,
  request: exitCode.usage,
  cursor: exitCode.usage,
  execute: exitCode.service,
  local: exitCode.service,
  job: exitCode.no,
  load: exitCode.no,
  scan: exitCode.no,
  table: exitCode.no,
  stream: exitCode.no,
  migrate: exitCode.no,
  analytics: exitCode.usage,
  grid: exitCode.usage,
};

const byCode: Readonly<Record<string, ExitCode>> = {
  "schema.invalidModel": exitCode.model,
  "cli.modelUnreadable": exitCode.model,
  "cli.usage": exitCode.usage,
  "cli.output": exitCode.output,
  "execute.aborted": exitCode.interrupted,
  "grid.unfitRows": exitCode.no,
  "execute.notWritten": exitCode.no,
  "analytics.column": exitCode.no,
  "analytics.engine": exitCode.service,
  "analytics.export": exitCode.no,
  // The model cannot read the stored data.
  "keys.unreadable": exitCode.no,
  "plan.indexIncomplete": exitCode.no,
  "plan.uniqueIncomplete": exitCode.no,
  "plan.otherStorage": exitCode.no,
  "plan.unreadForm": exitCode.no,
};

/** The exit code for an error with the given code. */
export const exitCodeOf = (code: string): ExitCode => {
  if (Object.hasOwn(byCode, code)) return byCode[code] ?? exitCode.defect;
  const family = code.split(".")[0] ?? "";
  return Object.hasOwn(byFamily, family) ? (byFamily[family] ?? exitCode.defect) : exitCode.defect;
};
