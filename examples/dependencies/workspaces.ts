// The forms of a pattern that npm's documentation shows: *, **, ? and {a,b}, and ! in front.
const globs: Readonly<Record<string, string>> = {
  "**/": "(?:.*/)?",
  "**": ".*",
  "*": "[^/]*",
  "?": "[^/]",
  "{": "(?:",
  "}": ")",
  ",": "|",
};

const patternOf = (glob: string): RegExp => {
  const trimmed = glob
    .replace(/^!/, "")
    .replace(/^\.?\//, "")
    .replace(/\/$/, "");
  const source = trimmed.replace(/\*\*\/|\*\*|[*?{},]|[.+^$()|[\]\\]/g, (found) => globs[found] ?? `\\${found}`);
  return new RegExp(`^${source}$`);
};

const inNodeModules = (location: string): boolean => location.split("/").includes("node_modules");

/** The folders that a project's `workspaces` name. */
export const workspaceFolders = (globs: readonly string[], locations: readonly string[]): readonly string[] => {
  const folders = locations.filter((location) => location !== "." && !inNodeModules(location));
  const named = new Set<string>();
  for (const glob of globs) {
    const pattern = patternOf(glob);
    for (const folder of folders.filter((one) => pattern.test(one))) {
      if (glob.startsWith("!")) named.delete(folder);
      else named.add(folder);
    }
  }
  return [...named];
};
