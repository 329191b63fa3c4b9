import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createLeanTransport, defineGraph, edge, node, part, type AttributeValue, type Item, type Transport } from "edgetable";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { connectExport, extract, openLake } from "../index.ts";

/** Exports in the public format, made of a real table's raw items, against a live extraction of the same table. */
const shop = defineGraph({
  table: "Shop",
  nodes: {
    customer: node({
      key: "CUSTOMER#{customerId}",
      schema: z.object({
        customerId: z.string(),
        since: z.date(),
        points: z.bigint(),
        score: z.number(),
        level: z.int(),
        active: z.boolean(),
        tags: z.set(z.string()),
        address: z.object({ city: z.string(), zip: z.string().optional() }),
        key: z.instanceof(Uint8Array),
        either: z.union([z.string(), z.number()]),
      }),
      dates: ["since"],
    }),
    order: node({ key: "ORDER#{orderId}", schema: z.object({ orderId: z.string(), total: z.number() }) }),
  },
  edges: {
    placed: edge({ from: "customer", to: "order", schema: z.object({ at: z.string() }), stored: "twice" }),
    friendOf: edge({ from: "customer", to: "customer", symmetric: true, schema: z.object({}) }),
  },
  parts: { line: part({ of: "order", key: "LINE#{lineNo:4}", schema: z.object({ lineNo: z.int(), product: z.string() }) }) },
});

let engine: LocalEngine;
let transport: Transport;
let items: Item[];
let folder: string;

const customer = (at: number) => ({
  customerId: `C${at} #"'`,
  since: new Date(1_700_000_000_123 + at),
  points: at === 5 ? 9n * 10n ** 37n : 10n ** 37n + BigInt(at),
  score: at / 3,
  level: at,
  active: at % 2 === 0,
  tags: new Set(["a", `t${at}`]),
  address: { city: "Łódź $text$ \u2028\u2029" },
  key: new Uint8Array([0, 255, at]),
  either: at % 2 === 0 ? `text ${at}` : at,
});

beforeAll(async () => {
  engine = await startEngine();
  transport = createLeanTransport({ endpoint: engine.endpoint });
  const db = shop.connect({ transport, cursorSecret: "a secret for these tests, long enough" });
  await db.table.create();
  for (let at = 0; at < 30; at++) {
    await db.customer.create(customer(at));
    await db.order.create({ orderId: `O${at}`, total: at * 1.5 });
    await db.placed.link(
      { customerId: customer(at).customerId },
      { orderId: `O${at}` },
      { at: `2024-01-${String(at + 1).padStart(2, "0")}` },
    );
    await db.line.create({ orderId: `O${at}` }, { lineNo: 1, product: "pen" });
    if (at > 0) await db.friendOf.link({ customerId: customer(at - 1).customerId }, { customerId: customer(at).customerId }, {});
  }
  items = [...((await transport.send("Scan", { TableName: "Shop" })).Items ?? [])];
});
afterAll(async () => engine.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "export-"));
  return () => rm(folder, { recursive: true, force: true });
});

const ionText = (value: AttributeValue): string => {
  if ("S" in value) return JSON.stringify(value.S);
  // Without trailing zeros, as DynamoDB writes them: 600 is 6d2.
  if ("N" in value) {
    const [, digits, zeros = ""] = /^(-?\d*[1-9])(0+)$/.exec(value.N) ?? [];
    if (digits !== undefined) return `${digits}d${zeros.length}`;
    return /[.eE]/.test(value.N) ? value.N.replace(/[eE]/, "d") : `${value.N}.`;
  }
  if ("NS" in value) return `$dynamodb_NS::[${value.NS.map((one) => ionText({ N: one })).join(",")}]`;
  if ("BOOL" in value) return String(value.BOOL);
  if ("NULL" in value) return "null";
  if ("B" in value) return `{{${value.B}}}`;
  if ("SS" in value) return `$dynamodb_SS::[${value.SS.map((one) => JSON.stringify(one)).join(",")}]`;
  if ("M" in value) return ionStruct(value.M);
  if ("L" in value) return `[${value.L.map(ionText).join(",")}]`;
  throw new Error(JSON.stringify(value));
};
const ionStruct = (fields: Item): string =>
  `{${Object.entries(fields)
    .map(([name, value]) => `'${name}':${ionText(value)}`)
    .join(",")}}`;

const md5 = (bytes: string | Uint8Array): string => createHash("md5").update(bytes).digest("base64");

interface Made {
  readonly lines: readonly (readonly string[])[];
  readonly name?: string;
  readonly summary?: object;
  readonly format?: "json" | "ion";
}

const writeExport = async ({ lines, name = "0001", summary = {}, format = "json" }: Made): Promise<string> => {
  const path = join(folder, "AWSDynamoDB", name);
  const incremental = "exportType" in summary;
  const data = incremental ? join(folder, "AWSDynamoDB", "data") : join(path, "data");
  await mkdir(data, { recursive: true });
  await mkdir(path, { recursive: true });
  const files = lines.map((all, at) => ({ file: `${name}-${at}.${format}.gz`, bytes: gzipSync(all.join("\n")), itemCount: all.length }));
  for (const { file, bytes } of files) await writeFile(join(data, file), bytes);
  const manifest = files
    .map(({ file, bytes, itemCount }) =>
      JSON.stringify({ itemCount, md5Checksum: md5(bytes), etag: "e", dataFileS3Key: `AWSDynamoDB/${name}/data/${file}` }),
    )
    .join("\n");
  const text = JSON.stringify({
    version: "2020-06-30",
    tableArn: "arn:aws:dynamodb:eu-central-1:1:table/Shop",
    exportTime: "2024-06-01T00:00:00Z",
    outputFormat: format === "ion" ? "ION" : "DYNAMODB_JSON",
    itemCount: lines.flat().length,
    ...summary,
  });
  await writeFile(join(path, "manifest-summary.json"), text);
  await writeFile(join(path, "manifest-summary.checksum"), md5(text));
  await writeFile(join(path, "manifest-files.json"), manifest);
  await writeFile(join(path, "manifest-files.checksum"), md5(manifest));
  return path;
};

const fullLines = (format: "json" | "ion"): readonly (readonly string[])[] => {
  const lines = items.map((item) => (format === "ion" ? `$ion_1_0 {Item:${ionStruct(item)}}` : JSON.stringify({ Item: item })));
  return [lines.slice(0, 40), [], lines.slice(40)];
};

const rowsOf = async (source: Parameters<typeof extract>[0]): Promise<unknown> => {
  const into = join(folder, "lake");
  await extract(source, { into, memoryLimit: "256MB" });
  const lake = await openLake(into, { memoryLimit: "256MB" });
  const all: Record<string, unknown> = {};
  for (const { name } of lake.tables) all[name] = await lake.query(`select * from ${name} order by all`);
  lake.close();
  await rm(into, { recursive: true, force: true });
  return all;
};

test.each(["json", "ion"] as const)("a full export in %s holds what the live table holds", async (format) => {
  const live = await rowsOf(shop.connect({ transport, cursorSecret: "a secret for these tests, long enough" }));
  const source = await connectExport(shop, await writeExport({ lines: fullLines(format), format }));
  expect(await rowsOf(source)).toEqual(live);
  await source.close();
  expect(live).toMatchObject({ customer: { length: 30 }, placed: { length: 30 }, friend_of: { length: 29 }, line: { length: 30 } });
});

test("an extraction goes on from the export that was interrupted, and from no other", async () => {
  const before = await connectExport(shop, await writeExport({ lines: fullLines("json") }));
  const into = join(folder, "lake");
  // An error in the middle leaves the staging file, with the position of the rows before it.
  const failing = {
    catalog: before.catalog,
    source: before.source!,
    scan: (settings: Parameters<typeof before.scan>[0]) => {
      const scan = before.scan(settings);
      const rows = async function* () {
        let at = 0;
        for await (const row of scan) {
          if (at++ === 20) throw new Error("interrupted");
          yield row;
        }
      };
      return Object.assign(rows(), { report: () => ({ ...scan.report(), position: POSITION }) });
    },
  };
  const POSITION = Buffer.from(JSON.stringify(["Shop", 1, 1, { 0: { pk: { S: "ORDER#O5" }, sk: { S: "#" } } }])).toString("base64url");
  await expect(extract(failing as never, { into, segments: 1 })).rejects.toThrow("interrupted");
  const after = await connectExport(shop, await writeExport({ name: "0002", lines: fullLines("json") }));
  expect(await extract(after, { into })).toMatchObject({ resumed: false });
  const lake = await openLake(into);
  expect(lake.tables.find(({ name }) => name === "order_")).toMatchObject({ rows: 30 });
  lake.close();
  await Promise.all([before.close(), after.close()]);
});

test("values keep their types and digits", async () => {
  const source = await connectExport(shop, await writeExport({ lines: fullLines("json") }));
  const into = join(folder, "typed");
  await extract(source, { into });
  await source.close();
  const lake = await openLake(into);
  const [row] = await lake.query(
    "select points, since, tags[2] as tag, address, hex(key) as bytes, either, level, score from customer where level = 3",
  );
  expect(row).toEqual({
    points: 10n ** 37n + 3n,
    since: new Date(1_700_000_000_126),
    tag: "t3",
    address: JSON.stringify({ city: "Łódź $text$ \u2028\u2029" }),
    bytes: "00FF03",
    either: "3",
    level: 3n,
    score: 1,
  });
  lake.close();
});

describe("increments", () => {
  const change =
    (format: "json" | "ion" | "record") =>
    (at: string, keys: Item, image?: Item): string => {
      const micros = String(Date.parse(at) * 1000);
      const line = { Keys: keys, ...(image ? { NewImage: image } : {}) };
      if (format === "json") return JSON.stringify({ Metadata: { WriteTimestampMicros: { N: micros } }, ...line });
      const fields = Object.entries({ Metadata: { WriteTimestampMicros: { N: micros } }, ...line }).map(
        ([name, of]) => `${name}:${ionStruct(of)}`,
      );
      return format === "ion" ? `$ion_1_0 {${fields.join(",")}}` : `$ion_1_0 {Record:{${fields.join(",")}}}`;
    };
  const incremental = { exportType: "INCREMENTAL_EXPORT", version: "2023-08-01" };

  test.each(["json", "ion", "record"] as const)("change, add and delete, in the order of their writes (%s)", async (form) => {
    const format = form === "json" ? "json" : "ion";
    const changeOf = change(form);
    const order = items.find((item) => (item["pk"] as { S: string }).S === "ORDER#O1" && (item["sk"] as { S: string }).S === "#")!;
    const other = items.find((item) => (item["pk"] as { S: string }).S === "ORDER#O2" && (item["sk"] as { S: string }).S === "#")!;
    const keys = { pk: order["pk"]!, sk: order["sk"]! };
    const full = await writeExport({ lines: fullLines(format), format });
    const late = await writeExport({
      name: "0003",
      format,
      summary: incremental,
      lines: [
        [changeOf("2024-06-03", { pk: other["pk"]!, sk: other["sk"]! }), changeOf("2024-06-03", keys, { ...order, total: { N: "3" } })],
      ],
    });
    const early = await writeExport({
      name: "0002",
      format,
      summary: incremental,
      lines: [
        [changeOf("2024-06-02", keys, { ...order, total: { N: "2" } }), changeOf("2024-05-01", { pk: { S: "ORDER#O3" }, sk: { S: "#" } })],
      ],
    });
    const source = await connectExport(shop, full, { increments: [late, early] });
    const into = join(folder, "changed");
    await extract(source, { into });
    await source.close();
    const lake = await openLake(into);
    expect(await lake.query("select order_id, total from order_ where order_id in ('O1', 'O2', 'O3') order by 1")).toEqual([
      { order_id: "O1", total: 3 },
      // Written before the full export was taken: it is in there already.
      { order_id: "O3", total: 4.5 },
    ]);
    lake.close();
  });

  test("that begin after the exports before them end are refused: changes in between are in none of them", async () => {
    const full = await writeExport({ lines: fullLines("json") });
    const span = (name: string, exportFromTime: string, exportToTime: string) =>
      writeExport({ name, summary: { ...incremental, exportFromTime, exportToTime }, lines: [[]] });
    const first = await span("0002", "2024-05-31T23:00:00Z", "2024-06-01T23:00:00Z");
    const second = await span("0003", "2024-06-01T23:00:00Z", "2024-06-02T23:00:00Z");
    const third = await span("0004", "2024-06-02T23:00:00Z", "2024-06-03T23:00:00Z");
    await expect(connectExport(shop, full, { increments: [third, first] })).rejects.toMatchObject({
      code: "analytics.export",
      message: expect.stringContaining("no changes from 2024-06-01T23:00:00.000Z to 2024-06-02T23:00:00.000Z") as string,
    });
    await expect(connectExport(shop, full, { increments: [second] })).rejects.toMatchObject({ code: "analytics.export" });
    await (await connectExport(shop, full, { increments: [third, first, second] })).close();
  });

  test("from before the full export bring no item back that was deleted by then", async () => {
    const full = await writeExport({ lines: fullLines("json") });
    const keys = { pk: { S: "ORDER#OLD" }, sk: { S: "#" } };
    const order = items.find((item) => (item["pk"] as { S: string }).S === "ORDER#O1" && (item["sk"] as { S: string }).S === "#")!;
    const line = change("json")("2024-05-31T10:00:00Z", keys, { ...order, ...keys });
    const early = await writeExport({ name: "0002", summary: incremental, lines: [[line]] });
    const source = await connectExport(shop, full, { increments: [early] });
    expect(await rowsOf(source)).toMatchObject({ order_: { length: 30 } });
    await source.close();
  });

  test("of a line without the time of its write are refused", async () => {
    const line = JSON.stringify({ Keys: { pk: { S: "ORDER#O1" }, sk: { S: "#" } } });
    const increment = await writeExport({ name: "0002", summary: incremental, lines: [[line]] });
    const full = await writeExport({ lines: fullLines("json") });
    await expect(connectExport(shop, full, { increments: [increment] })).rejects.toMatchObject({
      code: "analytics.export",
      message: expect.stringContaining("it does not say when it was written (WriteTimestampMicros)"),
    });
  });

  test("alone are refused", async () => {
    const path = await writeExport({ summary: incremental, lines: [[]] });
    await expect(connectExport(shop, path)).rejects.toMatchObject({
      code: "analytics.export",
      message: expect.stringContaining("incremental"),
    });
  });
});

describe("refuses", () => {
  const refused = async (path: string): Promise<string> => {
    const error = await connectExport(shop, path).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "analytics.export" });
    return (error as Error).message;
  };

  test("a folder without an export", async () => {
    expect(await refused(folder)).toContain("There is no export in");
  });

  test("a missing data file", async () => {
    const path = await writeExport({ lines: fullLines("json") });
    await rm(join(path, "data", "0001-2.json.gz"));
    expect(await refused(path)).toContain("0001-2.json.gz, and the file is missing");
  });

  test("a data file that was cut off, and one that was changed", async () => {
    const path = await writeExport({ lines: fullLines("json") });
    const file = join(path, "data", "0001-0.json.gz");
    const bytes = await readFile(file);
    await writeFile(file, bytes.subarray(0, bytes.length - 40));
    expect(await refused(path)).toContain("damaged or cut off");
    await writeFile(file, gzipSync(fullLines("json")[0]!.join("\n").replace("#O", "#X")));
    expect(await refused(path)).toContain("does not fit its checksum");
  });

  test("a line that is not an item, named", async () => {
    expect(await refused(await writeExport({ lines: [[JSON.stringify({ Item: items[0] }), "{nope"]] }))).toContain(
      "line 2 is not what DynamoDB exports",
    );
    expect(await refused(await writeExport({ lines: [["{}"]] }))).toContain("it holds neither Item nor Keys");
    for (const line of ["null", "5", '{"Item":5}'])
      expect(await refused(await writeExport({ lines: [[line]] }))).toContain("is not what DynamoDB exports");
  });

  test("an export of another table", async () => {
    const lines = fullLines("json");
    const path = await writeExport({ lines, summary: { tableArn: "arn:aws:dynamodb:eu-central-1:1:table/Shop-restored" } });
    expect(await refused(path)).toContain('an export of the table "Shop-restored", and the model\'s is "Shop"');
    // It may be a copy of that table.
    const source = await connectExport(shop, path, { table: "Shop-restored" });
    expect(await rowsOf(source)).toMatchObject({ customer: { length: 30 } });
    await source.close();
    // Files that were mixed up are found by their keys.
    expect(await refused(await writeExport({ lines: [[JSON.stringify({ Item: { id: { S: "1" } } })]] }))).toContain(
      'lacks the key attribute "pk"',
    );
  });

  test("a manifest that names fewer items than the summary, or a file without its count", async () => {
    const path = await writeExport({ lines: fullLines("json") });
    const file = join(path, "manifest-files.json");
    const [first = "", ...others] = (await readFile(file, "utf8")).split("\n");
    await rm(join(path, "manifest-files.checksum"));
    for (const text of ["", first, others.join("\n")]) {
      await writeFile(file, text);
      expect(await refused(path)).toContain("files are missing");
    }
    await writeFile(file, [first.replace(/"itemCount":\d+,/, ""), ...others].join("\n"));
    expect(await refused(path)).toContain("does not say how many items the file holds");
  });

  test("a manifest that was changed", async () => {
    const path = await writeExport({ lines: fullLines("json") });
    const files = await readFile(join(path, "manifest-files.json"), "utf8");
    await writeFile(join(path, "manifest-files.json"), "");
    expect(await refused(path)).toContain("does not fit its checksum");
    // Without checksums beside them, manifests are read as they are.
    for (const name of ["summary", "files"]) await rm(join(path, `manifest-${name}.checksum`));
    for (const [text, message] of [
      ["{}", "Line 1 of manifest-files.json names no file"],
      [`${files}\n{"itemCount":`, "of manifest-files.json is not JSON"],
      ["null", "Line 1 of manifest-files.json is not a JSON object"],
    ] as const) {
      await writeFile(join(path, "manifest-files.json"), text);
      expect(await refused(path)).toContain(message);
    }
    await writeFile(join(path, "manifest-summary.json"), "<html>");
    expect(await refused(path)).toContain("manifest-summary.json is not JSON");
  });
});
