import type * as Analytics from "@edgetable/analytics";
import type { Lake, ResultRow } from "@edgetable/analytics";
import { failureOf, usageError } from "../failure.ts";
import { note, printJson, wholeNumber, type Invocation, type OptionSpec } from "../invocation.ts";
import { counted } from "../output/explanation.ts";
import { renderRows } from "../output/table.ts";

/** Loads the analytics package. DuckDB takes 70 MB, so it is installed only by those who run batch jobs. */
export const analytics = async (): Promise<typeof Analytics> => {
  try {
    return await import("@edgetable/analytics");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw usageError(`Batch jobs need another package: npm install @edgetable/analytics (${failureOf(error).message})`);
  }
};

/** Options of every command that uses a lake. */
export interface LakeOptions {
  readonly lake?: string;
  readonly memory?: string;
  readonly threads?: number;
}

/** The flags of {@link LakeOptions}. */
export const lakeOptions: readonly OptionSpec[] = [
  { flags: "--lake <folder>", text: "folder of the Parquet files (default: lake)" },
  { flags: "--memory <size>", text: "memory limit of DuckDB, such as 4GB; beyond it, DuckDB spills to disk (default: 2GB)" },
  { flags: "--threads <n>", text: "threads of the engine, 1 to 256", parse: wholeNumber(256) },
];

/** `--limit`. */
export const limitOption: OptionSpec = { flags: "--limit <n>", text: "rows to show (default: 20)", parse: wholeNumber(1_000_000) };

/** The limits of DuckDB that the options name. */
export const limitsOf = ({ memory, threads }: LakeOptions): Analytics.EngineLimits => ({
  ...(memory === undefined ? {} : { memoryLimit: memory }),
  ...(threads === undefined ? {} : { threads }),
});

/** Opens the lake for a command. */
export const withLake = async <T>(
  { options }: Invocation<LakeOptions>,
  use: (lake: Lake, module: typeof Analytics) => Promise<T>,
): Promise<T> => {
  const module = await analytics();
  const lake = await module.openLake(options.lake ?? "lake", limitsOf(options));
  try {
    return await use(lake, module);
  } finally {
    lake.close();
  }
};

/** Every integer column of a lake is read as a bigint: one that a JSON number holds is printed as a number. */
export const plainIntegers = (row: ResultRow): ResultRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value,
    ]),
  );

/** Prints the first rows; with `--json`, all rows. */
export const printRows = (call: Invocation<{ readonly limit?: number }>, rows: readonly ResultRow[]): void => {
  if (call.options.json) return printJson(call, rows.map(plainIntegers));
  if (rows.length === 0) return note(call, "No rows.");
  const limit = call.options.limit ?? 20;
  const first = Object.keys(rows[0] ?? {});
  call.io.out.write(renderRows(rows.slice(0, limit), { columns: call.io.out.columns, style: call.style, first, ids: new Set() }));
  if (rows.length > limit) note(call, `The first ${limit} of ${counted(rows.length, "row")}. Use --limit to show more, or --json for all.`);
};
