import { spawnSync } from "node:child_process";

/** A Python with pyspark 4, which also needs Java 17: `npm run test:spark` makes one. */
export const python: string = process.env["EDGETABLE_PYTHON"] ?? "";
export const hasSpark: boolean = python !== "" && spawnSync(python, ["-c", "import pyspark"]).status === 0;

/** Sums of doubles differ in their last digits, because the engines add in different orders. Counts are of different integer types. */
export const comparable = (rows: readonly object[]): unknown =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]: readonly [string, unknown]) => [
        name,
        typeof value === "number" ? Number(value.toPrecision(10)) : String(value),
      ]),
    ),
  );
