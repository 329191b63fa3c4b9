import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { EdgetableError } from "edgetable";

/** Where the engine's binary was found. */
export interface EngineBinary {
  readonly path: string;
  readonly from: "EDGETABLE_ENGINE" | "package" | "PATH";
}

/** What the search looks at; a test hands in its own. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** As `process.platform` and `process.arch` name them. */
  readonly platform: string;
  readonly arch: string;
  /** Files or URLs from whose place the platform package is resolved, first to last. */
  readonly resolveFrom: readonly (string | URL)[];
}

const here = (): Surroundings => ({
  environment: process.env,
  platform: process.platform,
  arch: process.arch,
  resolveFrom: [import.meta.url, join(process.cwd(), "package.json")],
});

const published = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64", "win32-x64"];

const isRunnable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

const inPackage = ({ platform, arch, resolveFrom }: Surroundings, executable: string): string | undefined => {
  for (const place of resolveFrom) {
    try {
      const path = join(dirname(createRequire(place).resolve(`@dynoxide/${platform}-${arch}/package.json`)), executable);
      if (isRunnable(path)) return path;
    } catch {
      // Not installed there: the next place.
    }
  }
  return undefined;
};

/** The program of a name; on Windows, `name.exe` or `name.cmd`. */
export const findOnPath = (
  name: string,
  { environment, platform }: Pick<Surroundings, "environment" | "platform"> = here(),
): string | undefined => {
  const endings = platform === "win32" ? [".exe", ".cmd"] : [""];
  return (environment["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .flatMap((folder) => endings.map((ending) => join(folder, `${name}${ending}`)))
    .find(isRunnable);
};

const notFound = ({ platform, arch }: Surroundings): EdgetableError => {
  const target = `${platform}-${arch}`;
  const install = published.includes(target)
    ? `Install the optional package with \`npm install --save-dev @dynoxide/${target}\``
    : `None is published for this platform (there is one for ${published.join(", ")}): put a \`dynoxide\` that you built on PATH`;
  return new EdgetableError(
    "local.engineNotFound",
    `No embedded engine for ${target} was found. ${install}, or name a binary in EDGETABLE_ENGINE. Where Java or Docker is installed, DynamoDB Local does the same: startEngine({ engine: "dynamodb-local" }), or edgetable dev --engine dynamodb-local.`,
    {
      details: { platform, arch, package: `@dynoxide/${target}` },
    },
  );
};

/**
 * Finds the engine: the file EDGETABLE_ENGINE names, the platform package, `dynoxide` on PATH.
 *
 * @param surroundings what to look at. @default this process
 * @throws {local.engineNotFound} when there is none, or EDGETABLE_ENGINE names no file that can be run.
 */
export const findEngineBinary = (surroundings: Surroundings = here()): EngineBinary => {
  const named = surroundings.environment["EDGETABLE_ENGINE"];
  if (named !== undefined && named !== "") {
    if (isRunnable(named)) return { path: named, from: "EDGETABLE_ENGINE" };
    throw new EdgetableError(
      "local.engineNotFound",
      `EDGETABLE_ENGINE names ${JSON.stringify(named)}, which is no file that can be run. Give the path of a dynoxide binary, or unset the variable to use the installed package.`,
      { details: { path: named } },
    );
  }
  const executable = surroundings.platform === "win32" ? "dynoxide.exe" : "dynoxide";
  const packaged = inPackage(surroundings, executable);
  if (packaged !== undefined) return { path: packaged, from: "package" };
  const path = findOnPath("dynoxide", surroundings);
  if (path !== undefined) return { path, from: "PATH" };
  throw notFound(surroundings);
};
