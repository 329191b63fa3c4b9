import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { EdgetableError } from "edgetable";
import type { ColumnType } from "./column-type.ts";
import { literal } from "./duckdb.ts";
import { freeName } from "./lake-tables.ts";
import type { Lake, StoredColumn, StoredTable } from "./lake.ts";

/** The bulk formats of other graph databases: Neptune's two, and that of `neo4j-admin database import`. */
export type BulkFormat = "neptune-gremlin" | "neptune-opencypher" | "neo4j";

export interface BulkOptions {
  /** The folder for the files. It must be empty or absent. */
  readonly into: string;
  readonly format: BulkFormat;
  /**
   * How to write columns of lists and sets: `"native"` as the format's arrays, `"text"` as JSON text. Neptune keeps an array as a
   * set: without order, and each member once.
   *
   * @default "native"
   */
  readonly lists?: "native" | "text";
}

/** One written file. */
export interface BulkFile {
  /** Its path in the folder, such as `nodes/student.csv`. */
  readonly path: string;
  readonly kind: "nodes" | "edges";
  readonly rows: number;
}

/** The result of {@link writeBulk}. */
export interface BulkReport {
  readonly folder: string;
  readonly files: readonly BulkFile[];
  /** Nodes without an item that an edge or a part names. They were written with their id and label. */
  readonly added: number;
  /** Columns of lists, as `table.column`, that became JSON text because a value does not fit the format's arrays. */
  readonly asText: readonly string[];
  /** The loader's command, or for Neptune its request. */
  readonly load: string;
}

interface Dialect {
  readonly node: readonly [id: string, label: string];
  /** The last one is undefined where edges have no id. */
  readonly edge: readonly [from: string, to: string, label: string, id?: string];
  readonly types: Readonly<Record<ColumnType, string>>;
  /** What follows the type of a node's single value. */
  readonly single: string;
  readonly edgeArrays: boolean;
  /** Joins a list of texts. */
  readonly joined: (texts: string) => string;
  /** The condition on a list that the format's arrays cannot hold. */
  readonly unfit: (list: string) => string;
}

const neptuneTypes: Readonly<Record<ColumnType, string>> = {
  text: "String",
  integer: "Long",
  // Neither database has an integer of more than 64 bits.
  whole: "String",
  number: "Double",
  boolean: "Bool",
  timestamp: "Date",
  bytes: "String",
  texts: "String[]",
  numbers: "Double[]",
  json: "String",
};

const neptune: Pick<Dialect, "edgeArrays" | "joined" | "unfit"> = {
  edgeArrays: false,
  // An empty array is an absent property.
  joined: (texts) => String.raw`nullif(array_to_string(list_transform(${texts}, lambda x: replace(x, ';', '\;')), ';'), '')`,
  // A backslash escapes only a semicolon, and nothing escapes the backslash.
  unfit: (list) => String.raw`len(list_filter(${list}, lambda x: x = '' or ends_with(x, '\') or contains(x, '\;'))) > 0`,
};

const dialects: Readonly<Record<BulkFormat, Dialect>> = {
  "neptune-gremlin": {
    ...neptune,
    node: ["~id", "~label"],
    edge: ["~from", "~to", "~label", "~id"],
    types: neptuneTypes,
    single: "(single)",
  },
  "neptune-opencypher": {
    ...neptune,
    node: [":ID", ":LABEL"],
    edge: [":START_ID", ":END_ID", ":TYPE", ":ID"],
    types: { ...neptuneTypes, timestamp: "DateTime" },
    single: "",
  },
  neo4j: {
    node: [":ID", ":LABEL"],
    edge: [":START_ID", ":END_ID", ":TYPE"],
    types: {
      text: "string",
      integer: "long",
      whole: "string",
      number: "double",
      boolean: "boolean",
      timestamp: "datetime",
      bytes: "string",
      texts: "string[]",
      numbers: "double[]",
      json: "string",
    },
    single: "",
    edgeArrays: true,
    // neo4j-admin knows no escape for the delimiter of arrays, so it is a character that texts hardly contain.
    joined: (texts) => `array_to_string(${texts}, chr(31))`,
    unfit: (list) => `len(list_filter(${list}, lambda x: contains(x, chr(31)))) > 0 or (len(${list}) = 1 and ${list}[1] = '')`,
  },
};

const isList = ({ type }: StoredColumn): boolean => type === "texts" || type === "numbers";

/** A column as the format's text. */
const valueOf = ({ name, type }: StoredColumn, { joined }: Dialect, asText: boolean): string => {
  if (asText) return `cast(to_json(${name}) as varchar)`;
  switch (type) {
    case "text":
    case "json":
      return name;
    case "bytes":
      return `to_base64(${name})`;
    case "timestamp":
      return `strftime(${name}, '%Y-%m-%dT%H:%M:%S.%gZ')`;
    case "texts":
      return joined(name);
    case "numbers":
      return joined(`list_transform(${name}, lambda x: cast(x as varchar))`);
    default:
      return `cast(${name} as varchar)`;
  }
};

/** An expression and its header. */
type Output = readonly [expression: string, header: string];

/** The properties of a table's rows. Columns get the names of their attributes where these are plain words. */
const propertiesOf = (
  { kind, columns }: StoredTable,
  { dialect, asText }: { readonly dialect: Dialect; readonly asText: ReadonlySet<string> },
): readonly Output[] => {
  const free = freeName();
  const given = columns.filter(({ attribute, name, within }) => (attribute !== undefined && !within) || name === "more");
  return given.map((column) => {
    const { attribute, name, type } = column;
    const property = free(attribute !== undefined && /^[A-Za-z_]\w*$/.test(attribute) ? attribute : name);
    const text = asText.has(name);
    const array = isList(column) && !text;
    const single = kind !== "edge" && !array ? dialect.single : "";
    return [valueOf(column, dialect, text), `${property}:${text ? dialect.types.text : dialect.types[type]}${single}`];
  });
};

const keyText = (column: string): string => `coalesce(replace(replace(cast(${column} as varchar), '%', '%25'), '>', '%3E'), '')`;

/** True if edges may lead to a table's rows: nodes, and parts that the model names at their ends. */
const isNamed = ({ kind, columns }: Pick<StoredTable, "kind" | "columns">): boolean =>
  kind === "node" || (kind === "part" && columns.some(({ name, attribute }) => name === "node" && attribute === undefined));

/** Identifies an edge or a part by its ends and its key: `student:S1 > enrolledIn > course:C1`. No node's id contains ` > `. */
const idOf = ({ kind, definition, key, columns }: StoredTable, folder: string): string => {
  if (isNamed({ kind, columns })) return "node";
  if (key === undefined)
    throw new EdgetableError(
      "analytics.lake",
      `The lake in ${folder} does not record the keys of "${definition}": an older release made it. Extract it again.`,
      { details: { folder, name: definition } },
    );
  const ends = kind === "edge" ? `source || ' > ${definition} > ' || target` : `owner || ' > ${definition}'`;
  return [ends, ...key.map(keyText)].join(" || ' > ' || ");
};

/** A file to write: its SELECT's columns, and where they come from. */
interface Content {
  readonly path: string;
  readonly kind: BulkFile["kind"];
  readonly outputs: readonly Output[];
  readonly from: string;
}

const edgeOutputs = ({ edge }: Dialect, [from, to, label, id]: readonly string[]): readonly Output[] =>
  [from!, to!, label!, ...(edge[3] === undefined ? [] : [id!])].map((expression, at) => [expression, edge[at]!]);

const contentsOf = (lake: Lake, dialect: Dialect, asText: ReadonlyMap<string, ReadonlySet<string>>): readonly Content[] => {
  const [nodeId, nodeLabel] = dialect.node;
  const contents: Content[] = [];
  const ends = new Set<string>();
  const labels = freeName(lake.tables.map(({ definition }) => definition));
  const partOf = lake.tables.some(({ kind }) => kind === "part") ? labels("partOf") : "";
  for (const table of lake.tables) {
    const { name, kind, definition } = table;
    // The parts that hold these values are there.
    if (kind === "cells") continue;
    const properties = propertiesOf(table, { dialect, asText: asText.get(name) ?? new Set() });
    const id = idOf(table, lake.folder);
    const label = literal(definition);
    if (kind === "edge") {
      const outputs = [...edgeOutputs(dialect, ["source", "target", label, id]), ...properties];
      contents.push({ path: `edges/${name}.csv`, kind: "edges", outputs, from: name });
      ends.add(`select source as node from ${name} union all select target from ${name}`);
      continue;
    }
    contents.push({ path: `nodes/${name}.csv`, kind: "nodes", outputs: [[id, nodeId], [label, nodeLabel], ...properties], from: name });
    if (kind === "node") continue;
    const outputs = edgeOutputs(dialect, [id, "owner", literal(partOf), `${id} || ' > ${partOf}'`]);
    contents.push({ path: `edges/${name}.csv`, kind: "edges", outputs, from: name });
    ends.add(`select owner as node from ${name}`);
  }
  if (ends.size === 0) return contents;
  const stored = lake.tables.filter(isNamed).map(({ name }) => `select node from ${name}`);
  const missing = `(select distinct node from (${[...ends].join(" union all ")}) as ends where node not in (${stored.join(" union all ")})) as missing`;
  const bare: readonly Output[] = [
    ["node", nodeId],
    ["split_part(node, ':', 1)", nodeLabel],
  ];
  return [...contents, { path: "nodes/_without_item.csv", kind: "nodes", outputs: bare, from: missing }];
};

/** Columns of lists that must be JSON text, by table. */
const textColumns = async (lake: Lake, { format, lists = "native" }: BulkOptions): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const { unfit, edgeArrays } = dialects[format];
  const found = new Map<string, ReadonlySet<string>>();
  for (const { name, kind, columns } of lake.tables) {
    if (kind === "cells") continue;
    const listed = columns.filter((column) => isList(column) && !column.within);
    if (lists === "text" || (kind === "edge" && !edgeArrays)) {
      found.set(name, new Set(listed.map((column) => column.name)));
      continue;
    }
    const texts = listed.filter(({ type }) => type === "texts");
    if (texts.length === 0) continue;
    const checks = texts.map((column) => `coalesce(bool_or(${unfit(column.name)}), false) as ${column.name}`);
    const [row = {}] = await lake.query(`select ${checks.join(", ")} from ${name}`);
    found.set(name, new Set(texts.map((column) => column.name).filter((column) => row[column] === true)));
  }
  return found;
};

const loadOf = (format: BulkFormat, folder: string, files: readonly BulkFile[]): string => {
  if (format === "neo4j") {
    const named = files.map(({ path, kind }) => `--${kind === "nodes" ? "nodes" : "relationships"}='${join(folder, path)}'`);
    return `neo4j-admin database import full --array-delimiter=U+001F --multiline-fields=true ${named.join(" ")} neo4j`;
  }
  const request = {
    source: "s3://BUCKET/PREFIX/",
    format: format === "neptune-gremlin" ? "csv" : "opencypher",
    iamRoleArn: "ROLE",
    region: "REGION",
    failOnError: "TRUE",
    parserConfiguration: { allowEmptyStrings: true },
  };
  return `curl -X POST -H 'Content-Type: application/json' https://ENDPOINT:8182/loader -d '${JSON.stringify(request)}'`;
};

/**
 * Writes the lake as CSV files for the bulk loader of Neptune or Neo4j: one file for each node, edge and part type that has rows, with typed
 * headers, and `nodes/_without_item.csv` for nodes that only edges or parts name. The id of a node is its text in the lake, such as
 * `student:S1`, which is unique across all types. Its label is its name in the model. A part becomes a node with an edge `partOf` to
 * its owner. Numbers of more than 64 bits, bytes (base64) and nested documents (JSON) become texts.
 *
 * @throws {analytics.lake} if the folder holds files, or an older release made the lake
 * @throws {analytics.engine} if disk or memory run out
 * @example
 * const { load } = await writeBulk(lake, { into: "neo4j", format: "neo4j" });
 * console.log(load); // neo4j-admin database import full …
 */
export const writeBulk = async (lake: Lake, options: BulkOptions): Promise<BulkReport> => {
  const folder = resolve(options.into);
  if (!Object.hasOwn(dialects, options.format))
    throw new EdgetableError("plan.invalidOption", `The format must be one of ${Object.keys(dialects).join(", ")}.`, {
      details: { format: options.format },
    });
  const dialect = dialects[options.format];
  if (existsSync(folder) && (await readdir(folder)).length > 0)
    throw new EdgetableError("analytics.lake", `The folder ${folder} holds files. Name another folder, or remove them.`, {
      details: { folder },
    });
  const asText = await textColumns(lake, options);
  const contents = contentsOf(lake, dialect, asText);
  const building = `${folder}.new`;
  await rm(building, { recursive: true, force: true });
  for (const kind of ["nodes", "edges"]) await mkdir(join(building, kind), { recursive: true });
  const files: BulkFile[] = [];
  let added = 0;
  for (const { path, kind, outputs, from } of contents) {
    const select = outputs.map(([expression], at) => `${expression} as c${at}`).join(", ");
    const header = `${outputs.map(([, name]) => name).join(",")}\n`;
    // Quotes tell an empty text from an absent value. DuckDB would quote the header too, which no loader's documentation shows.
    const csv = `format csv, header false, prefix ${literal(header)}, suffix '\n', force_quote *`;
    const [row = {}] = await lake.query(`copy (select ${select} from ${from}) to ${literal(join(building, path))} (${csv})`);
    const rows = Number(Object.values(row)[0] ?? 0);
    if (path.endsWith("_without_item.csv")) added = rows;
    if (rows > 0) files.push({ path, kind, rows });
    else await rm(join(building, path));
  }
  await rm(folder, { recursive: true, force: true });
  await rename(building, folder);
  return {
    folder,
    files,
    added,
    asText: [...asText].flatMap(([table, columns]) => [...columns].map((column) => `${table}.${column}`)),
    load: loadOf(options.format, folder, files),
  };
};
