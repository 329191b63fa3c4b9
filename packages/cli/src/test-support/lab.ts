import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Io, Output } from "../io.ts";
import { main } from "../main.ts";

const nodeModules = fileURLToPath(new URL("../../../../node_modules", import.meta.url));

/** The started program, as `npm test` has built it. */
export const bin: string = fileURLToPath(new URL("../../bin/edgetable.js", import.meta.url));

/** A folder in which a model can import what the workspace has installed: the library's built copy, not its sources. */
export interface Folder {
  readonly path: string;
  write(name: string, text: string): void;
  remove(): void;
}

export const createFolder = (files: Readonly<Record<string, string>> = {}): Folder => {
  const path = mkdtempSync(join(tmpdir(), "edgetable-cli-"));
  symlinkSync(nodeModules, join(path, "node_modules"));
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { path, write, remove: () => rmSync(path, { recursive: true, force: true }) };
};

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Io["env"];
  /** Width of the terminal; without one the streams are no terminal. */
  readonly columns?: number;
  readonly input?: string;
  readonly asks?: boolean;
  /** Whether the one who could answer says nothing. */
  readonly silent?: boolean;
  readonly signal?: AbortSignal;
  readonly onOut?: (text: string) => void;
  readonly onErr?: (text: string) => void;
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line in this process. */
export const run = async (argv: readonly string[], options: RunOptions): Promise<Ran> => {
  const signal = options.signal ?? new AbortController().signal;
  const written = { out: "", err: "" };
  const output = (name: "out" | "err"): Output => ({
    write: (text) => {
      written[name] += text;
      (name === "out" ? options.onOut : options.onErr)?.(text);
    },
    drained: () => Promise.resolve(),
    isTTY: options.columns !== undefined,
    columns: options.columns,
  });
  const io: Io = {
    out: output("out"),
    err: output("err"),
    input: options.silent ? new PassThrough() : Readable.from(options.input === undefined ? [] : [options.input]),
    asks: options.asks ?? false,
    env: { NO_COLOR: "1", ...options.env },
    cwd: options.cwd,
    signal,
  };
  const code = await main(argv, io);
  return { code, ...written };
};

/** The education model of the documentation, with two patterns. */
export const educationModel = `
import { defineGraph, definePatterns, edge, node, part } from "edgetable";
import { z } from "zod";

export const education = defineGraph({
  table: "Education",
  nodes: {
    student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: z.string(), name: z.string(), year: z.int().optional(), active: z.boolean().optional() }) }),
    course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: z.string(), name: z.string() }) }),
    home: node({ key: "HOME#{country}#{city}", schema: z.object({ country: z.string(), city: z.string() }), mirror: true }),
    term: node({ key: "TERM#{year:4}", schema: z.object({ year: z.int(), starts: z.date() }), dates: ["starts"] }),
  },
  edges: {
    enrolledIn: edge({ from: "student", to: "course", schema: z.object({ at: z.string(), grade: z.string().optional() }), orderBy: "at" }),
    livesIn: edge({ from: "student", to: "home" }),
  },
  parts: { note: part({ of: "student", key: "NOTE#{number:3}", schema: z.object({ number: z.int(), text: z.string() }) }) },
});

export const patterns = definePatterns(education, {
  studentsOfCourse: {
    question: "Which students take a course, in the order in which they enrolled?",
    example: { courseId: "C1" },
    ask: (db, { courseId }) => db.course({ courseId }).in("enrolledIn").entries(),
  },
  recentCourses: {
    question: "The latest courses of a student",
    example: { studentId: "S1", since: "2024-01", most: 10 },
    ask: (db, { studentId, since, most }) => db.student({ studentId }).out("enrolledIn").where({ at: { gte: since } }).reverse().limit(most).edges(),
  },
});
`;

/** Some of its data, as a JSON file of \`load\`. */
export const educationData: string = JSON.stringify({
  nodes: {
    student: [
      { studentId: "S1", name: "Ann", year: 3 },
      { studentId: "S2", name: "Bob" },
      { studentId: "S3", name: "Cy" },
    ],
    course: [
      { courseId: "C1", name: "Advanced Mathematics" },
      { courseId: "C2", name: "Arts" },
    ],
    home: [{ country: "US", city: "Seattle" }],
    term: [{ year: 2024, starts: "2024-09-01T00:00:00.000Z" }],
  },
  parts: { note: [{ owner: { studentId: "S1" }, number: 1, text: "late" }] },
  edges: {
    enrolledIn: [
      { from: { studentId: "S1" }, to: { courseId: "C1" }, at: "2024-01-10", grade: "A" },
      { from: { studentId: "S2" }, to: { courseId: "C1" }, at: "2024-01-11" },
      { from: { studentId: "S3" }, to: { courseId: "C1" }, at: "2024-01-12" },
      { from: { studentId: "S1" }, to: { courseId: "C2" }, at: "2023-09-01" },
    ],
    livesIn: [{ from: { studentId: "S1" }, to: { country: "US", city: "Seattle" } }],
  },
});
