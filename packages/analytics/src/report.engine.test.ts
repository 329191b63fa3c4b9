import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { writeReport } from "./index.ts";
import { networkLake } from "./test-support/network-lake.ts";

const open = async (page: string) => {
  const html = await readFile(page, "utf8");
  const { document } = parseHTML(html);
  const rowsUnder = (caption: string): readonly (readonly string[])[] => {
    const table = [...document.querySelectorAll("table")].find((one) => one.querySelector("caption")?.textContent === caption);
    return [...(table?.querySelectorAll("tbody tr") ?? [])].map((row) =>
      [...row.querySelectorAll("td")].map((cell) => (cell.textContent ?? "").trim()),
    );
  };
  const cards = Object.fromEntries(
    [...document.querySelectorAll(".cards div")].map((card) => [
      card.querySelector("dt")?.textContent ?? "",
      [...card.querySelectorAll("dd")].map((one) => (one.textContent ?? "").trim()),
    ]),
  );
  return { html, document, rowsUnder, cards };
};

const nasty = `<script>alert("x")</script> & 'more'`;

test("a report shows degrees, components and top nodes, and what changed since the one before", async () => {
  // a has three edges that reach it; d and e are a component of their own.
  const links = [
    ["b", "a"],
    ["c", "a"],
    [nasty, "a"],
    ["d", "e"],
  ] as const;
  const before = await networkLake(["a", "b", "c", "d", "e", "alone", nasty], links);
  const into = join(before.lake.folder, "..", "..", `report-${process.pid}`);
  try {
    const first = await writeReport(before.lake, { into });
    expect(first).toMatchObject({
      numbers: { nodes: 7, edges: 4, parts: 0, linked: 6, components: 2, largest: 4 },
      comparedWith: undefined,
    });
    const page = await open(first.page);
    expect(page.cards).toMatchObject({ nodes: ["7", ""], edges: ["4", ""], components: ["2", ""], "in the largest": ["67 %", "4 nodes"] });
    expect(page.rowsUnder("By PageRank, 20 rounds")[0]).toEqual(["1", "page:a", expect.stringMatching(/^0\.\d+$/), "3"]);
    expect(page.rowsUnder("Nodes by their number of edges")).toEqual([
      ["1", "1", "4"],
      ["3", "1", "0"],
    ]);
    expect(page.rowsUnder("Rows of each table of the lake")).toEqual([
      ["page", "node", "7"],
      ["links_to", "edge", "4"],
    ]);
    expect(page.html).toContain("This is the first report in its folder");
    // Whatever the table holds is text: no script, and nothing that is loaded.
    expect(page.document.querySelectorAll("script, img, link, iframe, object").length).toBe(0);
    expect(page.html).not.toMatch(/(?:src|href)=|url\(|@import/);
    expect(page.html).toContain("default-src 'none'");
    expect(page.document.querySelectorAll("svg[role=img][aria-label]").length).toBe(2);
  } finally {
    await before.close();
  }
  const after = await networkLake(["a", "b", "c", "d", "e"], [...links.slice(0, 2), ["d", "a"], ["e", "a"], ["e", "b"]]);
  try {
    const second = await writeReport(after.lake, { into, top: 3 });
    expect(second.comparedWith).toMatch(/^\d{4}-/);
    const page = await open(second.page);
    expect(page.cards).toMatchObject({ nodes: ["5", "−2"], edges: ["5", "+1"], components: ["1", "−1"] });
    expect(page.html).toContain("0 nodes with edges came, 1 went, and 3 have another number of edges");
    expect(page.rowsUnder("The largest changes")).toEqual([
      [expect.stringContaining("script") as string, "1", "0", "−1"],
      ["page:a", "3", "4", "+1"],
      ["page:b", "1", "2", "+1"],
    ]);
    expect(page.rowsUnder("By PageRank, 20 rounds")).toHaveLength(3);
    // Other edges are another report: there is nothing to compare.
    expect((await writeReport(after.lake, { into, edges: ["linksTo"] })).comparedWith).toBeUndefined();
    expect((await readdir(into)).toSorted()).toEqual(["index.html", "nodes.parquet", "summary.json"]);
    await expect(writeReport(after.lake, { into, edges: ["linkTo"] })).rejects.toMatchObject({ code: "analytics.lake" });
    await expect(writeReport(after.lake, { into, top: 0 })).rejects.toMatchObject({ code: "plan.invalidOption" });
    const stopped = AbortSignal.abort();
    await expect(writeReport(after.lake, { into, signal: stopped })).rejects.toMatchObject({ code: "execute.aborted" });
  } finally {
    await after.close();
    await rm(into, { recursive: true, force: true });
  }
});

test("a lake without an edge has a report too, and files that somebody changed are no run before", async () => {
  const { lake, close } = await networkLake(["a"], []);
  const into = join(lake.folder, "..", "report");
  try {
    const { page, numbers } = await writeReport(lake, { into });
    expect(numbers).toMatchObject({ nodes: 1, edges: 0, linked: 0, components: 0 });
    expect((await open(page)).html).toContain("has an edge, so there are no degrees");
    expect((await writeReport(lake, { into })).comparedWith).toMatch(/^\d{4}-/);
    await writeFile(join(into, "summary.json"), "{");
    expect((await writeReport(lake, { into })).comparedWith).toBeUndefined();
  } finally {
    await close();
  }
});
