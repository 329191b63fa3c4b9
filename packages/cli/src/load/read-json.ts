import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { EdgetableError } from "edgetable";
import { recordOf, type BadRecord, type FileRecord } from "./record.ts";
import { isRow } from "../row.ts";

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Reads one JSON value a line, in memory that does not grow with the file. */
export async function* readNdjson(input: Readable): AsyncGenerator<FileRecord | BadRecord> {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  let line = 0;
  for await (const source of lines) {
    line++;
    const trimmed = (line === 1 ? source.replace(/^\uFEFF/, "") : source).trim();
    if (trimmed === "") continue;
    try {
      yield recordOf(`line ${line}`, JSON.parse(trimmed));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      yield { place: `line ${line}`, problem: `it is no JSON: ${reason(error)}` };
    }
  }
}

const groups = { nodes: "node", parts: "part", edges: "edge" } as const;

// `{ "nodes": { "student": [ … ] } }`: what a node's list holds are its rows, what an edge's holds has its ends beside its attributes.
const groupRow = (group: keyof typeof groups, name: string, value: unknown): unknown => {
  if (!isRow(value)) return value;
  if (group === "nodes") return { node: name, row: value };
  if (group === "parts") {
    const { owner, ...row } = value;
    return { part: name, owner, row };
  }
  const { from, to, reverse, ...attributes } = value;
  return { edge: name, from, to, attributes, ...(reverse === undefined ? {} : { reverse }) };
};

function* readGroup(group: keyof typeof groups, lists: unknown): Generator<FileRecord | BadRecord> {
  for (const [name, rows] of Object.entries(isRow(lists) ? lists : {})) {
    if (!Array.isArray(rows)) yield { place: `${group}.${name}`, problem: "it is no list" };
    else yield* rows.map((row: unknown, at) => recordOf(`${group}.${name}[${at}]`, groupRow(group, name, row)));
  }
}

/**
 * Reads a whole JSON file: a list of records, or `{ nodes: { <name>: [ … ] }, parts: …, edges: … }`.
 *
 * @throws {load.invalidRow} when it is neither.
 */
export async function* readJson(input: Readable): AsyncGenerator<FileRecord | BadRecord> {
  let value: unknown;
  try {
    value = JSON.parse((await text(input)).replace(/^\uFEFF/, ""));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new EdgetableError(
      "load.invalidRow",
      `It is no JSON: ${reason(error)}. A file with one JSON value a line ends in .ndjson, or is read with --format ndjson.`,
    );
  }
  if (Array.isArray(value)) for (const [at, row] of value.entries()) yield recordOf(`[${at}]`, row);
  else if (isRow(value) && Object.keys(value).some((name) => Object.hasOwn(groups, name)))
    for (const group of ["nodes", "parts", "edges"] as const) yield* readGroup(group, value[group]);
  else
    throw new EdgetableError(
      "load.invalidRow",
      'It must be a list of rows, or { "nodes": { "<name>": [ … ] }, "edges": { … }, "parts": { … } }.',
    );
}
