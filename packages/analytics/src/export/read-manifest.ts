import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { EdgetableError } from "edgetable";

/** A data file of an export. */
export interface DataFile {
  readonly path: string;
  readonly items: number;
  readonly md5: string | undefined;
}

/** A full or incremental export of DynamoDB to S3, as it lies in a folder. */
export interface ExportManifest {
  readonly folder: string;
  readonly tableArn: string;
  readonly format: "DYNAMODB_JSON" | "ION";
  readonly kind: "full" | "incremental";
  readonly items: number;
  /** The moment that the export shows, of an incremental one the end of its changes: microseconds since 1970; 0 where the summary does not say. */
  readonly takenAt: bigint;
  /** When the changes of an incremental export begin, in microseconds since 1970; 0 where the summary does not say. */
  readonly beginsAt: bigint;
  /** What tells the export from others: its table, moments and files. */
  readonly fingerprint: string;
  readonly files: readonly DataFile[];
}

interface Summary {
  readonly tableArn?: string;
  readonly outputFormat?: string;
  readonly exportType?: string;
  readonly itemCount?: number;
  readonly exportTime?: string;
  readonly exportFromTime?: string;
  readonly exportToTime?: string;
}

interface FileLine {
  readonly dataFileS3Key: string;
  readonly itemCount: number;
  readonly md5Checksum?: string;
}

const refuse = (message: string, details: Readonly<Record<string, unknown>>, cause?: unknown): never => {
  throw new EdgetableError("analytics.export", message, { details, ...(cause === undefined ? {} : { cause }) });
};

/** A moment of a summary in microseconds since 1970; 0 where it does not say. */
const microseconds = (text = ""): bigint => BigInt(Date.parse(text) || 0) * 1000n;

const readText = (path: string): Promise<string> =>
  readFile(path, "utf8").catch((cause: unknown) => refuse(`The export lacks ${basename(path)}: ${path} cannot be read.`, { path }, cause));

/** A JSON object of a manifest. */
const jsonIn = (text: string, what: string): object => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return refuse(`${what} is not JSON: the export is damaged. Copy it again.`, { what }, cause);
  }
  return typeof value === "object" && value !== null ? value : refuse(`${what} is not a JSON object. Copy the export again.`, { what });
};

/** The export's folder in the folder that was named: itself, or the only one below `AWSDynamoDB`. */
const exportFolder = async (given: string): Promise<string> => {
  if (existsSync(join(given, "manifest-summary.json"))) return given;
  const root = existsSync(join(given, "AWSDynamoDB")) ? join(given, "AWSDynamoDB") : given;
  const found = existsSync(root) ? (await readdir(root)).filter((name) => existsSync(join(root, name, "manifest-summary.json"))) : [];
  if (found.length === 1) return join(root, found[0]!);
  return refuse(
    found.length === 0
      ? `There is no export in ${given}: no folder in it holds manifest-summary.json. Copy the bucket's AWSDynamoDB folder here.`
      : `${given} holds several exports (${found.join(", ")}). Name one of them.`,
    { folder: given, found },
  );
};

/**
 * Reads what an export says of itself. The manifest alone says which files belong to it: incremental exports share a folder.
 *
 * @throws {analytics.export} when a manifest or a data file is missing, or a manifest is not what its checksum says
 */
export const readManifest = async (given: string): Promise<ExportManifest> => {
  const folder = await exportFolder(given);
  const summaryText = await readText(join(folder, "manifest-summary.json"));
  const filesText = await readText(join(folder, "manifest-files.json"));
  for (const [name, text] of [["manifest-summary", summaryText] as const, ["manifest-files", filesText] as const]) {
    const path = join(folder, `${name}.checksum`);
    if (!existsSync(path)) continue;
    const wanted = (await readText(path)).trim();
    const md5 = createHash("md5").update(text).digest("base64");
    if (wanted !== md5)
      refuse(`${name}.json does not fit its checksum: the export is damaged or was changed. Copy it again.`, { path, wanted, md5 });
  }
  const summary = jsonIn(summaryText, "manifest-summary.json") as Summary;
  const { tableArn = "", outputFormat = "DYNAMODB_JSON", exportType, itemCount } = summary;
  if (outputFormat !== "DYNAMODB_JSON" && outputFormat !== "ION")
    refuse(`The export's format ${outputFormat} is not known; it must be DYNAMODB_JSON or ION.`, { outputFormat });
  const lines = filesText.split("\n").filter((line) => line.trim() !== "");
  const files = lines.map((line, at): DataFile => {
    const entry = jsonIn(line, `Line ${at + 1} of manifest-files.json`) as FileLine;
    if (typeof entry.dataFileS3Key !== "string")
      return refuse(`Line ${at + 1} of manifest-files.json names no file (dataFileS3Key). Copy the export again.`, { line: at + 1 });
    const name = basename(entry.dataFileS3Key);
    // A full export keeps its files below itself; incremental ones share AWSDynamoDB/data.
    const path = [join(folder, "data", name), join(folder, "..", "data", name)].find((one) => existsSync(one));
    if (path === undefined)
      return refuse(`The export names ${entry.dataFileS3Key}, and the file is missing. Copy the whole export.`, {
        file: entry.dataFileS3Key,
      });
    if (typeof entry.itemCount !== "number")
      return refuse(
        `Line ${at + 1} of manifest-files.json does not say how many items the file holds (itemCount). Copy the export again.`,
        { line: at + 1 },
      );
    return { path, items: entry.itemCount, md5: entry.md5Checksum };
  });
  const held = files.reduce((sum, { items }) => sum + items, 0);
  if (itemCount !== undefined && itemCount !== held)
    refuse(
      `manifest-summary.json names ${itemCount} items, and the files in manifest-files.json hold ${held}: files are missing. Copy the whole export.`,
      { folder, itemCount, held },
    );
  const kind = exportType === "INCREMENTAL_EXPORT" ? "incremental" : "full";
  return {
    folder,
    tableArn,
    format: outputFormat as ExportManifest["format"],
    kind,
    items: held,
    takenAt: microseconds(kind === "full" ? summary.exportTime : summary.exportToTime),
    beginsAt: microseconds(summary.exportFromTime),
    fingerprint: createHash("sha256").update(summaryText).update(filesText).digest("hex"),
    files,
  };
};
