import { makeSchemas } from "../calls/candidates/edgetable.ts";
import { open } from "../calls/candidates/edgetable/education.ts";
import type { Student } from "../calls/calls.ts";
import { requestsUnderWay } from "./loader.ts";
import type { Loader } from "./loader.ts";

async function* nodesOf(rows: AsyncIterable<Student>): AsyncGenerator<{ readonly node: "student"; readonly row: Student }> {
  for await (const row of rows) yield { node: "student", row };
}

/** The library's bulk load as it comes, validation and report included. */
const loadWith =
  (options: { readonly collisions?: "ignore" }): Loader =>
  async (rows, place) => {
    const db = open(makeSchemas(), place);
    const report = await db.load(nodesOf(rows), { concurrency: requestsUnderWay, ...options });
    await db.close();
    if (report.failures.length > 0) throw new Error(`the load left out ${report.failures.length} rows or more`);
  };

/** Collisions are looked for, beyond some 170,000 items in a temporary file: the default. */
export const load: Loader = loadWith({});
/** Nobody looks for them. */
export const loadFlat: Loader = loadWith({ collisions: "ignore" });
