import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { parse } from "csv-parse/sync";
import { defineGraph, edge, node, part } from "edgetable";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { testRuns, testSeed } from "../../../conformance/engines/property-runs.ts";
import { extract, openLake, writeBulk, type BulkFormat, type BulkReport, type Lake } from "./index.ts";

/** Writes random values in every format, reads the files back by the rules of each loader, and compares them with what was stored. */
const graph = defineGraph({
  table: "Bulk",
  nodes: {
    page: node({
      key: "PAGE#{pageId}",
      dates: ["at"],
      schema: z.object({
        pageId: z.string(),
        title: z.string().optional(),
        count: z.int().optional(),
        large: z.bigint().optional(),
        share: z.number().optional(),
        open: z.boolean().optional(),
        at: z.date().optional(),
        // `more` is also the column for attributes that a schema does not list.
        more: z.string().optional(),
        tags: z.array(z.string()).optional(),
        plain: z.array(z.string()).optional(),
        kinds: z.set(z.string()).optional(),
        scores: z.array(z.number()).optional(),
        document: z.object({ a: z.string() }).optional(),
      }),
    }),
    tag: node({ key: "TAG#{pageId}", schema: z.object({ pageId: z.string() }) }),
  },
  parts: { note: part({ of: "page", key: "N#{n:5}", schema: z.object({ n: z.int(), text: z.string() }) }) },
  edges: {
    partOf: edge({ from: "page", to: ["page", "tag"], key: ["as"], schema: z.object({ as: z.string(), words: z.array(z.string()) }) }),
  },
});

interface Stored {
  readonly label: string;
  readonly from?: string;
  readonly to?: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

const text = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "a;b",
    '"',
    '""',
    "a,b",
    "two\nlines",
    "a\r\nb",
    "\\",
    "a\\",
    "\\;",
    "NULL",
    "\t lead",
    "é😀",
    "'",
    "a\u001Fb",
    "~id",
  ),
  fc.string({ unit: "grapheme" }),
);
const plainText = fc.string({ minLength: 1, unit: fc.constantFrom("a", "b", ";", ",", '"', " ", "\n", "é") });
const optional = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(one, { nil: undefined });
const page = fc.record({
  title: optional(text),
  count: optional(fc.maxSafeInteger()),
  large: optional(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n })),
  share: optional(fc.constantFrom(0.1, 1e125, -1e-120, 5, 1 / 3)),
  open: optional(fc.boolean()),
  at: optional(fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true })),
  more: optional(text),
  tags: optional(fc.array(text, { maxLength: 3 })),
  plain: optional(fc.uniqueArray(plainText, { maxLength: 3 })),
  kinds: optional(fc.uniqueArray(plainText, { minLength: 1, maxLength: 3 }).map((all) => new Set(all))),
  scores: optional(fc.uniqueArray(fc.integer(), { maxLength: 3 })),
  document: optional(fc.record({ a: text })),
});

const seed = testSeed();
// Fewer have no attribute of some type.
const count = Math.max(30, testRuns(60));
const pages = fc.sample(page, { seed, numRuns: count });
const keys = fc.sample(
  text.filter((key) => key !== "" && !key.includes("\0")),
  { seed, numRuns: count },
);
const words = fc.sample(fc.array(text, { maxLength: 3 }), { seed, numRuns: count });
const titles = fc.sample(text, { seed: seed + 1, numRuns: count });

const pageId = (at: number): string => (at % 3 === 0 ? `p ${at}/é;"` : `p${at}`);
const nodeId = (at: number): string => `page:${encodeURIComponent(pageId(at))}`;
const defined = (row: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));

/** The graph as it was stored, without ids of edges. */
const stored = { nodes: new Map<string, Stored>(), edges: [] as Stored[] };
for (const [at, row] of pages.entries()) {
  stored.nodes.set(nodeId(at), { label: "page", properties: defined({ pageId: pageId(at), ...row }) });
  stored.nodes.set(`${nodeId(at)} > note > ${at}`, {
    label: "note",
    properties: { pageId: pageId(at), n: at, text: titles[at] },
  });
  stored.edges.push({ label: "partOf_2", from: `${nodeId(at)} > note > ${at}`, to: nodeId(at), properties: {} });
  const to = at % 2 === 0 ? `tag:t${at % 5}` : nodeId((at * 7) % count);
  stored.edges.push({ label: "partOf", from: nodeId(at), to, properties: { as: keys[at], words: words[at] } });
}
// Nobody stored a tag.
for (let at = 0; at < Math.min(5, count); at++) stored.nodes.set(`tag:t${at}`, { label: "tag", properties: {} });

let engine: LocalEngine;
let folder: string;
let lake: Lake;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bulk-"));
  engine = await startEngine();
  const db = graph.connect({ endpoint: engine.endpoint });
  await db.table.create();
  await db.load(pages.map((row, at) => ({ node: "page" as const, row: { pageId: pageId(at), ...row } })));
  await db.load(pages.map((_, at) => ({ part: "note" as const, owner: { pageId: pageId(at) }, row: { n: at, text: titles[at]! } })));
  // Loading does not ask for an edge's ends.
  await db.load(
    pages.map((_, at) => {
      const to =
        at % 2 === 0 ? { type: "tag" as const, pageId: `t${at % 5}` } : { type: "page" as const, pageId: pageId((at * 7) % count) };
      return { edge: "partOf" as const, from: { pageId: pageId(at) }, to, attributes: { as: keys[at]!, words: words[at]! } };
    }),
  );
  await extract(db, { into: join(folder, "lake"), memoryLimit: "256MB" });
  await db.close();
  lake = await openLake(join(folder, "lake"), { memoryLimit: "256MB" });
});
afterAll(async () => {
  lake.close();
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A value as the loader reads it. Undefined for a field that is empty and not quoted. */
const readValue = (format: BulkFormat, type: string, field: string | undefined): unknown => {
  if (field === undefined) return undefined;
  const plain = type.toLowerCase().replace("(single)", "");
  if (plain.endsWith("[]")) {
    const members =
      format === "neo4j" ? (field === "" ? [] : field.split("\u001F")) : field.split(/(?<!\\);/).map((one) => one.replaceAll("\\;", ";"));
    return plain === "double[]" ? members.map(Number) : members;
  }
  if (plain === "long" || plain === "double") return Number(field);
  if (plain === "bool" || plain === "boolean") return field === "true";
  return plain.startsWith("date") ? new Date(field) : field;
};

interface Read {
  readonly id: string;
  readonly value: Stored;
}

const readFileBack = async (format: BulkFormat, path: string): Promise<readonly Read[]> => {
  const rows: (string | undefined)[][] = parse(await readFile(path, "utf8"), {
    record_delimiter: "\n",
    cast: (value, { quoting, lines }) => (quoting || lines === 1 ? value : value === "" ? undefined : expect.unreachable(value)),
  });
  const [header = [], ...lines] = rows;
  return lines.map((fields) => {
    const system: Record<string, string> = {};
    const properties: Record<string, unknown> = {};
    for (const [at, name] of header.entries()) {
      if (/^[~:]/.test(name!)) system[name!.slice(1).toUpperCase()] = fields[at]!;
      else {
        const [property, type] = name!.split(":") as [string, string];
        const value = readValue(format, type, fields[at]);
        expect(properties).not.toHaveProperty(property);
        if (value !== undefined) properties[property] = value;
      }
    }
    const from = system["FROM"] ?? system["START_ID"];
    const to = system["TO"] ?? system["END_ID"];
    const ends = from === undefined ? {} : { from, to: to! };
    return { id: system["ID"] ?? "", value: { label: (system["LABEL"] ?? system["TYPE"])!, ...ends, properties } };
  });
};

const isText = ({ asText }: BulkReport, label: string, name: string): boolean =>
  name === "document" || asText.includes(`${label === "partOf" ? "part_of" : label}.${name}`);
const sorted = (value: unknown, name: string): unknown => (name === "kinds" ? [...(value as Iterable<string>)].toSorted() : value);

/** What the format keeps of a stored row. Sets have no order. */
const kept = (format: BulkFormat, report: BulkReport, row: Stored): Stored => {
  const properties: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row.properties)) {
    const isEmpty = Array.isArray(value) && value.length === 0;
    if (isEmpty && format !== "neo4j" && !isText(report, row.label, name)) continue;
    properties[name] = typeof value === "bigint" ? String(value) : sorted(value, name);
  }
  return { ...row, properties };
};

/** A row of a file, with what became JSON text read again. */
const parsed = (report: BulkReport, row: Stored): Stored => {
  const properties = Object.entries(row.properties).map(([name, value]) => [
    name,
    sorted(isText(report, row.label, name) ? (JSON.parse(String(value)) as unknown) : value, name),
  ]);
  return { ...row, properties: Object.fromEntries(properties) as Stored["properties"] };
};

const byText = (rows: readonly Stored[]): readonly string[] =>
  rows
    .map(({ from, to, label, properties }) =>
      JSON.stringify([label, from, to, Object.entries(properties).toSorted(([a], [b]) => (a < b ? -1 : 1))]),
    )
    .toSorted();

describe.each(["neptune-gremlin", "neptune-opencypher", "neo4j"] as const)(`%s, seed ${seed}`, (format) => {
  test.each(["native", "text"] as const)("lists as %s: the files hold the graph that was stored", async (lists) => {
    const into = join(folder, `${format}-${lists}`);
    const report = await writeBulk(lake, { into, format, lists });
    expect(report.added).toBe(Math.min(5, count));
    const nodes: Read[] = [];
    const edges: Read[] = [];
    for (const { path, kind, rows } of report.files) {
      const read = await readFileBack(format, join(into, path));
      expect(read.length, path).toBe(rows);
      (kind === "nodes" ? nodes : edges).push(...read);
    }
    expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
    if (format !== "neo4j") expect(new Set(edges.map(({ id }) => id)).size).toBe(edges.length);
    const found = nodes.map(({ id, value }) => [id, parsed(report, value)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const wanted = [...stored.nodes].map(([id, row]) => [id, kept(format, report, row)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1));
    expect(found).toEqual(wanted);
    expect(byText(edges.map(({ value }) => parsed(report, value)))).toEqual(byText(stored.edges.map((row) => kept(format, report, row))));
    expect(report.asText).toEqual(expect.arrayContaining(lists === "text" ? ["page.plain"] : []));
    if (lists === "native") expect(report.asText).not.toContain("page.plain");
    if (format !== "neo4j") expect(report.asText).toContain("part_of.words");
  });
});

test("headers name the types, and the load names the files", async () => {
  const header = async (format: BulkFormat, path: string): Promise<string> =>
    (await readFile(join(folder, `${format}-native`, path), "utf8")).split("\n", 1)[0]!;
  expect(await header("neptune-gremlin", "nodes/page.csv")).toMatch(
    /^~id,~label,pageId:String\(single\),title:String\(single\),count:Long\(single\),large:String\(single\),share:Double\(single\),open:Bool\(single\),at:Date\(single\),/,
  );
  expect(await header("neptune-gremlin", "nodes/page.csv")).toContain(
    ",plain:String[],kinds:String[],scores:Double[],document:String(single)",
  );
  expect(await header("neptune-gremlin", "edges/note.csv")).toBe("~from,~to,~label,~id");
  expect(await header("neptune-opencypher", "edges/part_of.csv")).toBe(":START_ID,:END_ID,:TYPE,:ID,as:String,words:String,more:String");
  expect(await header("neo4j", "nodes/note.csv")).toBe(":ID,:LABEL,pageId:string,n:long,text:string,more:string");
  const { load } = await writeBulk(lake, { into: join(folder, "load"), format: "neo4j" });
  expect(load).toContain("--array-delimiter=U+001F --multiline-fields=true --nodes='");
});

test("a folder that holds files is left alone", async () => {
  await expect(writeBulk(lake, { into: folder, format: "neo4j" })).rejects.toMatchObject({ code: "analytics.lake" });
});
