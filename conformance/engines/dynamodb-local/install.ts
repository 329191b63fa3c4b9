import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const here = fileURLToPath(new URL(".", import.meta.url));
const cache = fileURLToPath(new URL("../../../.cache/dynamodb-local/", import.meta.url));
const run = promisify(execFile);

/** Where the pieces of one version lie. */
export interface Installation {
  readonly version: string;
  readonly jars: string;
  readonly classes: string;
}

const versionInPom = (): string => {
  const found = /<artifactId>DynamoDBLocal<\/artifactId>\s*<version>(.+)<\/version>/.exec(readFileSync(join(here, "pom.xml"), "utf8"))?.[1];
  if (found === undefined) throw new Error("conformance/engines/dynamodb-local/pom.xml names no version of DynamoDBLocal");
  return found;
};

const need = async (program: string, args: readonly string[]): Promise<void> => {
  try {
    await run(program, args, { maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const { code, stdout, stderr } = error as { readonly code?: unknown; readonly stdout?: string; readonly stderr?: string };
    if (code === "ENOENT") throw new Error(`DynamoDB Local needs \`${program}\`: install a JDK 17 and Maven`, { cause: error });
    throw new Error(`${program} failed:\n${[stdout, stderr].join("\n").trim().split("\n").slice(-15).join("\n")}`, { cause: error });
  }
};

/** Fills a folder once. The finished folder appears by a rename: half of one is never used. */
const once = async (folder: string, fill: (building: string) => Promise<void>): Promise<string> => {
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const building = await mkdtemp(`${folder}-`);
  await fill(building);
  // Losing the race against another process is fine: its folder is as good.
  await rename(building, folder).catch(() => rm(building, { recursive: true }));
  return folder;
};

/**
 * Gets DynamoDB Local from Maven Central, once per version (51 MB, about 30 s the first time), and compiles the launcher, once
 * per version of both.
 */
export const install = async (): Promise<Installation> => {
  const version = versionInPom();
  const copy = ["-q", "-B", "-f", join(here, "pom.xml"), "dependency:copy-dependencies", "-DincludeScope=runtime"];
  const folder = await once(join(cache, version), (building) => need("mvn", [...copy, `-DoutputDirectory=${join(building, "jars")}`]));
  const jars = join(folder, "jars");
  const launcher = join(here, "Launcher.java");
  const hash = createHash("sha256").update(readFileSync(launcher)).digest("hex").slice(0, 8);
  const classes = await once(join(cache, `launcher-${version}-${hash}`), (building) =>
    need("javac", ["--release", "17", "-cp", join(jars, "*"), "-d", building, launcher]),
  );
  return { version, jars, classes };
};
