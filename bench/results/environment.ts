import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { cpus, totalmem } from "node:os";

/** What a reader needs to judge the figures, and nothing that names the machine. */
export interface Environment {
  readonly date: string;
  readonly node: string;
  readonly cores: number;
  readonly processor: string;
  readonly memory: number;
  readonly system: string;
  /** The form of the run: its full size or the reduced one for CI. */
  readonly form: "full" | "reduced";
  readonly versions: Readonly<Record<string, string>>;
}

const measured = [
  "@aws-sdk/client-dynamodb",
  "@aws-sdk/lib-dynamodb",
  "electrodb",
  "dynamodb-toolbox",
  "dynamodb-onetable",
  "zod",
  "esbuild",
  "typescript",
  "typescript7",
  "@dynoxide/linux-x64",
];

// A package's manifest is not always among its exports, so it is looked for in the folders themselves.
const versionOf = (name: string): string => {
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    try {
      return (JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8")) as { readonly version: string }).version;
    } catch {
      continue;
    }
  }
  throw new Error(`${name} is not installed`);
};

export const describeEnvironment = (form: Environment["form"]): Environment => ({
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  cores: cpus().length,
  processor: cpus()[0]?.model.trim() ?? "unknown",
  memory: Math.round(totalmem() / 2 ** 30),
  system: `${process.platform} ${process.arch}`,
  form,
  versions: Object.fromEntries(measured.map((name) => [name, versionOf(name)])),
});
