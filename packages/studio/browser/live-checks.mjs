import { deepEqual, equal, match } from "node:assert/strict";

export const liveChecks = [
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
      await page.getByRole("region", { name: "Consumers" }).getByText("No consumer has read the stream.").waitFor();
      await newest.getByRole("link", { name: /COURSE#C302/ }).click();
      await page.getByRole("heading", { name: "College/COURSE#C302" }).waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "live: how far a consumer is behind, what it could not take, and a migration under way",
    writes: true,
    migrates: true,
    run: async ({ demo, openPage }) => {
      const { page, open, audit, problems } = await openPage();
      const { page: other, open: openOther } = await openPage();
      await open("/live");
      const migration = page.getByRole("region", { name: "Migration" });
      await migration.getByText("not running").waitFor();
      match(await migration.innerText(), /byOffice[\s\S]*started .* ago[\s\S]*byOffice missing/);
      const change = async (text) => {
        await openOther(`/patterns?call=${encodeURIComponent(`db.course.update({ courseId: "C302" }, { title: "${text}" })`)}`);
        await other.getByRole("button", { name: "Run the write" }).click();
        await other.locator(".answer-json").getByText('"ok": true').waitFor();
      };
      await change("Untitled");
      await demo.consume("catalogue");
      const consumers = page.getByRole("region", { name: "Consumers" });
      await consumers.getByText("up to date").waitFor();
      match(await consumers.innerText(), /catalogue\s+not running\s+up to date · \d+ shard/);
      const letters = page.getByRole("region", { name: "Dead letters" });
      await letters.getByText("A course without a title cannot be printed.").waitFor();
      match(await letters.innerText(), /catalogue/);
      // What nobody has read yet is how far the consumer is behind.
      await change("Graphs");
      await consumers.getByText(/\d+ seconds? behind/).waitFor();
      deepEqual(await audit(), []);
      deepEqual(problems, []);
    },
  },
  {
    name: "live: the results of batch jobs, their differences, and the nodes that they name",
    results: true,
    run: async ({ openPage }) => {
      const { page, open, audit, problems } = await openPage();
      await open("/live");
      await page.getByRole("link", { name: "Batch results" }).press("Enter");
      const list = page.getByRole("navigation", { name: "Results" });
      await list.getByRole("link", { name: /^validate\s*2 differences/ }).press("Enter");
      const result = page.getByRole("article", { name: "validate" });
      await result.getByText("2 differences.").waitFor();
      match(await result.innerText(), /took[\s\S]*DuckDB[\s\S]*C102[\s\S]*students[\s\S]*99/);
      deepEqual(await audit(), []);
      await list.getByRole("link", { name: /^page-rank/ }).click();
      const ranks = page.getByRole("article", { name: "page-rank" });
      await ranks.getByText("--edges enrolledIn").waitFor();
      // The address alone restores the view; a row leads to its node in Table and in Graph.
      await page.reload();
      const node = ranks.locator("tbody tr").first().locator(".node-cell");
      await node.getByRole("link", { name: /^Go to the partition/ }).click();
      await page.getByRole("heading", { name: /^College\/COURSE#/ }).waitFor();
      await page.goBack();
      await node.getByRole("link").first().click();
      await page.locator(".graph-drawing[data-state=settled]").waitFor();
      match(page.url(), /type=course&id=/);
      deepEqual(problems, []);
    },
  },
  {
    name: "changes as they happen are marked in the table and in the graph, and the switch ends that",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, audit, problems } = await openPage();
      const { page: graph, open: openGraph } = await openPage();
      const { page: other, open: openOther } = await openPage();
      await open("/table?partition=COURSE%23C302");
      await page.locator(".cells").first().waitFor();
      await openGraph("/graph?type=course&id=%7B%22courseId%22%3A%22C302%22%7D");
      await graph.locator(".graph-drawing[data-state=settled]").waitFor();
      await openOther("/table?partition=COURSE%23C302");
      await other.locator(".cells").first().click();
      const form = other.getByRole("region", { name: "Change" });
      const marked = page.locator(".cells.marked.modify");
      // Nobody tells when the watch has begun: the credits change until it sees one.
      let credits = 20;
      for (; (await marked.count()) === 0 || (await graph.locator(".node-list .change-word").count()) === 0; credits++) {
        await form.getByLabel("credits").fill(String(credits));
        await form.getByRole("button", { name: "Save" }).click();
        await form.getByText("Saved.").waitFor();
        await other.waitForTimeout(300);
      }
      match(await marked.first().innerText(), /course\s*changed/);
      await page.waitForFunction((text) => document.querySelector(".cells.marked")?.innerText.includes(text), `credits\n${credits - 1}`);
      await graph.locator(".node-list .change-word").first().waitFor();
      deepEqual(await audit(), []);
      const live = page.locator(".marks button[aria-pressed]");
      equal(await live.getAttribute("aria-pressed"), "true");
      await page.locator(".marks").getByRole("button", { name: "Read again" }).click();
      await live.press("Enter");
      match(page.url(), /live=0/);
      equal(await live.getAttribute("aria-pressed"), "false");
      deepEqual(problems, []);
    },
  },
];
