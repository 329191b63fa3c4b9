import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openLake, type Lake } from "@edgetable/analytics";

/** The form of a made graph. */
export type Form = "scale-free" | "sparse" | "path";

const nodeName = (number: string): string => `'page:p' || cast(${number} as varchar)`;

// A fraction from 0 to 1 that is the same on every machine: hash() belongs to the engine, and md5 does not.
const fraction = (text: string): string => `(cast(('0x' || substr(md5(${text}), 1, 12)) as bigint) / 281474976710656.0)`;

const selects: Readonly<Record<Form, (edges: number) => string>> = {
  // A tenth as many nodes as edges; the most popular target has some 2 % of the edges.
  "scale-free": (edges) => {
    const nodes = Math.max(10, Math.floor(edges / 10));
    const source = `cast(floor(${nodes} * ${fraction("'s' || i")}) as bigint)`;
    const target = `cast(floor(${nodes} * pow(${fraction("'t' || i")}, 3)) as bigint)`;
    return `select ${source} as a, ${target} as b from range(${edges}) as r(i)`;
  },
  // Fewer edges than nodes: many components, and long paths in them.
  sparse: (edges) => {
    const nodes = Math.floor((edges * 10) / 6);
    const end = (side: string): string => `cast(floor(${nodes} * ${fraction(`'${side}' || i`)}) as bigint)`;
    return `select ${end("a")} as a, ${end("b")} as b from range(${edges}) as r(i)`;
  },
  // One path through nodes in no order: the worst case of label propagation.
  path: (edges) =>
    `select n as a, lead(n) over (order by md5(cast(n as varchar))) as b from range(${edges + 1}) as r(n) qualify b is not null`,
};

/** Writes a lake with one edge type, as an extraction would, and opens it. */
export const makeLake = async (folder: string, form: Form, edges: number, memoryLimit: string): Promise<Lake> => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "links_to"), { recursive: true });
  const text = (name: string) => ({ name, type: "text" });
  const file = (rows: number): string =>
    JSON.stringify({
      version: 1,
      table: "Bench",
      extractedAt: "2026-01-01T00:00:00.000Z",
      tables:
        rows === 0 ? [] : [{ name: "links_to", kind: "edge", definition: "linksTo", rows, columns: [text("source"), text("target")] }],
    });
  await writeFile(join(folder, "lake.json"), file(0));
  const empty = await openLake(folder, { memoryLimit, threads: 2 });
  await empty.query(
    `copy (select ${nodeName("a")} as source, ${nodeName("b")} as target from (${selects[form](edges)}))
      to '${join(folder, "links_to")}' (format parquet, file_size_bytes '256MB', overwrite_or_ignore true)`,
  );
  empty.close();
  await writeFile(join(folder, "lake.json"), file(edges));
  return openLake(folder, { memoryLimit, threads: 2 });
};
