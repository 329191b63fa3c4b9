import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { draftModel, type DraftReport } from "../../packages/cli/src/draft/draft-model.ts";
import { draftText } from "../../packages/cli/src/draft/draft-text.ts";
import type { SampledTable } from "../../packages/cli/src/draft/sample.ts";
import { loadModel, theGraph } from "../../packages/cli/src/model.ts";
import { createFolder, type Folder } from "../../packages/cli/src/test-support/lab.ts";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { createTable, inOneOrder, marshall, putItems, scanTable, type Design } from "./describe-design.ts";
import { designs } from "./designs.ts";

/** A published table, as `edgetable init --from-table` would read it. */
const sampleOf = ({ table, items }: Design<object>, name: string): SampledTable => ({
  name,
  partitionKey: table.key[0]!,
  ...(table.key[1] === undefined ? {} : { sortKey: table.key[1] }),
  types: Object.fromEntries((table.numbers ?? []).map((attribute) => [attribute, "N" as const])),
  indexes: Object.fromEntries(
    Object.entries(table.indexes ?? {}).map(([index, { key, projection }]) => [
      index,
      { partitionKey: key[0]!, ...(key[1] === undefined ? {} : { sortKey: key[1] }), ...(projection === undefined ? {} : { projection }) },
    ]),
  ),
  ...(table.ttl === undefined ? {} : { ttl: table.ttl }),
  settings: {},
  items: items.map(marshall),
});

interface Connection {
  readonly table: { diff(): Promise<readonly { readonly harmless: boolean }[] | undefined> };
  readonly scan: () => AsyncIterable<unknown> & { report(): unknown };
  readonly load: (rows: AsyncIterable<unknown>) => PromiseLike<{ readonly failures: readonly unknown[] }>;
  close(): Promise<void>;
}

/** The graph that the drafted TypeScript exports. */
const compiled = async (report: DraftReport): Promise<{ connect(options: object): Connection }> => {
  const folder = createFolder({ "edgetable.ts": draftText(report) });
  // The library loads parts of itself by their first use.
  folders.push(folder);
  return theGraph(await loadModel(undefined, folder.path)) as never;
};

const folders: Folder[] = [];
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(async () => {
  for (const folder of folders) folder.remove();
  await engine.close();
});

describe.each(designs.map((design) => [design.name, design] as const))("a model drafted for %s", (label, design) => {
  test("reads every published item, and rewrites it byte for byte", async () => {
    const { transport } = engine;
    const [name, copy] = [engine.freshTableName(label), engine.freshTableName(`${label}-copy`)];
    const report = draftModel(sampleOf(design, name));
    expect(report).toMatchObject({ findings: [], misfits: [], read: design.items.length, rewritten: design.items.length });
    for (const one of [name, copy]) await createTable(transport, one, design.table);
    await putItems(transport, name, design.items);
    const first = (await compiled(report)).connect({ transport });
    expect((await first.table.diff())?.filter(({ harmless }) => !harmless)).toEqual([]);
    const second = (await compiled({ ...report, draft: { ...report.draft, table: copy } })).connect({ transport });
    const scan = first.scan();
    const { failures } = await second.load(scan);
    expect(failures).toEqual([]);
    expect(scan.report()).toMatchObject({ items: design.items.length, stray: 0, uneven: 0 });
    expect(inOneOrder(await scanTable(transport, copy))).toEqual(inOneOrder(design.items.map(marshall)));
  });
});

test("the drafted files are of the right types", () => {
  const drafts = designs.map((design) => [`${design.name}.ts`, draftText(draftModel(sampleOf(design, design.name)))] as const);
  const compilerOptions = {
    strict: true,
    module: "nodenext",
    target: "es2024",
    noEmit: true,
    skipLibCheck: true,
    exactOptionalPropertyTypes: true,
    types: [],
  };
  const folder = createFolder({
    ...Object.fromEntries(drafts),
    "package.json": JSON.stringify({ type: "module" }),
    "tsconfig.json": JSON.stringify({ compilerOptions, include: ["*.ts"] }),
  });
  try {
    const compiler = fileURLToPath(new URL("../../node_modules/typescript7/bin/tsc", import.meta.url));
    expect(execFileSync(process.execPath, [compiler, "-p", folder.path], { encoding: "utf8" })).toBe("");
  } catch (error) {
    expect.unreachable((error as { readonly stdout?: string }).stdout ?? String(error));
  } finally {
    folder.remove();
  }
});
