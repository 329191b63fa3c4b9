import { deepEqual, equal, match, ok } from "node:assert/strict";
import { readFile } from "node:fs/promises";

/** The browser logs a value that was refused. */
const isNoRefusal = (problem) => !problem.includes("status of 400");

/** Every check: its name, what it does with a page, how many students the table holds, and whether the studio may write. */
export const checks = [
  {
    name: "the link opens the table, the token leaves the address, and nothing comes from another host",
    run: async ({ demo, openPage }) => {
      const { page, problems, hosts } = await openPage();
      await page.locator(".cells").first().waitFor();
      equal(new URL(page.url()).search, "");
      equal(await page.title(), "Table · College · Edgetable Studio");
      // What is stored is text, whatever it looks like.
      await page.goto(new URL("/table?types=note", demo.link).href);
      await page.getByText("<img src=x onerror=alert(1)>").first().waitFor();
      equal(await page.locator("main img").count(), 0);
      deepEqual([...hosts], [new URL(demo.link).host]);
      deepEqual(problems, []);
    },
  },
  {
    name: "the table: items by partition, scrolled to the end in pages",
    students: 400,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/table");
      const grid = page.getByRole("grid");
      await grid.locator(".cells").first().waitFor();
      const first = grid.getByRole("row").nth(1);
      match(await first.innerText(), /COURSE#C101[\s\S]*4 items[\s\S]*course[\s\S]*Linear Algebra/);
      await grid.focus();
      // Each End goes to the last row that was read, which reads the next page.
      const heading = page.locator(".heading [aria-live]");
      while (!/ [\d,]+ items/.test(await heading.innerText())) {
        const before = await heading.innerText();
        await page.keyboard.press("End");
        await page.waitForFunction((text) => document.querySelector(".heading [aria-live]")?.innerText !== text, before);
      }
      await page.keyboard.press("End");
      await page.locator(".cells.active").waitFor();
      const total = Number(/([\d,]+) items/.exec(await heading.innerText())?.[1]?.replaceAll(",", ""));
      ok(total > 2500, `${total} items`);
      equal(await grid.getAttribute("aria-rowcount"), String(total + 1));
      ok((await page.locator(".cells").count()) < 80, "only rows in view are in the document");
      deepEqual(problems, []);
    },
  },
  {
    name: "the table: jump from a key to the partition that it names, and back",
    run: async ({ openPage }) => {
      const { page, open } = await openPage();
      await open("/table?types=enrolledIn");
      await page.getByRole("link", { name: "Go to the partition of to: COURSE#C101" }).first().click();
      await page.getByRole("heading", { name: "College/COURSE#C101" }).waitFor();
      match(page.url(), /partition=COURSE%23C101$/);
      await page.goBack();
      await page.getByRole("heading", { name: "College", exact: true }).waitFor();
      match(page.url(), /types=enrolledIn$/);
      await page.getByRole("button", { name: "student", exact: true }).click();
      await page.locator(".cell.sort", { hasText: "student" }).first().waitFor();
      match(page.url(), /types=enrolledIn%2Cstudent$/);
    },
  },
  {
    name: "the table by keyboard alone: an item, its panel, an index through the palette",
    run: async ({ openPage }) => {
      const { page, open } = await openPage();
      await open("/table?partition=STUDENT%23S001");
      await page.locator(".cells").first().waitFor();
      const grid = page.getByRole("grid");
      for (let presses = 0; presses < 60; presses++) {
        if (await grid.evaluate((element) => element === document.activeElement)) break;
        await page.keyboard.press("Tab");
      }
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      const panel = page.getByRole("complementary", { name: "Item" });
      await panel.getByText("enrolledIn").first().waitFor();
      match(page.url(), /item=/);
      // The address alone restores the view.
      await page.reload();
      await panel.getByText("COURSE#C101").first().waitFor();
      await grid.focus();
      await page.keyboard.press("Escape");
      await panel.waitFor({ state: "detached" });
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("byname");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "byName" }).waitFor();
      match(page.url(), /index=byName$/);
    },
  },
  {
    name: "rows: sorted where an index can, filtered, columns moved, hidden and resized; the address restores it",
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/rows?type=student");
      const cell = (row, column) => page.locator(`#cell-${row}-${column}`);
      const heads = () => page.getByRole("columnheader").allInnerTexts();
      await cell(0, 0).waitFor();
      deepEqual(
        (await heads()).map((text) => text.split("\n")[0]),
        ["studentId", "name", "email", "year", "tags"],
      );
      await page.getByRole("columnheader", { name: /^name/ }).getByRole("button").click();
      await page.getByText("by name, with the index byName").waitFor();
      await page.waitForFunction(() => document.querySelector("#cell-0-1")?.innerText === "Ada Dijkstra");
      await page.getByRole("columnheader", { name: /^name/ }).getByRole("button").click();
      await page.waitForFunction(() => document.querySelector("#cell-0-1")?.innerText.startsWith("Tim"));
      equal(await page.getByRole("columnheader", { name: /^name/ }).getAttribute("aria-sort"), "descending");
      await page.getByLabel("Filter year").fill(">=4");
      await page.getByText(/^30 rows/).waitFor();
      // By keyboard: the name before the id, and wider.
      await page.getByRole("columnheader", { name: /^name/ }).getByRole("button").focus();
      await page.keyboard.press("Alt+ArrowLeft");
      await page.getByRole("columnheader", { name: /^name/ }).getByRole("button").focus();
      await page.keyboard.press("Shift+ArrowRight");
      await page.getByText("Columns", { exact: true }).click();
      await page.getByLabel("email", { exact: true }).uncheck();
      await page.reload();
      await cell(0, 0).waitFor();
      deepEqual(
        (await heads()).map((text) => text.split("\n")[0]),
        ["name", "studentId", "year", "tags"],
      );
      await page.getByText(/^30 rows/).waitFor();
      match(await cell(0, 0).innerText(), /^Tim/);
      // Without --write, nothing can be edited.
      await cell(0, 2).dblclick();
      equal(await page.locator(".cell-editor").count(), 0);
      equal(await page.getByRole("button", { name: "Add student" }).count(), 0);
      deepEqual(problems, []);
    },
  },
  {
    name: "rows by keyboard alone: edited, undone and saved; another's change is not overwritten; a set stays a set",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      const { page: other, open: openOther } = await openPage();
      await open("/rows?type=student&sort=byName");
      await openOther("/rows?type=student&sort=byName");
      const cell = (row, column, of = page) => of.locator(`#cell-${row}-${column}`);
      const write = async (of, text) => {
        await of.keyboard.press("Enter");
        await of.locator(".cell-editor").fill(text);
        await of.keyboard.press("Enter");
      };
      const at = async (of, down, right) => {
        await cell(0, 0, of).waitFor();
        await of.getByRole("grid").focus();
        await of.keyboard.press("Control+Home");
        for (let steps = 0; steps < down; steps++) await of.keyboard.press("ArrowDown");
        for (let steps = 0; steps < right; steps++) await of.keyboard.press("ArrowRight");
      };
      await at(page, 0, 3);
      await write(page, "7");
      await write(page, "8");
      await at(page, 1, 4);
      await write(page, "new, old");
      await page.getByText("3 changes in 2 rows").waitFor();
      await page.keyboard.press("Control+z");
      await page.getByText("2 changes in 2 rows").waitFor();
      await write(page, "old, new");
      await page.keyboard.press("Control+s");
      await page.locator(".pending").waitFor({ state: "detached" });
      equal(await cell(0, 3).innerText(), "7");
      await page.reload();
      await cell(0, 0).waitFor();
      deepEqual([await cell(0, 3).innerText(), await cell(1, 3).innerText()], ["7", "8"]);
      // The other page still has what was there before.
      await at(other, 0, 3);
      await write(other, "9");
      await other.keyboard.press("Control+s");
      await other.getByText("Somebody changed it meanwhile.").waitFor();
      await other.keyboard.press("Control+z");
      await other.getByRole("button", { name: "Discard" }).click();
      equal(await cell(0, 3, other).innerText(), "7");
      // What the model refuses says why, and waits on.
      await at(page, 0, 3);
      await write(page, "seven");
      await page.keyboard.press("Control+s");
      await page.getByText('"seven" is not a number').waitFor();
      await page.getByRole("button", { name: "Discard" }).click();
      // Enter moved down: it is the third row that has the tags, and as a set.
      await open("/table?partition=STUDENT%23S081");
      await page.locator(".cells").first().click();
      await page.getByText("As DynamoDB’s JSON").click();
      await page.locator("pre", { hasText: '"SS"' }).waitFor();
      deepEqual(problems.filter(isNoRefusal), []);
    },
  },
  {
    name: "rows: added, linked by search, deleted; CSV out and in again",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/rows?type=teacher&sort=byName");
      await page.getByRole("button", { name: "Add teacher" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("teacherId").fill("T9");
      await dialog.getByLabel("name").fill("Aaron");
      await page.keyboard.press("Enter");
      await page.getByText(/^7 rows/).waitFor();
      await page.locator("#cell-0-1", { hasText: "Aaron" }).click();
      await page.keyboard.press("Control+Enter");
      const panel = page.getByRole("complementary", { name: "Row" });
      await panel.getByLabel("Search course by").selectOption("title");
      await panel.getByLabel("Search course", { exact: true }).fill("graph");
      await panel.getByRole("button", { name: /Graph Theory/ }).click();
      await panel.getByLabel("since").fill("2024");
      await panel.getByRole("button", { name: "Link" }).click();
      await panel.getByText("Linked to C302 · Graph Theory.").waitFor();
      await open("/table?partition=TEACHER%23T9");
      await page.getByRole("link", { name: "Go to the partition of to: COURSE#C302" }).waitFor();
      await open("/rows?type=teacher&sort=byName");
      await page.locator("#cell-0-0").waitFor();
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export CSV" }).click()]);
      const csv = await readFile(await download.path(), "utf8");
      match(csv, /^teacherId,name,office\r\nT9,Aaron,\r\n/);
      const changed = csv.replace("T9,Aaron,", 'T9,Aaron,"B 1, left"').replace(/^T1,.*$/m, "T1,,");
      await page.locator("input[type=file]").setInputFiles({ name: "teachers.csv", mimeType: "text/csv", buffer: Buffer.from(changed) });
      await page.getByRole("dialog").getByRole("button", { name: "Import" }).click();
      await page.getByText("6 rows written").waitFor();
      await page.getByText(/^Line \d: .*name/).waitFor();
      await page.getByRole("button", { name: "Close", exact: true }).click();
      await page.locator("#cell-0-2", { hasText: "B 1, left" }).click();
      await page.keyboard.press("Control+Enter");
      await panel.getByRole("button", { name: "Delete this teacher" }).click();
      await dialog.getByRole("button", { name: "Delete" }).click();
      await page.locator("#cell-0-1", { hasText: "Barbara" }).waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "fields of users: added, filled by keyboard, sorted, filtered, grouped, renamed, retyped and deleted",
    writes: true,
    projects: true,
    run: async ({ openPage }) => {
      const { page, open, audit, problems } = await openPage();
      await open("/rows?type=project");
      await page.getByLabel("Grid of a course").selectOption({ label: "C201 · Algorithms" });
      await page.getByText("42 rows · 6 fields").waitFor();
      match(page.url(), /parent=%7B%22courseId%22%3A%22C201%22%7D/);
      const heads = async () => (await page.getByRole("columnheader").allInnerTexts()).map((text) => text.replaceAll(/[^A-Za-z]/g, ""));
      deepEqual(await heads(), ["projectId", "num", "title", "state", "Topic", "Due", "Points", "Passed", "Methods", "Remarks"]);
      // A new field, and a value in its first cell, by keyboard alone.
      await page.getByRole("button", { name: "Add field" }).focus();
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog");
      const field = (name) => dialog.getByRole("textbox", { name });
      await page.keyboard.type("Pages");
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
      await page.getByText("42 rows · 7 fields").waitFor();
      const cell = (row, column) => page.locator(`#cell-${row}-${column}`);
      await page.getByRole("grid").focus();
      await page.keyboard.press("Control+Home");
      await page.keyboard.press("End");
      for (const text of ["12", "many", "7"]) {
        await page.keyboard.press("Enter");
        await page.locator(".cell-editor").fill(text);
        await page.keyboard.press("Enter");
      }
      await page.keyboard.press("Control+s");
      await page.locator(".pending").waitFor({ state: "detached" });
      await page.reload();
      await cell(1, 10).getByText("many").waitFor();
      // To a number: what would be lost is said first.
      const change = async (name) => {
        await page.getByRole("button", { name: `Change the field ${name}` }).click();
        await dialog.waitFor();
      };
      await change("Pages");
      await field("Name").fill("Length");
      await dialog.getByRole("combobox", { name: "Type" }).selectOption("number");
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.getByText('1 of 3 values cannot become number: "many"').waitFor();
      await dialog.getByRole("button", { name: "Change and remove them" }).click();
      await dialog.waitFor({ state: "detached" });
      await page.waitForFunction(() => document.querySelector("#cell-2-10")?.classList.contains("number"));
      deepEqual([await cell(0, 10).innerText(), await cell(1, 10).innerText(), await cell(2, 10).innerText()], ["12", "", "7"]);
      // Sorted by it: rows without a value come last. Filtered by another one, and grouped.
      await page
        .getByRole("columnheader", { name: /Length/ })
        .getByRole("button")
        .first()
        .click();
      await page.waitForFunction(() => document.querySelector("#cell-0-10")?.innerText === "7");
      await page.getByLabel("Filter Points").fill(">=90");
      await page.getByText(/^\d rows/).waitFor();
      await page.getByLabel("Group by").selectOption({ label: "by Topic" });
      await page
        .getByRole("list", { name: "Groups by Topic" })
        .getByRole("button", { name: /^theory/ })
        .click();
      await page.waitForFunction(() => [...document.querySelectorAll(".tag.type-0")].length > 0);
      equal(await page.getByLabel("Filter Topic").inputValue(), "=theory");
      deepEqual(await audit(), []);
      await page.reload();
      await cell(0, 4).getByText("theory").waitFor();
      equal(await page.getByLabel("Filter Points").inputValue(), ">=90");
      // A choice is chosen from its list.
      await page.getByLabel("Filter Topic").fill("");
      await page.getByLabel("Filter Points").fill("");
      await page.getByText("42 rows").waitFor();
      await cell(0, 4).dblclick();
      await page.locator("select.cell-editor").selectOption("systems");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Control+s");
      await page.locator(".pending").waitFor({ state: "detached" });
      await cell(0, 4).getByText("systems").waitFor();
      await change("Length");
      await dialog.getByRole("button", { name: "Delete the field and its values" }).click();
      await page.getByText("42 rows · 6 fields").waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "the table: a node is changed in its panel, and only what was changed is written",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/table?partition=COURSE%23C301");
      await page.locator(".cells").first().click();
      const form = page.getByRole("region", { name: "Change" });
      await form.getByLabel("credits").fill("many");
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByText('"many" is not a number').waitFor();
      await form.getByLabel("credits").fill("11");
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByText("Saved.").waitFor();
      await page.locator(".cells").first().getByText("11", { exact: true }).waitFor();
      deepEqual(problems.filter(isNoRefusal), []);
    },
  },
  {
    name: "a pattern: planned, run with other values, copied, and restored from its address",
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/patterns");
      await page.getByRole("link", { name: /coursesOfStudent/ }).click();
      await page.getByRole("heading", { name: "Which courses does a student take, and with which grade?" }).waitFor();
      const plan = page.getByRole("region", { name: "Plan" });
      await plan.getByText('pk = "STUDENT#S001"').waitFor();
      await page.getByLabel("studentId").fill("S002");
      await page.keyboard.press("Enter");
      await page.getByRole("cell", { name: "Linear Algebra" }).waitFor();
      // The first read of a connection also reads the model's record; the second run is what a program sees.
      await page.getByRole("button", { name: "Run" }).click();
      await page.waitForFunction(() => document.querySelectorAll(".waterfall li").length === 2);
      match(await page.locator(".figures").innerText(), /Requests\s+2\s+predicted 2/);
      await page.getByRole("button", { name: "Copy as AWS CLI" }).click();
      const command = await page.evaluate(() => navigator.clipboard.readText());
      match(command, /^aws dynamodb query --endpoint-url http:.* --cli-input-json '\{"TableName":"College"/);
      await page.getByRole("button", { name: "Copy as TypeScript" }).click();
      match(await page.evaluate(() => navigator.clipboard.readText()), /await ask\(db, \{"studentId":"S002"\}\)\.report\(\)/);
      await page.reload();
      await plan.getByText('pk = "STUDENT#S002"').waitFor();
      equal(await page.getByLabel("studentId").inputValue(), "S002");
      deepEqual(problems, []);
    },
  },
  {
    name: "the graph: from a node along its edges, a page of a supernode at a time, filtered by type",
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/graph?type=course");
      await page.getByRole("link", { name: /C101 Linear Algebra/ }).click();
      const settled = page.locator(".graph-drawing[data-state=settled]");
      await settled.waitFor();
      const panel = page.getByRole("complementary", { name: "Graph" });
      // 120 students take it: a page of 40 is drawn.
      const supernode = panel.getByRole("button", { name: /enrolledIn ← student 40\+ read more/ });
      await supernode.click();
      await panel.getByRole("button", { name: /enrolledIn ← student 80\+ read more/ }).waitFor();
      await settled.waitFor();
      await panel.getByRole("list", { name: "Nodes" }).getByRole("button", { name: "Ada Lovelace" }).click();
      await panel.getByRole("region", { name: "Selected node" }).getByText("ada.lovelace@college.example").waitFor();
      await panel.getByRole("button", { name: /enrolledIn → course read/ }).click();
      await panel.getByRole("button", { name: /enrolledIn → course 4 all read/ }).waitFor();
      await settled.waitFor();
      match(await page.getByRole("img", { name: /Drawing of/ }).getAttribute("aria-label"), /of 8\d nodes and 8\d edges/);
      const box = await page.locator("canvas.graph-canvas").boundingBox();
      ok(box && box.width > 500, "the picture is drawn");
      await panel.getByRole("button", { name: /^student 80$/ }).click();
      equal(await panel.getByRole("list", { name: "Nodes" }).getByRole("button", { name: "Ada Lovelace" }).count(), 0);
      await panel.getByRole("link", { name: "Its partition" }).click();
      await page.getByRole("heading", { name: "College/STUDENT#S001" }).waitFor();
      await page.goBack();
      await page.getByRole("heading", { name: "course/Linear Algebra" }).waitFor();
      await open("/graph?type=course&id=%7B%22courseId%22%3A%22none%22%7D");
      await page.getByRole("alert").getByText("There is no course with the id").waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "the model: its diagram, its keys in every index, and the advice of check",
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/model");
      await page.getByRole("img", { name: /student enrolledIn course; teacher teaches course/ }).waitFor();
      await page.getByRole("row", { name: /^enrolledIn .*at#STUDENT#from.studentId/ }).waitFor();
      await page.getByText("hotIndexPartition · throughput").first().waitFor();
      await page.getByText("The table follows this model: there is nothing to migrate.").waitFor();
      await page.getByRole("link", { name: "byLevel" }).last().click();
      await page.getByRole("heading", { name: "byLevel" }).waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "live: changes as they happen, the jobs, and a verification",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      const { page: other, open: openOther } = await openPage();
      await open("/live");
      await page.getByText("Nothing has changed since you opened this view.").waitFor();
      await openOther("/table?partition=COURSE%23C302");
      await other.locator(".cells").first().click();
      const form = other.getByRole("region", { name: "Change" });
      // Nobody tells when the watch has begun: the credits change until it sees one.
      const feed = page.getByRole("list", { name: "Changes, the newest first" });
      for (let credits = 20; (await feed.count()) === 0; credits++) {
        await form.getByLabel("credits").fill(String(credits));
        await form.getByRole("button", { name: "Save" }).click();
        await form.getByText("Saved.").waitFor();
        await other.waitForTimeout(200);
      }
      await form.getByLabel("title").fill("Graphs");
      await form.getByRole("button", { name: "Save" }).click();
      const newest = feed.getByRole("listitem").first();
      await newest.getByText("Graphs").waitFor();
      match(await newest.innerText(), /changed\s+course\s+COURSE#C302[\s\S]*title\s+Graph Theory → Graphs/);
      await page.getByRole("button", { name: "Verify" }).click();
      await page.getByText("The table is as the model says.").waitFor();
      await page.getByRole("region", { name: "Dead letters" }).getByText("None").waitFor();
      await newest.getByRole("link", { name: /COURSE#C302/ }).click();
      await page.getByRole("heading", { name: "College/COURSE#C302" }).waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "what is empty or fails says so, with what to do",
    run: async ({ demo, openPage }) => {
      const { page, open } = await openPage();
      await open("/table?partition=STUDENT%23nobody");
      await page.getByText("This partition has no items.").waitFor();
      await open("/table?index=none");
      await page.getByText("There is no index").waitFor();
      await open("/table?partition=COURSE%23C101");
      await page.locator(".cells").first().waitFor();
      await demo.stopEngine();
      await page.reload();
      await page.getByRole("alert").getByText("This could not be read.").waitFor();
      await page.getByRole("button", { name: "Try again" }).waitFor();
    },
  },
  {
    name: "axe finds nothing serious in any view, light and dark",
    writes: true,
    run: async ({ openPage }) => {
      for (const theme of ["light", "dark"]) {
        const { open, audit, page, close } = await openPage(theme);
        for (const [address, ready] of addresses) {
          await open(address);
          await page.locator(ready).first().waitFor();
          deepEqual(await audit(), [], `${address}, ${theme}`);
        }
        await page.keyboard.press("Control+k");
        await page.getByRole("dialog").waitFor();
        deepEqual(await audit(), [], `the palette, ${theme}`);
        await close();
      }
    },
  },
];

/** Each view with what shows that it is ready. */
const addresses = [
  ["/table", ".cells"],
  ["/table?partition=STUDENT%23S001&item=%5B%22STUDENT%23S001%22%2C%22NOTE%23001%22%5D", ".panel"],
  ["/table?index=reverse", ".cells"],
  ["/rows?type=student&sort=byName", ".row-cell"],
  ["/rows?type=course&row=%7B%22courseId%22%3A%22C301%22%7D", ".node-search li button"],
  ["/graph?type=student", ".starts"],
  ["/graph?type=course&id=%7B%22courseId%22%3A%22C301%22%7D", ".graph-drawing[data-state=settled]"],
  ["/patterns?name=classmates", ".plan"],
  ["/model", ".advice"],
  ["/live", ".live .notice"],
];
