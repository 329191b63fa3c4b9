import { deepEqual, equal, match, ok } from "node:assert/strict";
import { attackChecks } from "./attack-checks.mjs";
import { graphChecks } from "./graph-checks.mjs";
import { liveChecks } from "./live-checks.mjs";
import { rowChecks } from "./row-checks.mjs";

/** The browser logs a value that was refused. */
const isNoRefusal = (problem) => !problem.includes("status of 400");

/** Every check: its name, what it does with a page, how many students the table holds, and whether the studio may write or its engine stops. */
export const checks = [
  {
    name: "the link opens the table, the token leaves the address, and nothing comes from another host",
    run: async ({ demo, openPage }) => {
      const { page, problems, hosts } = await openPage();
      await page.locator(".cells").first().waitFor();
      equal(new URL(page.url()).search, "");
      // Reading costs money: the first page is read once.
      const reads = [];
      page.on("request", (request) => reads.push(new URL(request.url())));
      await page.reload();
      await page.locator(".cells").first().waitFor();
      equal(reads.filter(({ pathname }) => pathname === "/api/items").length, 1);
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
    name: "the shards of an index side by side: counted with their share, each a way to its partition",
    run: async ({ openPage }) => {
      const { page, open, audit, problems } = await openPage();
      await open("/table?index=byName");
      const shards = page.locator(".shards");
      const column = (name) => shards.getByRole("link", { name });
      await column(/^Shard 0, student#0: \d+ items, \d+ %$/).waitFor();
      const labels = await shards.getByRole("link").evaluateAll((links) => links.map((link) => link.title));
      const items = (kind) => labels.filter((one) => one.includes(kind)).map((one) => Number(/: ([\d,]+) items/.exec(one)[1]));
      equal(
        items("student").reduce((sum, one) => sum + one, 0),
        120,
      );
      match(await shards.innerText(), /student\s+120 items · (?:the fullest holds \d+ %|evenly spread)[\s\S]*teacher/);
      match(await shards.getByRole("status").innerText(), /counted by \d+ requests, [\d.]+ RCU/);
      deepEqual(await audit(), []);
      // Counting is by the keyboard too, and the column leads to its partition, beside the other shards of its kind alone.
      await shards.getByRole("button", { name: "Count again" }).press("Enter");
      await column(/^Shard 1, student#1: \d+ items/).press("Enter");
      await page.getByRole("heading", { name: "byName/student#1" }).waitFor();
      await shards.locator('[aria-current="true"]').waitFor();
      match(await shards.locator('[aria-current="true"]').getAttribute("title"), /^Shard 1, student#1/);
      equal(await shards.getByText("teacher").count(), 0);
      await open("/table?index=reverse");
      await page.locator(".cells").first().waitFor();
      equal(await shards.count(), 0);
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
    name: "the table: a reader who has scrolled far keeps the place when an item is changed in its panel",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/table?types=student");
      await page.locator(".cells").first().waitFor();
      const grid = page.getByRole("grid");
      const scrollDown = (element) => {
        element.scrollTo({ top: element.scrollHeight });
        return !document.querySelector(".heading [aria-live]").innerText.includes("+ items");
      };
      await page.waitForFunction(scrollDown, await grid.elementHandle(), { polling: 100 });
      await grid.evaluate(scrollDown);
      await page.locator(".cells").last().click();
      const form = page.getByRole("region", { name: "Change" });
      const place = await grid.evaluate((element) => element.scrollTop);
      ok(place > 0);
      await form.getByLabel("year").fill("77");
      await form.getByRole("button", { name: "Save" }).click();
      await page.locator(".cells").last().getByText("77", { exact: true }).waitFor();
      equal(await grid.evaluate((element) => element.scrollTop), place);
      deepEqual(problems, []);
    },
  },
  {
    name: "an edge in its panel: changed, taken back, refused where somebody was faster, unlinked after a question",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, audit, problems } = await openPage();
      await open("/table?partition=STUDENT%23S001&types=enrolledIn");
      await page.locator(".cells").first().click();
      const form = page.getByRole("region", { name: "Change" });
      await form.getByLabel("grade").fill("D");
      await form.getByLabel("at").fill("2026-02-03");
      equal(await page.locator(".field-input.waiting").count(), 2);
      await form.getByRole("button", { name: "Undo" }).click();
      equal(await page.locator(".field-input.waiting").count(), 1);
      match(await form.getByLabel("at").inputValue(), /^2026-01-/);
      await form.getByRole("button", { name: "Undo" }).click();
      equal(await form.getByRole("button", { name: "Save" }).isDisabled(), true);
      await form.getByLabel("at").fill("tomorrow");
      await page.keyboard.press("Enter");
      await form.getByText(/Invalid ISO date/).waitFor();
      await form.getByLabel("at").fill("2026-02-03");
      await page.keyboard.press("Enter");
      await form.getByText("Saved.").waitFor();
      await page.getByText("2026-02-03", { exact: true }).first().waitFor();
      // The same edge in another page, as it was read before.
      const { page: other, open: openOther } = await openPage();
      await openOther(page.url().slice(new URL(page.url()).origin.length));
      const slower = other.getByRole("region", { name: "Change" });
      await slower.getByLabel("grade").fill("E");
      await form.getByLabel("grade").fill("F");
      // The form says of the save before that it is saved: the answer tells that this one is.
      const saved = page.waitForResponse((response) => response.request().method() === "POST");
      await form.getByRole("button", { name: "Save" }).click();
      await saved;
      await slower.getByRole("button", { name: "Save" }).click();
      await slower.getByText("Somebody changed it meanwhile.").waitFor();
      deepEqual(await audit(), []);
      await page.getByRole("button", { name: "Unlink the two nodes" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("This deletes the edge with its attributes").waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      const rows = page.locator(".cells");
      const before = await rows.count();
      await page.getByRole("button", { name: "Unlink the two nodes" }).press("Enter");
      await dialog.getByRole("button", { name: "Unlink" }).press("Enter");
      await page.getByText("There is no such item.").waitFor();
      await page.waitForFunction((count) => document.querySelectorAll(".cells").length === count, before - 1);
      deepEqual(problems.filter(isNoRefusal), []);
    },
  },
  {
    name: "a part: added to its node, changed and deleted; without --write there is no such form",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/table?partition=STUDENT%23S002");
      await page.locator(".cells", { hasText: "student" }).first().click();
      await page.getByRole("button", { name: "Add note" }).press("Enter");
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("number").fill("12");
      await dialog.getByLabel("text").fill("Wants to change courses.");
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
      await page.locator(".cells", { hasText: "NOTE#012" }).click();
      const form = page.getByRole("region", { name: "Change" });
      await form.getByLabel("text").fill("Has changed courses.");
      await page.keyboard.press("Enter");
      await form.getByText("Saved.").waitFor();
      await page.locator(".cells").getByText("Has changed courses.").waitFor();
      await page.getByRole("button", { name: "Delete this note" }).click();
      await dialog.getByText("Delete note 12 of S002?").waitFor();
      await dialog.getByRole("button", { name: "Delete" }).click();
      await page.getByText("There is no such item.").waitFor();
      equal(await page.locator(".cells", { hasText: "NOTE#012" }).count(), 0);
      // What holds users' fields is not written as a part.
      await open("/table?partition=COURSE%23C301");
      await page.locator(".cells").first().click();
      await page.getByRole("button", { name: "Add lecture" }).waitFor();
      equal(await page.getByRole("button", { name: /Add project/ }).count(), 0);
      deepEqual(problems.filter(isNoRefusal), []);
    },
  },
  {
    name: "a part at an end of edges: linked from both ends by search, drawn as a node, and read by a call",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, audit, problems } = await openPage();
      await open("/table?partition=COURSE%23C101");
      await page.locator(".cells", { hasText: "LECTURE#01" }).click();
      const link = page.getByRole("region", { name: "Link" });
      await link.getByLabel("Search teacher", { exact: true }).fill("Knuth");
      await link.getByRole("button", { name: /Donald Knuth/ }).click();
      await link.getByRole("button", { name: "Link", exact: true }).press("Enter");
      await link.getByText(/^Linked to T4/).waitFor();
      deepEqual(await audit(), []);
      // A teacher's first kind of edge leads to a course; the other one to a lecture, named by its course and its week.
      await open("/table?partition=TEACHER%23T4");
      await page.locator(".cells", { hasText: "Donald Knuth" }).first().click();
      await link.getByLabel("Edge").selectOption("gives → lecture");
      await link.getByLabel("Search lecture by").selectOption("topic");
      await link.getByLabel("Search lecture", { exact: true }).fill("Proofs");
      await link.getByRole("button", { name: /^C102 · 3 · Proofs/ }).click();
      await link.getByRole("button", { name: "Link", exact: true }).press("Enter");
      await link.getByText(/^Linked to C102 · 3/).waitFor();
      await open("/table?partition=COURSE%23C102");
      await page.locator(".cells", { hasText: "LECTURE#03" }).click();
      await page.getByRole("link", { name: "Open in the graph" }).click();
      await page.locator(".graph-drawing[data-state=settled]").waitFor();
      const nodes = page.getByRole("list", { name: "Nodes", exact: true });
      await nodes.getByRole("button", { name: /Donald Knuth/ }).waitFor();
      await nodes.getByRole("button", { name: /Proofs/ }).waitFor();
      deepEqual(await audit(), []);
      await open(`/patterns?call=${encodeURIComponent('db.lecture({ courseId: "C102", week: 3 }).in("gives").nodes()')}`);
      await page.getByRole("button", { name: /^Run/ }).click();
      await page.getByRole("cell", { name: "Donald Knuth" }).waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "a pattern: planned, run with other values, copied, and restored from its address",
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/patterns");
      await page.getByRole("link", { name: /coursesOfStudent/ }).click();
      await page.getByRole("heading", { name: "Which courses does a student take, and with which grade?" }).waitFor();
      const plan = page.getByRole("region", { name: "Requests", exact: true });
      await plan.getByText('pk = "STUDENT#S001"').waitFor();
      match(await page.getByRole("region", { name: "Logical plan" }).innerText(), /hydrate[\s\S]*expand[\s\S]*edge\s+enrolledIn/);
      match(await page.getByRole("region", { name: "Physical plan" }).innerText(), /query[\s\S]*hydrate/);
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
      match(await page.evaluate(() => navigator.clipboard.readText()), /await ask\(db, \{ studentId: "S002" \}\)\.report\(\)/);
      await page.reload();
      await plan.getByText('pk = "STUDENT#S002"').waitFor();
      equal(await page.getByLabel("studentId").inputValue(), "S002");
      deepEqual(problems, []);
    },
  },
  {
    name: "a pattern whose budget ended it goes on where it stopped, and its parts add up",
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/patterns?name=someClassmates");
      await page.getByRole("button", { name: "Run" }).click();
      const left = page.locator(".walk-left");
      await left.getByText(/^The walk spent its budget of requests at hop 2: \d+ nodes? left to read\.$/).waitFor();
      const [rows, requests] = [page.locator(".answer-table tbody tr"), page.locator(".waterfall li")];
      const [first, sent] = [await rows.count(), await requests.count()];
      await left.getByRole("button", { name: "Continue" }).press("Enter");
      await page.waitForFunction((count) => document.querySelectorAll(".waterfall li").length > count, sent);
      ok((await rows.count()) > first, "the parts of the answer add up");
      match(await page.locator(".figures").innerText(), /Requests\s+6\s/);
      deepEqual(problems, []);
    },
  },
  {
    name: "the scratch pad by keyboard alone: completed from the model, planned as it is typed, run, continued, restored",
    run: async ({ openPage }) => {
      const { page, open, audit, problems } = await openPage();
      await open("/patterns");
      await page.getByRole("link", { name: /Scratch pad/ }).click();
      const editor = page.getByRole("combobox", { name: "Call" });
      const list = page.getByRole("listbox", { name: "Completions" });
      const requests = page.getByRole("region", { name: "Requests", exact: true });
      await requests.getByText('pk = "STUDENT#S001"').waitFor();
      await editor.fill("");
      await editor.pressSequentially("db.stu");
      await list.getByRole("option", { name: /^student/ }).waitFor();
      await page.keyboard.press("Tab");
      await editor.pressSequentially("({ stu");
      await page.keyboard.press("Tab");
      equal(await editor.inputValue(), "db.student({ studentId");
      await editor.pressSequentially(': "S001" }).o');
      await page.keyboard.press("Tab");
      equal(await editor.inputValue(), 'db.student({ studentId: "S001" }).out()');
      await editor.pressSequentially('"en');
      deepEqual(await list.getByRole("option").allInnerTexts(), ["enrolledIn\nstudent → course"]);
      deepEqual(await audit(), []);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await editor.pressSequentially('"');
      await page.keyboard.press("End");
      await page.getByRole("alert").getByText("The chain is not a call yet").waitFor();
      await editor.pressSequentially(".whe");
      await page.keyboard.press("Tab");
      await editor.pressSequentially("{ gra");
      await page.keyboard.press("Tab");
      await editor.pressSequentially(': "A" }');
      await page.keyboard.press("End");
      await editor.pressSequentially(".nod");
      await page.keyboard.press("Tab");
      equal(await editor.inputValue(), 'db.student({ studentId: "S001" }).out("enrolledIn").where({ grade: "A" }).nodes()');
      await requests.getByText('pk = "STUDENT#S001"').waitFor();
      await page.keyboard.press("Control+Enter");
      await page.locator(".waterfall li").first().waitFor();
      await page.reload();
      match(await editor.inputValue(), /where\(\{ grade: "A" \}\)/);
      // What is wrong is marked in its place; a write is not run without --write.
      await editor.fill('db.student({ studentId: "S001" }).out("teaches").nodes()');
      await page.locator(".scratch-problem mark").getByText("out").waitFor();
      await editor.fill('db.student.delete({ studentId: "S001" })');
      await page.getByText("This call writes: start the studio with --write").waitFor();
      equal(await page.getByRole("button", { name: "Run the write" }).isDisabled(), true);
      // A walk that its budget ended goes on where it stopped.
      await editor.fill('db.student({ studentId: "S001" }).out("enrolledIn").in("enrolledIn").ids({ budget: { requests: 1 } })');
      await requests.getByText('pk = "STUDENT#S001"').waitFor();
      await page.getByRole("button", { name: /^Run/ }).click();
      const left = page.locator(".walk-left");
      await left.getByText(/spent its budget of requests at hop 2/).waitFor();
      const rows = page.locator(".answer-table tbody tr");
      const first = await rows.count();
      while (await left.count()) {
        const before = await page.locator(".waterfall li").count();
        await left.getByRole("button", { name: "Continue" }).click();
        await page.waitForFunction((count) => document.querySelectorAll(".waterfall li").length > count, before);
      }
      ok((await rows.count()) > first, "the parts of the answer add up");
      deepEqual(problems, []);
    },
  },
  {
    name: "the scratch pad writes with --write",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open(`/patterns?call=${encodeURIComponent('db.course.update({ courseId: "C303" }, { credits: 9 })')}`);
      await page.getByRole("button", { name: "Run the write" }).click();
      await page.locator(".answer-json").getByText('"ok": true').waitFor();
      match(await page.locator(".figures").innerText(), /WCU/);
      await open("/table?partition=COURSE%23C303");
      match(await page.locator(".cells").first().innerText(), /credits\s+9/);
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
    name: "what is empty or fails says so, with what to do",
    stopsEngine: true,
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
  ...rowChecks,
  ...liveChecks,
  ...graphChecks,
  ...attackChecks,
];

/** Each view with what shows that it is ready. */
const addresses = [
  ["/table", ".cells"],
  ["/table?partition=STUDENT%23S001&item=%5B%22STUDENT%23S001%22%2C%22NOTE%23001%22%5D", ".panel"],
  ["/table?index=reverse", ".cells"],
  ["/table?index=byName", ".shards .share"],
  ["/rows?type=student&sort=byName", ".row-cell"],
  ["/rows?type=course&row=%7B%22courseId%22%3A%22C301%22%7D", ".node-search li button"],
  ["/graph?type=student", ".starts"],
  ["/graph?type=course&id=%7B%22courseId%22%3A%22C301%22%7D", ".graph-drawing[data-state=settled]"],
  ["/patterns?name=classmates", ".plan"],
  ["/model", ".advice"],
  ["/live", ".live .notice"],
];
