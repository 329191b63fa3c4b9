import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./extract.ts";

const pages = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

const textOf = (path: string): string => readFileSync(join(root, path), "utf8").replaceAll(/^```[^]*?^```/gm, "");

/** The anchors of a page's headings, as the site and GitHub make them. */
const anchorsOf = (path: string): ReadonlySet<string> =>
  new Set(
    [...textOf(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(/\s/g, "-"),
    ),
  );

test.each(pages)("every link of %s leads to a file, and to a heading of it", (page) => {
  const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([link, path = "", anchor]) => {
    const target = path === "" ? page : join(dirname(page), path);
    return { link, target, anchor };
  });
  const broken = links.filter(
    ({ target, anchor }) =>
      !existsSync(join(root, target)) || (anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).has(anchor)),
  );
  expect(broken.map(({ link }) => link)).toEqual([]);
});

test("the overview and the site's sidebar name every page", () => {
  const overview = readFileSync(join(root, "docs/index.md"), "utf8");
  const sidebar = readFileSync(join(root, "site/.vitepress/config.ts"), "utf8");
  const names = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md") && name !== "index.md");
  expect(names.filter((name) => !overview.includes(`(${name})`))).toEqual([]);
  expect(names.filter((name) => !sidebar.includes(`"${name.replace(/\.md$/, "")}"`))).toEqual([]);
});
