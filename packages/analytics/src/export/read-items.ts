import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { EdgetableError, isEdgetableError, type AttributeValue, type Item } from "edgetable";
import { IonTypes, makeReader, type Decimal, type Reader } from "ion-js";
import { linesOf } from "./lines.ts";
import type { DataFile, ExportManifest } from "./read-manifest.ts";

/** One line of an export. Of a full one, only `after` is there; an incremental one tells a deletion by its absence. */
export interface ExportedChange {
  readonly key: Item | undefined;
  readonly after: Item | undefined;
  /** Microseconds since 1970; of a full export undefined. */
  readonly writtenAt: bigint | undefined;
}

interface Line {
  readonly Item?: Item;
  readonly Keys?: Item;
  readonly NewImage?: Item;
  readonly Metadata?: { readonly WriteTimestampMicros?: { readonly N?: string } | string | number };
}

const changeOf = (line: Line): ExportedChange => {
  const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
  if (!isObject(line) || [line.Item, line.Keys, line.NewImage].some((one) => one !== undefined && !isObject(one)))
    throw new Error("it holds no item");
  if (line.Item) return { key: undefined, after: line.Item, writtenAt: undefined };
  const micros = line.Metadata?.WriteTimestampMicros;
  const text = typeof micros === "object" ? micros.N : micros;
  if (!line.Keys) throw new Error("it holds neither Item nor Keys");
  // Without it, nobody could tell which of two states of an item is the later one.
  if (text === undefined) throw new Error("it does not say when it was written (WriteTimestampMicros)");
  return { key: line.Keys, after: line.NewImage, writtenAt: BigInt(text) };
};

/** Ion writes 6d2 where DynamoDB JSON writes 600: an integer is written out, so that it is read as one. */
const decimalText = (decimal: Decimal): string => {
  const digits = String(decimal.getCoefficient());
  const exponent = decimal.getExponent();
  const text = exponent < 0 ? `${digits}E${exponent}` : `${digits}${"0".repeat(exponent)}`;
  return decimal.isNegative() && !text.startsWith("-") ? `-${text}` : text;
};

/** Reads the value on which the reader stands. */
const ionValue = (reader: Reader): AttributeValue => {
  const type = reader.type();
  const annotations = reader.annotations();
  if (reader.isNull()) return { NULL: true };
  switch (type) {
    case IonTypes.STRING:
    case IonTypes.SYMBOL:
      return { S: reader.stringValue()! };
    case IonTypes.BOOL:
      return { BOOL: reader.booleanValue()! };
    case IonTypes.INT:
      return { N: String(reader.bigIntValue()) };
    case IonTypes.DECIMAL:
      return { N: decimalText(reader.decimalValue()!) };
    case IonTypes.FLOAT:
      return { N: String(reader.numberValue()) };
    case IonTypes.BLOB:
    case IonTypes.CLOB:
      return { B: Buffer.from(reader.uInt8ArrayValue()!).toString("base64") };
    case IonTypes.STRUCT:
      return { M: ionFields(reader) };
    case IonTypes.LIST:
    case IonTypes.SEXP: {
      const values: AttributeValue[] = [];
      reader.stepIn();
      while (reader.next() !== null) values.push(ionValue(reader));
      reader.stepOut();
      const texts = (): string[] => values.flatMap((value) => Object.values(value) as string[]);
      if (annotations.includes("$dynamodb_SS")) return { SS: texts() };
      if (annotations.includes("$dynamodb_NS")) return { NS: texts() };
      if (annotations.includes("$dynamodb_BS")) return { BS: texts() };
      return { L: values };
    }
    default:
      throw new Error(`an Ion ${type?.name ?? "value"} has no place in an item`);
  }
};

function ionFields(reader: Reader): Record<string, AttributeValue> {
  const fields: Record<string, AttributeValue> = Object.create(null) as Record<string, AttributeValue>;
  reader.stepIn();
  while (reader.next() !== null) fields[reader.fieldName()!] = ionValue(reader);
  reader.stepOut();
  return fields;
}

const parseIon = (text: string): Line => {
  const reader = makeReader(text);
  if (reader.next() === null) throw new Error("it is empty");
  const whole = ionFields(reader);
  // Incremental exports may have these fields in a struct of their own.
  const inner = whole["Record"];
  const line = (inner && "M" in inner ? inner.M : whole) as unknown as Readonly<
    Record<string, { readonly M?: Item } & { readonly N?: string }>
  >;
  const micros = (line["Metadata"]?.M as unknown as Readonly<Record<string, { readonly N?: string }>> | undefined)?.["WriteTimestampMicros"]
    ?.N;
  return {
    ...(line["Item"]?.M ? { Item: line["Item"].M } : {}),
    ...(line["Keys"]?.M ? { Keys: line["Keys"].M } : {}),
    ...(line["NewImage"]?.M ? { NewImage: line["NewImage"].M } : {}),
    ...(micros === undefined ? {} : { Metadata: { WriteTimestampMicros: micros } }),
  };
};

/** The changes of one data file, checked against its checksum and count once it is read. */
async function* readFile(file: DataFile, format: ExportManifest["format"]): AsyncGenerator<ExportedChange> {
  const refuse = (message: string, cause?: unknown): never => {
    throw new EdgetableError("analytics.export", `${basename(file.path)}: ${message}`, {
      details: { file: file.path },
      ...(cause === undefined ? {} : { cause }),
    });
  };
  const compressed = createReadStream(file.path);
  const md5 = createHash("md5");
  compressed.on("data", (chunk) => md5.update(chunk));
  const plain = file.path.endsWith(".gz") ? pipeline(compressed, createGunzip(), () => undefined) : compressed;
  let lines = 0;
  const parse = (text: string): ExportedChange => {
    try {
      return changeOf(format === "ION" ? parseIon(text) : (JSON.parse(text) as Line));
    } catch (cause) {
      return refuse(`line ${lines} is not what DynamoDB exports: ${cause instanceof Error ? cause.message : String(cause)}.`, cause);
    }
  };
  try {
    for await (const text of linesOf(plain)) {
      if (text.trim() === "") continue;
      lines++;
      yield parse(text);
    }
  } catch (cause) {
    if (isEdgetableError(cause)) throw cause;
    refuse("the file cannot be read to its end: it is damaged or cut off. Copy it again.", cause);
  }
  const sum = md5.digest("base64");
  if (file.md5 !== undefined && file.md5 !== sum)
    refuse("the file does not fit its checksum in the manifest: it is damaged or was changed. Copy it again.");
  if (file.items !== lines) refuse(`the manifest names ${file.items} items, and the file holds ${lines}.`);
}

/**
 * The changes of a whole export, file by file.
 *
 * @throws {analytics.export} for a file that is damaged, cut off or holds something else
 */
export async function* readChanges({ files, format }: ExportManifest): AsyncGenerator<ExportedChange> {
  for (const file of files) yield* readFile(file, format);
}
