import { failureOf, type Failure } from "./failure.ts";
import type { Io } from "./io.ts";
import { toJson } from "./output/json.ts";
import { styleOf } from "./output/style.ts";
import { wrap } from "./output/width.ts";

/** What to do on the command line, where the library's own message speaks of code. */
const mends: Readonly<Record<string, string>> = {
  "execute.connection": "--endpoint names another.",
  "execute.tableNotFound": "--endpoint, --region and --profile say where.",
  "execute.expiredCredentials": "--profile chooses others.",
  "execute.credentials":
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or choose a profile with --profile; for a local engine give --endpoint.",
  "execute.accessDenied": "--profile chooses others.",
  invariant: "This is a defect of edgetable: please report it, with the output under EDGETABLE_DEBUG=1.",
};

// Where the words of the message say more than its code.
const further: readonly (readonly [code: string, words: RegExp, mend: string])[] = [
  ["plan.invalidOption", /^No AWS region/, "On the command line: --region NAME, or --endpoint URL for a local engine."],
  ["plan.notConsistent", /unordered\(\)/, "On the command line: leave out --consistent, or add --unordered."],
];

const mendOf = ({ code, message }: Failure): string | undefined =>
  further.find(([of, words]) => of === code && words.test(message))?.[2] ?? (Object.hasOwn(mends, code) ? mends[code] : undefined);

const text = (failure: Failure, io: Io): string => {
  const style = styleOf(io.err, io.env);
  const width = io.err.columns ?? Number.POSITIVE_INFINITY;
  const mend = mendOf(failure);
  const lines = [`${style.red("error:")} ${wrap(`error: ${failure.message}`, width).join("\n").slice("error: ".length)}`];
  if (mend !== undefined) lines.push(...wrap(mend, width - 2).map((line) => `  ${line}`));
  lines.push(style.dim(`  ${[failure.code, failure.docs].filter((one) => one !== undefined).join(" · ")}`));
  return `${lines.join("\n")}\n`;
};

const isOn = (value: string | undefined): boolean => value !== undefined && value !== "" && value !== "0";

/** Prints an error: its message, what to do, its code and where that is explained; its stack only when asked. */
export const reportFailure = (error: unknown, io: Io, json: boolean): void => {
  const failure = failureOf(error);
  const { message, code, docs, details } = failure;
  if (json) io.err.write(`${toJson({ error: { code, message, docs, details, mend: mendOf(failure) } })}\n`);
  else io.err.write(text(failure, io));
  if (isOn(io.env["EDGETABLE_DEBUG"])) {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) io.err.write(`${cause.stack ?? cause.message}\n`);
  }
};
