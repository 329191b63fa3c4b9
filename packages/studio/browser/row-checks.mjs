import { deepEqual, equal, match } from "node:assert/strict";
import { readFile } from "node:fs/promises";

/** The browser logs a value that was refused. */
const isNoRefusal = (problem) => !problem.includes("status of 400");

/** The checks of Rows, in the form of those in `checks.mjs`. */
export const rowChecks = [
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
      // What was refused can still be taken back.
      await other.keyboard.press("Control+z");
      await other.locator(".pending").waitFor({ state: "detached" });
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
    name: "fields of users: added, filled by keyboard, sorted, filtered, grouped, renamed and retyped",
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
      await dialog.getByText('1 of 3 values does not convert to “Number”: "many"').waitFor();
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
      // A column is moved for everybody, and not in this address alone.
      await change("Length");
      await dialog.getByLabel("Place").selectOption({ label: "1, first" });
      await dialog.getByRole("button", { name: "Save" }).click();
      await page.getByRole("columnheader").nth(4).getByText("Length").waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "a field of users is deleted with its values after a question",
    writes: true,
    projects: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/rows?type=project&parent=%7B%22courseId%22%3A%22C201%22%7D");
      await page.getByText("42 rows · 6 fields").waitFor();
      const dialog = page.getByRole("dialog");
      const ask = async () => {
        await page.getByRole("button", { name: "Change the field Points" }).press("Enter");
        await dialog.getByRole("button", { name: "Delete the field and its values" }).press("Enter");
        await dialog.getByText("It cannot be undone.").waitFor();
      };
      await ask();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await page.getByText("42 rows · 6 fields").waitFor();
      await ask();
      await dialog.getByRole("button", { name: "Delete", exact: true }).press("Enter");
      await page.getByText("42 rows · 5 fields").waitFor();
      equal(await page.getByRole("columnheader", { name: /Points/ }).count(), 0);
      deepEqual(problems, []);
    },
  },
  {
    name: "a field that is given another place has it in another browser, too",
    writes: true,
    projects: true,
    run: async ({ openPage }) => {
      const grid = "/rows?type=project&parent=%7B%22courseId%22%3A%22C201%22%7D";
      const { page, open, problems } = await openPage();
      await open(grid);
      await page.getByRole("columnheader").nth(4).getByText("Topic").waitFor();
      await page.getByRole("button", { name: "Change the field Points" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Place").selectOption({ label: "1, first" });
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.waitFor({ state: "detached" });
      const { page: colleague, open: openColleague } = await openPage();
      await openColleague(grid);
      await colleague.getByRole("columnheader").nth(4).getByText("Points").waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "rows: what waits survives another view, Ctrl S in a cell saves it, and the active cell stays in view sideways",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/rows?type=teacher&sort=byName");
      const cell = (row, column) => page.locator(`#cell-${row}-${column}`);
      await cell(0, 1).dblclick();
      await page.locator(".cell-editor").fill("Aaron");
      await page.keyboard.press("Enter");
      for (const view of ["Graph", "Table"]) await page.getByRole("link", { name: view, exact: true }).click();
      await page.getByRole("link", { name: "Rows", exact: true }).click();
      await page.getByRole("link", { name: "teacher", exact: true }).click();
      await page.getByText("1 change in 1 row").waitFor();
      await page.getByRole("button", { name: "Discard" }).click();
      await cell(0, 1).dblclick();
      await page.locator(".cell-editor").fill("Zoe");
      await page.keyboard.press("Control+s");
      await page.locator(".pending").waitFor({ state: "detached" });
      await page.locator(".cell-editor").waitFor({ state: "detached" });
      equal(await cell(0, 1).innerText(), "Zoe");
      await page.reload();
      await page.getByText("Zoe").waitFor();
      await open("/rows?type=student");
      await page.setViewportSize({ width: 700, height: 700 });
      await cell(0, 0).waitFor();
      await page.getByRole("grid").focus();
      for (const key of ["End", "Home"]) {
        await page.keyboard.press(key);
        const isShown = await page.evaluate(() => {
          const grid = document.querySelector(".grid.rows").getBoundingClientRect();
          const active = document.querySelector(".row-cell.active").getBoundingClientRect();
          return active.left >= grid.left - 1 && active.right <= grid.right + 1;
        });
        equal(isShown, true, key);
      }
      deepEqual(problems, []);
    },
  },
  {
    name: "rows: what waits is compared with what was seen when it was written, cell by cell",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/rows?type=teacher&sort=byName");
      const cell = (column) => page.locator(`#cell-0-${column}`);
      const write = async (column, text) => {
        await cell(column).dblclick();
        await page.locator(".cell-editor").fill(text);
        await page.keyboard.press("Enter");
      };
      const [teacherId, office] = [await cell(0).innerText(), await cell(2).innerText()];
      await write(1, "Aaron");
      await page.getByRole("link", { name: "Graph", exact: true }).click();
      await cell(2).waitFor({ state: "detached" });
      // Somebody else changes another cell, which is seen before it is changed again.
      const changed = await page.evaluate(
        async (body) => (await fetch("/api/rows/change", { method: "POST", headers: { "content-type": "application/json" }, body })).json(),
        JSON.stringify({
          type: "teacher",
          id: { teacherId },
          set: { office: { text: "elsewhere" } },
          was: office === "" ? {} : { office },
        }),
      );
      equal(changed.ok, true);
      await page.goBack();
      await cell(2).getByText("elsewhere", { exact: true }).waitFor();
      await write(2, "here");
      await page.getByText("2 changes in 1 row").waitFor();
      await page.keyboard.press("Control+s");
      await page.locator(".pending").waitFor({ state: "detached" });
      deepEqual([await cell(1).innerText(), await cell(2).innerText()], ["Aaron", "here"]);
      deepEqual(problems, []);
    },
  },
  {
    name: "what is typed in a cell waits for its row, also if the list is read anew meanwhile, or the view is left",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/rows?type=course");
      await page.getByRole("link", { name: "teacher", exact: true }).click();
      await page.getByRole("columnheader", { name: /^name/ }).getByRole("button").click();
      await page.getByText("by name, with the index byName").waitFor();
      const cell = (row, column) => page.locator(`#cell-${row}-${column}`);
      await cell(0, 0).waitFor();
      // Another teacher comes first in the list, which is read anew only once a cell is edited.
      let release;
      const held = new Promise((resolve) => (release = resolve));
      await page.route("**/api/rows?*", async (route) => {
        await held;
        await route.continue();
      });
      await page.getByRole("button", { name: "Add teacher" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("teacherId").fill("T9");
      await dialog.getByLabel("name").fill("Aaron");
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
      const id = await cell(1, 0).innerText();
      await cell(1, 2).dblclick();
      await page.locator(".cell-editor").fill("typed");
      release();
      await cell(2, 0).getByText(id, { exact: true }).waitFor();
      await page.getByText("1 change in 1 row").waitFor();
      equal(await page.locator(".cell-editor").count(), 0);
      equal(await cell(2, 2).innerText(), "typed");
      await cell(0, 2).dblclick();
      await page.locator(".cell-editor").fill("left");
      await page.goBack();
      await cell(0, 2).waitFor({ state: "detached" });
      await page.goForward();
      await page.getByText("2 changes in 2 rows").waitFor();
      equal(await cell(0, 2).innerText(), "left");
      deepEqual(problems, []);
    },
  },
  {
    name: "a text of several lines keeps them, in a cell and in the panel",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/rows?type=teacher&sort=byName");
      const cell = page.locator("#cell-0-2");
      await cell.dblclick();
      await page.locator(".cell-editor").fill("first");
      await page.keyboard.press("Shift+Enter");
      await page.keyboard.type("second");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Control+s");
      await page.locator(".pending").waitFor({ state: "detached" });
      const id = await page.locator("#cell-0-0").innerText();
      await open(`/table?partition=TEACHER%23${id}&types=teacher`);
      await page.locator(".cells").first().click();
      const form = page.getByRole("region", { name: "Change" });
      const office = form.getByLabel("office");
      equal(await office.inputValue(), "first\nsecond");
      await office.press("Control+End");
      await page.keyboard.type("!");
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByText("Saved.").waitFor();
      await page.getByText("As DynamoDB’s JSON").click();
      await page.locator("pre", { hasText: String.raw`"first\nsecond!"` }).waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "the panel of a row names the row, whatever fields its users have defined and whichever columns are shown",
    writes: true,
    projects: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/rows?type=project&parent=%7B%22courseId%22%3A%22C201%22%7D&columns=title:200");
      await page.getByRole("button", { name: "Add field" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Name", { exact: true }).fill("projectId");
      await dialog.getByRole("button", { name: "Add field" }).click();
      await dialog.waitFor({ state: "detached" });
      const cell = page.locator("#cell-0-0");
      await cell.waitFor();
      const title = await cell.innerText();
      await page.getByRole("grid").focus();
      await page.keyboard.press("Control+Enter");
      const panel = page.getByRole("complementary", { name: "Row" });
      await panel.getByText("42 rows").waitFor({ state: "detached" });
      const id = await panel.locator("dd").first().innerText();
      await panel.getByRole("button", { name: "Delete this project" }).click();
      match(await dialog.innerText(), new RegExp(`^Delete ${id} ·`));
      await dialog.getByRole("button", { name: "Delete", exact: true }).click();
      await dialog.waitFor({ state: "detached" });
      await page.getByText(/^41 rows/).waitFor();
      equal(await page.locator("#cell-0-0").getByText(title, { exact: true }).count(), 0);
      deepEqual(problems, []);
    },
  },
  {
    name: "an address opens the row that it names, also if it is not among the first ones",
    students: 450,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/rows?type=student&row=%7B%22studentId%22%3A%22S001%22%7D&sort=byName&reverse=1");
      const panel = page.getByRole("complementary", { name: "Row" });
      await panel.getByText("ada.lovelace@college.example").waitFor();
      await panel.getByRole("button", { name: "Close the row" }).click();
      await panel.waitFor({ state: "detached" });
      deepEqual(problems, []);
    },
  },
];
