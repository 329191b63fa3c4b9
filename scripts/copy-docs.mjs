// Copies the pages of the documentation into packages/edgetable/docs, from where npm takes them: errors name `docs/errors.md`.
// What a page links to and the package lacks (READMEs of other packages, files of the repository) is named instead. Pictures
// are left out: they are as large as all pages.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const target = join(root, "packages", "edgetable", "docs");
const nameOf = async (folder) => JSON.parse(await readFile(join(root, "packages", folder, "package.json"), "utf8")).name;
const packages = new Map();
for (const folder of await readdir(join(root, "packages"))) packages.set(folder, await nameOf(folder));

/** The same page for a reader who has the package alone. */
const rewrite = (page) =>
  page
    .replaceAll(/^!\[[^\]]*\]\(pictures\/[^)]*\)\n\n?/gm, "")
    .replaceAll(/\[([^\]]+)\]\(\.\.\/packages\/([\w-]+)[^)]*\)/g, (_, text, folder) => {
      const name = `\`${packages.get(folder)}\``;
      if (text === name) return `${text} (see its README)`;
      return text === `packages/${folder}` ? `README of ${name}` : `${text} (README of ${name})`;
    })
    .replaceAll(/\[([^\]]+)\]\(\.\.\/([^)#]+)[^)]*\)/g, (_, text, path) =>
      text === path ? `\`${path}\` of the repository` : `${text} (\`${path}\` of the repository)`,
    );

await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
// The overview is the site's first page.
const pages = (await readdir(join(root, "docs"))).filter((name) => name.endsWith(".md") && name !== "index.md");
for (const page of pages) await writeFile(join(target, page), rewrite(await readFile(join(root, "docs", page), "utf8")));
