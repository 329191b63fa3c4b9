// npm run pictures [folder] [names]: a picture of each view in both themes, on the college's data.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDemo } from "../demo/start.mjs";
import { findChromium, openChromium } from "./chromium.mjs";

/** Waits until the layout's worker has ended. */
const settled = async (page) => {
  await page.locator(".graph-drawing[data-state=settled]").waitFor();
};

/** Follows every way from two more nodes. */
const expanded = async (page) => {
  for (const name of ["Algorithms", "Databases"]) {
    await page.getByRole("list", { name: "Nodes", exact: true }).getByRole("button", { name }).click();
    for (const way of [/teaches ← teacher read/, /enrolledIn ← student read/]) {
      await page.getByRole("button", { name: way }).click();
      await settled(page);
    }
  }
  await page.getByRole("button", { name: "Show everything" }).click();
};

/** Changes two cells, which wait, and begins to change a third. */
const edited = async (page) => {
  const cell = (row, column) => page.locator(`#cell-${row}-${column}`);
  for (const [row, column, text] of [
    [1, 1, "Linear Algebra II"],
    [3, 2, "12"],
  ]) {
    await cell(row, column).dblclick();
    await page.locator(".cell-editor").fill(text);
    await page.keyboard.press("Enter");
  }
  await cell(5, 1).dblclick();
};

/** Makes changes in another page until the view shows some. */
const changed = async (page) => {
  const other = await page.context().newPage();
  await other.goto(new URL("/rows?type=course&sort=byLevel", page.url()).href);
  for (let turn = 20; (await page.locator(".change").count()) < 6; turn++) {
    for (const row of [1, 3]) {
      await other.locator(`#cell-${row}-2`).dblclick();
      await other.locator(".cell-editor").fill(String(turn));
      await other.keyboard.press("Enter");
    }
    await other.keyboard.press("Control+s");
    await other.locator(".pending").waitFor({ state: "detached" });
    await page.waitForTimeout(300);
  }
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText("The table is as the model says.").waitFor();
  await other.close();
};

const run = async (page) => {
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".waterfall").waitFor();
};

/** Name of the picture, address, and what to wait for; `act` prepares what the address alone does not show. */
const pictures = [
  { name: "table", address: "/table", ready: ".cells" },
  {
    name: "item",
    address: "/table?item=%5B%22STUDENT%23S001%22%2C%22enrolledIn%23COURSE%23C101%22%5D&types=student,enrolledIn,note",
    ready: ".panel",
  },
  {
    name: "edge-edit",
    address: "/table?partition=STUDENT%23S001&item=%5B%22STUDENT%23S001%22%2C%22enrolledIn%23COURSE%23C101%22%5D",
    ready: ".field-input",
    act: async (page) => {
      await page.getByLabel("grade").fill("A");
      await page.getByRole("button", { name: "Unlink the two nodes" }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: "marked",
    address: "/table?partition=COURSE%23C301",
    ready: ".cells",
    act: async (page) => {
      const other = await page.context().newPage();
      await other.goto(new URL("/rows?type=course&sort=byLevel", page.url()).href);
      for (let turn = 20; (await page.locator(".cells.marked").count()) === 0; turn++) {
        for (let row = 0; row < 5; row++) {
          await other.locator(`#cell-${row}-2`).dblclick();
          await other.locator(".cell-editor").fill(String(turn + row));
          await other.keyboard.press("Enter");
        }
        await other.keyboard.press("Control+s");
        await other.locator(".pending").waitFor({ state: "detached" });
        await page.waitForTimeout(400);
      }
      await other.close();
    },
  },
  { name: "partition", address: "/table?partition=COURSE%23C301", ready: ".cells" },
  { name: "index", address: "/table?index=reverse", ready: ".cells" },
  {
    name: "shards",
    address: "/table?index=byName",
    ready: ".shards .share",
    act: (page) => page.getByText(/counted by/).waitFor(),
  },
  {
    name: "graph",
    address: "/graph?type=course&id=%7B%22courseId%22%3A%22C301%22%7D",
    ready: ".graph-drawing[data-state=settled]",
    act: expanded,
  },
  {
    name: "path",
    address: "/graph?type=student&id=%7B%22studentId%22%3A%22S001%22%7D&toType=teacher&toId=%7B%22teacherId%22%3A%22T2%22%7D",
    ready: ".path",
    act: settled,
  },
  { name: "whole", address: "/graph?whole=1", ready: ".graph-drawing[data-state=settled]", act: (page) => page.waitForTimeout(500) },
  { name: "start", address: "/graph?type=student", ready: ".starts" },
  { name: "rows", address: "/rows?type=student&sort=byName", ready: ".row-cell" },
  {
    name: "row-edit",
    address: "/rows?type=course&columns=courseId:110,title:240,credits:110,level:130,students:110&row=%7B%22courseId%22%3A%22C301%22%7D",
    ready: ".panel",
    act: edited,
  },
  {
    name: "row-add",
    address: "/rows?type=teacher",
    ready: ".row-cell",
    act: (page) => page.getByRole("button", { name: "Add teacher" }).click(),
  },
  {
    name: "fields",
    address: "/rows?type=project&parent=%7B%22courseId%22%3A%22C201%22%7D&columns=&group=state",
    ready: ".row-cell",
    act: (page) => page.locator(".groups button").first().waitFor(),
  },
  {
    name: "field-add",
    address: "/rows?type=project&parent=%7B%22courseId%22%3A%22C201%22%7D",
    ready: ".row-cell",
    act: async (page) => {
      await page.getByRole("button", { name: "Add field" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("textbox", { name: "Name" }).fill("Reviewer");
      await dialog.getByRole("combobox", { name: "Type" }).selectOption("choice");
      await dialog.getByRole("textbox", { name: /^Choices/ }).fill("Emmy\nEdgar\nBarbara");
    },
  },
  { name: "pattern", address: "/patterns?name=studentsOfCourse", ready: ".plan", act: run },
  { name: "walk", address: "/patterns?name=classmates", ready: ".plan", act: run },
  {
    name: "scratch",
    address: `/patterns?call=${encodeURIComponent('db.student({ studentId: "S001" })\n  .out("enrolledIn")\n  .in("enrolledIn")\n  .nodes({ budget: { requests: 5 } })')}`,
    ready: ".plan",
    act: async (page) => {
      await page.getByRole("button", { name: /^Run/ }).click();
      await page.locator(".waterfall").waitFor();
    },
  },
  {
    name: "scratch-complete",
    address: `/patterns?call=${encodeURIComponent('db.student({ studentId: "S001" }).out("enrolledIn")')}`,
    ready: ".scratch-problem",
    act: async (page) => {
      await page.getByRole("combobox", { name: "Call" }).focus();
      await page.keyboard.press("Control+End");
      await page.getByRole("combobox", { name: "Call" }).pressSequentially(".");
      await page.keyboard.press("ArrowDown");
      await page.locator(".scratch-problem").waitFor();
    },
  },
  { name: "model", address: "/model", ready: ".advice" },
  { name: "live", address: "/live", ready: ".live", act: changed },
  { name: "results", address: "/live?show=results&result=validate.json", ready: ".result tbody" },
  { name: "ranks", address: "/live?show=results&result=page-rank.json", ready: ".result tbody" },
  { name: "palette", address: "/table", ready: ".cells", act: (page) => page.keyboard.press("Control+k") },
];

/** While a migration is under way, and a consumer is behind, of whose records one was not processed. */
const migrating = [
  {
    name: "live-migration",
    address: "/live",
    ready: ".live",
    act: async (page, demo) => {
      const other = await page.context().newPage();
      const change = async (title) => {
        await other.goto(
          new URL(`/patterns?call=${encodeURIComponent(`db.course.update({ courseId: "C302" }, { title: "${title}" })`)}`, page.url()).href,
        );
        await other.getByRole("button", { name: "Run the write" }).click();
        await other.locator(".answer-json").getByText('"ok": true').waitFor();
      };
      await change("Untitled");
      await demo.consume("catalogue");
      await page.getByText("A course without a title cannot be printed.").first().waitFor();
      await change("Graphs");
      await page.getByText(/\d+ seconds? behind/).waitFor();
      await other.close();
    },
  },
];

const call = encodeURIComponent('db.student({ studentId: "S001" }).get()');

/** After the engine has stopped: every view says what it could not read. */
const stopped = [
  { name: "stopped-table", address: "/table", ready: ".notice.alert" },
  { name: "stopped-item", address: "/table?item=%5B%22STUDENT%23S001%22%2C%22%23%22%5D", ready: ".panel .notice.alert" },
  { name: "stopped-shards", address: "/table?index=byName", ready: ".notice.alert" },
  { name: "stopped-graph", address: "/graph?type=course&id=%7B%22courseId%22%3A%22C301%22%7D", ready: ".notice.alert" },
  { name: "stopped-rows", address: "/rows?type=student", ready: ".notice.alert" },
  { name: "stopped-fields", address: "/rows?type=project&parent=%7B%22courseId%22%3A%22C201%22%7D", ready: ".notice.alert" },
  {
    name: "stopped-scratch",
    address: `/patterns?call=${call}`,
    ready: ".plan",
    act: async (page) => {
      await page.getByRole("button", { name: /^Run/ }).click();
      await page.locator(".notice.alert").waitFor();
    },
  },
  { name: "stopped-model", address: "/model", ready: ".notice.alert" },
  { name: "stopped-live", address: "/live", ready: ".notice.alert" },
];

/** The pictures of each demo, one demo after the other. */
const sets = [
  { options: { writes: true, projects: true, results: true }, pictures },
  { options: { writes: true, migrates: true }, pictures: migrating },
  { options: { projects: true }, pictures: stopped, prepare: (demo) => demo.stopEngine() },
];

/** Pixels of the pictures: `EDGETABLE_STUDIO_SIZE=1024x700`. */
const [width = 1440, height = 900] = (process.env.EDGETABLE_STUDIO_SIZE ?? "1440x900").split("x").map(Number);
const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "edgetable-pictures-"));
const executable = findChromium();
if (!executable) throw new Error("There is no Chromium. Install Debian's package chromium, or set EDGETABLE_CHROMIUM.");
const isWanted = ({ name }) => new RegExp(process.argv[3] ?? "").test(name);

/** Takes the pictures of one demo in one theme. */
const take = async (browser, demo, { theme, wanted, isStopped }) => {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
  const page = await context.newPage();
  page.on("pageerror", (error) => console.error(error));
  page.on("console", (message) => message.type() === "error" && !isStopped && console.error(message.text()));
  await page.goto(demo.link);
  for (const { name, address, ready, act } of wanted) {
    await page.goto(new URL(address, demo.link).href);
    await page.locator(ready).first().waitFor();
    await act?.(page, demo);
    // What watches the stream always waits for an answer: these views are ready when their parts are.
    if (isStopped || /\/(live|table|graph)/.test(page.url())) await page.waitForTimeout(400);
    else await page.waitForLoadState("networkidle");
    await page.screenshot({ path: join(folder, `${name}-${theme}.png`) });
  }
  await context.close();
};

const browser = await openChromium(executable);
try {
  for (const { options, pictures: all, prepare } of sets) {
    const wanted = all.filter(isWanted);
    if (wanted.length === 0) continue;
    const demo = await startDemo(120, options);
    try {
      await prepare?.(demo);
      for (const theme of ["light", "dark"]) await take(browser, demo, { theme, wanted, isStopped: prepare !== undefined });
    } finally {
      await demo.stop();
    }
  }
  console.log(folder);
} finally {
  await browser.close();
}
