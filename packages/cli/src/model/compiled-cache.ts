import { lstatSync, mkdirSync, statSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";

/** Whether no other account can put a file into a folder. Windows keeps its own lists of who may, per user's profile. */
const isOurs = ({ uid, mode }: Stats): boolean => {
  const own = process.getuid?.();
  return own === undefined || ((uid === own || uid === 0) && (mode & 0o022) === 0);
};

const nodeModulesOf = (file: string): string | undefined => {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const found = join(folder, "node_modules");
    if (statSync(found, { throwIfNoEntry: false })?.isDirectory()) return found;
    if (folder === dirname(folder)) return undefined;
  }
};

/**
 * The folder in which compiled models are kept: `node_modules/.cache/edgetable` of the model's own project. What lies
 * there is run, so there is no cache where another account could write to that folder or to one of the two above it.
 *
 * @returns false where there is none: each start then compiles the model, 0.2 s
 */
export const compiledCache = (file: string): string | false => {
  try {
    const nodeModules = nodeModulesOf(file);
    if (nodeModules === undefined || !isOurs(statSync(nodeModules))) return false;
    const [cache, own] = [join(nodeModules, ".cache"), join(nodeModules, ".cache", "edgetable")];
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return [cache, own].every((folder) => lstatSync(folder).isDirectory() && isOurs(lstatSync(folder))) && own;
  } catch {
    // A project that may only be read.
    return false;
  }
};
