/** How the command ends; printed by `--help` and listed in README.md. */
export const exitCode = {
  ok: 0,
  /** The answer is no: not found, a check that failed, rows that were not loaded. */
  no: 1,
  usage: 2,
  model: 3,
  /** Service, connection, credentials, engine. */
  service: 4,
  /** A defect of edgetable. */
  defect: 70,
  /** Standard output, or a file, takes no more. */
  output: 74,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** What `--help` says of them. */
export const exitCodeHelp = `Exit codes:
  0    done
  1    the answer is no: not found, a check failed, rows were not loaded
  2    wrong usage
  3    the model is unreadable or invalid
  4    service, connection, credentials or engine
  70   a defect of edgetable
  74   an output cannot be written; what is there of it is not whole
  130  interrupted

An error names its section of docs/errors.md in node_modules/edgetable.`;

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
  analytics: exitCode.usage,
};

const byCode: Readonly<Record<string, ExitCode>> = {
  "schema.invalidModel": exitCode.model,
  "cli.modelUnreadable": exitCode.model,
  "cli.usage": exitCode.usage,
  "cli.output": exitCode.output,
  "execute.aborted": exitCode.interrupted,
  "execute.notWritten": exitCode.no,
  "analytics.column": exitCode.no,
  "analytics.engine": exitCode.service,
  "analytics.export": exitCode.no,
  // Stored data that the model cannot read.
  "keys.unreadable": exitCode.no,
};

/** How the command ends on an error of the given code. */
export const exitCodeOf = (code: string): ExitCode => {
  if (Object.hasOwn(byCode, code)) return byCode[code] ?? exitCode.defect;
  const family = code.split(".")[0] ?? "";
  return Object.hasOwn(byFamily, family) ? (byFamily[family] ?? exitCode.defect) : exitCode.defect;
};
