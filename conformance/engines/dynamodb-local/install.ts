import { execFile } from "node:child_process";
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

const fill = async (folder: string): Promise<void> => {
  const jars = join(folder, "jars");
  await need("mvn", [
    "-q",
    "-B",
    "-f",
    join(here, "pom.xml"),
    "dependency:copy-dependencies",
    `-DoutputDirectory=${jars}`,
    "-DincludeScope=runtime",
  ]);
  await need("javac", ["--release", "17", "-cp", join(jars, "*"), "-d", join(folder, "classes"), join(here, "Launcher.java")]);
};

/**
 * Gets DynamoDB Local from Maven Central and compiles the launcher, once per version (51 MB, about
 * 30 s the first time). The finished folder appears by a rename: half of one is never used.
 */
export const install = async (): Promise<Installation> => {
  const version = versionInPom();
  const folder = join(cache, version);
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const building = await mkdtemp(join(cache, `${version}-`));
    await fill(building);
    // Losing the race against another process is fine: its folder is as good.
    await rename(building, folder).catch(() => rm(building, { recursive: true }));
  }
  return { version, jars: join(folder, "jars"), classes: join(folder, "classes") };
};
