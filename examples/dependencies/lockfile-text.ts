import { z } from "zod";
import { LockfileError } from "./lockfile-error.ts";

const ranges = z.record(z.string(), z.string()).default({});

// npm copies these from each package as they are, and old packages have them in other forms: such say nothing.
const text = z.string().min(1).optional().catch(undefined);
const texts = z
  .union([z.array(z.string()), z.string().transform((one) => [one])])
  .optional()
  .catch(undefined);
const flag = z.boolean().optional();

const licenseName = z.union([z.string(), z.object({ type: z.string() }).transform(({ type }) => type)]);
const license = z
  .union([licenseName, z.array(licenseName).transform((all) => all.join(" OR "))])
  .transform((name) => name.trim() || undefined)
  .optional()
  .catch(undefined);

const entrySchema = z.object({
  name: text,
  version: text,
  resolved: z.string().optional(),
  link: flag,
  integrity: text,
  license,
  deprecated: text,
  dev: flag,
  optional: flag,
  devOptional: flag,
  peer: flag,
  inBundle: flag,
  extraneous: flag,
  hasInstallScript: flag,
  engines: z.record(z.string(), z.string()).optional().catch(undefined),
  os: texts,
  cpu: texts,
  libc: texts,
  dependencies: ranges,
  devDependencies: ranges,
  optionalDependencies: ranges,
  peerDependencies: ranges,
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().optional() })).default({}),
  workspaces: z
    .union([z.array(z.string()), z.object({ packages: z.array(z.string()).default([]) }).transform(({ packages }) => packages)])
    .default([]),
});

/** An entry of a lockfile's `packages`, as npm writes it. */
export type LockEntry = z.output<typeof entrySchema>;

const SUPPORTED: readonly unknown[] = [2, 3];
const RECORD = z.record(z.string(), z.unknown());

const parseJson = (content: string, file: string): unknown => {
  try {
    return JSON.parse(content.replace(/^\uFEFF/, "")) as unknown;
  } catch (cause) {
    const mend = /^<{7} /m.test(content)
      ? "It has conflicts of a merge: npm install settles them."
      : "Give a package-lock.json or an npm-shrinkwrap.json, as npm writes it.";
    throw new LockfileError("notJson", `${file} is not JSON: ${(cause as Error).message}. ${mend}`, { cause });
  }
};

const checkVersion = (version: unknown, file: string): void => {
  if (SUPPORTED.includes(version)) return;
  if (version === undefined)
    throw new LockfileError("invalid", `${file} has no "lockfileVersion": it is not an npm lockfile. Give a package-lock.json.`);
  const mend =
    version === 1
      ? "npm 7 and later turn it into one that can be: npm install --package-lock-only."
      : "Write it with an npm that makes one of these.";
  throw new LockfileError("unsupportedVersion", `${file} has lockfileVersion ${JSON.stringify(version)}; 2 and 3 can be read. ${mend}`);
};

const place = (location: string, path: readonly PropertyKey[]): string =>
  [`packages[${JSON.stringify(location)}]`, ...path.map(String)].join(".");

const parseEntry = (location: string, value: unknown, file: string): LockEntry => {
  const { data, error } = entrySchema.safeParse(value);
  if (data) return data;
  const [issue] = error.issues;
  throw new LockfileError(
    "invalid",
    `${file}: ${place(location, issue?.path ?? [])} cannot be read: ${issue?.message}. npm install --package-lock-only writes it anew.`,
    { cause: error },
  );
};

/**
 * The entries of a lockfile, by location; the project's own is under "".
 *
 * @throws {LockfileError} `notJson`, `unsupportedVersion` or `invalid`
 */
export const parseLockfileText = (content: string, file: string): ReadonlyMap<string, LockEntry> => {
  const { data: lockfile } = RECORD.safeParse(parseJson(content, file));
  if (!lockfile) throw new LockfileError("invalid", `${file} holds no JSON object: it is not an npm lockfile. Give a package-lock.json.`);
  checkVersion(lockfile["lockfileVersion"], file);
  const { data: packages } = RECORD.safeParse(lockfile["packages"]);
  if (!packages) throw new LockfileError("invalid", `${file} has no "packages". npm install --package-lock-only writes them.`);
  if (packages[""] === undefined) {
    throw new LockfileError(
      "invalid",
      `${file} has no entry for the project itself. Give the package-lock.json beside its package.json, not one inside node_modules.`,
    );
  }
  return new Map(Object.entries(packages).map(([location, entry]) => [location, parseEntry(location, entry, file)]));
};
