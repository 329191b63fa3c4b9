import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { EdgetableError } from "edgetable";

/** Where the engine's binary was found. */
export interface EngineBinary {
  readonly path: string;
  readonly from: "EDGETABLE_ENGINE" | "package" | "PATH";
}

/** What the search depends on. Tests pass their own. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `process.platform` and `process.arch`. */
  readonly platform: string;
  readonly arch: string;
  /** Files or URLs from which the platform package is resolved, in order. */
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
      // Not installed there.
    }
  }
  return undefined;
};

/** The path of a program on PATH; on Windows, of `name.exe` or `name.cmd`. */
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
    `No embedded engine for ${target} was found. ${install}, or name a binary in EDGETABLE_ENGINE. With Java or Docker, use DynamoDB Local instead: startEngine({ engine: "dynamodb-local" }), or edgetable dev --engine dynamodb-local.`,
    {
      details: { platform, arch, package: `@dynoxide/${target}` },
    },
  );
};

/**
 * Finds the engine: the file in EDGETABLE_ENGINE, the platform package, or `dynoxide` on PATH.
 *
 * @param surroundings where to look. @default this process
 * @throws {local.engineNotFound} if there is none, or EDGETABLE_ENGINE does not name an executable file
 */
export const findEngineBinary = (surroundings: Surroundings = here()): EngineBinary => {
  const named = surroundings.environment["EDGETABLE_ENGINE"];
  if (named !== undefined && named !== "") {
    if (isRunnable(named)) return { path: named, from: "EDGETABLE_ENGINE" };
    throw new EdgetableError(
      "local.engineNotFound",
      `EDGETABLE_ENGINE names ${JSON.stringify(named)}, which is not an executable file. Give the path of a dynoxide binary, or unset the variable to use the installed package.`,
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
