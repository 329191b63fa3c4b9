import { deepEqual, equal, match, ok } from "node:assert/strict";

/** The checks of Graph, in the form of those in `checks.mjs`. */
export const graphChecks = [
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
      await panel.getByRole("list", { name: "Nodes", exact: true }).getByRole("button", { name: "Ada Lovelace" }).click();
      await panel.getByRole("region", { name: "Selected node" }).getByText("ada.lovelace@college.example").waitFor();
      await panel.getByRole("button", { name: /enrolledIn → course read/ }).click();
      await panel.getByRole("button", { name: /enrolledIn → course 4 all read/ }).waitFor();
      await settled.waitFor();
      match(await page.getByRole("img", { name: /Drawing of/ }).getAttribute("aria-label"), /of 8\d nodes and 8\d edges/);
      const box = await page.locator("canvas.graph-canvas").boundingBox();
      ok(box && box.width > 500, "the picture is drawn");
      await panel.getByRole("button", { name: /^student 80$/ }).click();
      equal(await panel.getByRole("list", { name: "Nodes", exact: true }).getByRole("button", { name: "Ada Lovelace" }).count(), 0);
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
    name: "the graph: a path between two nodes lit up, what a budget left out, the whole graph",
    run: async ({ openPage }) => {
      const { page, open, audit, problems } = await openPage();
      await open("/graph?type=student&id=%7B%22studentId%22%3A%22S001%22%7D");
      const panel = page.getByRole("complementary", { name: "Graph" });
      const region = panel.getByRole("region", { name: "Path" });
      await region.getByLabel("Path to a").selectOption("teacher");
      await region.getByLabel("Search teacher", { exact: true }).fill("Edgar");
      await region.getByRole("button", { name: /Edgar Codd/ }).click();
      // A student takes a course that the teacher teaches.
      await region.getByText(/^2 edges long/).waitFor();
      const path = region.getByRole("list", { name: "Path" });
      await path.getByText("Edgar Codd").waitFor();
      match(await path.innerText(), /Ada Lovelace\s+enrolledIn ↓\s+.+\s+teaches ↑\s+Edgar Codd/);
      deepEqual(await audit(), []);
      await page.reload();
      await region.getByText(/^2 edges long/).waitFor();
      await region.getByRole("button", { name: "Clear" }).click();
      await path.waitFor({ state: "detached" });
      // Three hops from a student are more requests than the budget: the rest is counted, and read on demand.
      const hops = panel.getByRole("region", { name: "Neighbourhood" });
      await hops.getByLabel("Hops").selectOption("3");
      await hops.getByRole("button", { name: "Read" }).click();
      const left = hops.getByText(/of edges not read: the budget of 60 requests was spent/);
      await left.waitFor();
      const before = await left.innerText();
      await hops.getByRole("button", { name: "Continue" }).click();
      await page.waitForFunction((text) => {
        const now = document.querySelector(".left-out")?.innerText;
        return now !== text && document.querySelector(".graph-drawing")?.dataset.state === "settled";
      }, before);
      await open("/graph");
      await page.getByRole("link", { name: "Draw the whole graph" }).click();
      await page.locator(".graph-drawing[data-state=settled]").waitFor();
      match(await page.getByRole("img", { name: /Drawing of/ }).getAttribute("aria-label"), /of 207 nodes and 5\d\d edges/);
      deepEqual(problems, []);
    },
  },
  {
    name: "a search for a node reads on when it is asked to",
    students: 450,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/graph?type=student");
      const email = await page.evaluate(
        async () => (await (await fetch("/api/rows?type=student&sort=byName&reverse=1&limit=1")).json()).rows[0].email,
      );
      await page.getByLabel("Search student by").selectOption("email");
      await page.getByLabel("Search student", { exact: true }).fill(email);
      const found = page.getByRole("list", { name: "Nodes of student" });
      await found.getByText("None in the first 400 items.").waitFor();
      await found.getByRole("button", { name: "Read on" }).press("Enter");
      await found.getByRole("button", { name: /^S\d/ }).press("Enter");
      await page.getByRole("region", { name: "Selected node" }).getByText(email).waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "a search for a node says that there is none, also if nothing was read",
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      const none = { rows: [], scanned: 0, cost: { requests: 1, readUnits: 0.5 } };
      await page.route("**/api/rows?*", (route) => route.fulfill({ json: none }));
      await open("/graph?type=teacher");
      await page.getByRole("list", { name: "Nodes of teacher" }).getByText("None found.").waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "the graph: an edge without direction is one edge, from whichever end it is read",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/graph?type=teacher");
      const ends = { from: { teacherId: "T1" }, to: { teacherId: "T2" } };
      const linked = await page.evaluate(
        async (body) => (await fetch("/api/edges/link", { method: "POST", headers: { "content-type": "application/json" }, body })).json(),
        JSON.stringify({ edge: "sharesOffice", ...ends }),
      );
      equal(linked.ok, true);
      await open("/graph?type=teacher&id=%7B%22teacherId%22%3A%22T1%22%7D");
      const panel = page.getByRole("complementary", { name: "Graph" });
      const drawing = page.getByRole("img", { name: /Drawing of/ });
      const edgesDrawn = async () => Number(/and (\d+) edges/.exec(await drawing.getAttribute("aria-label"))?.[1]);
      await panel.getByRole("button", { name: "sharesOffice ↔ teacher 1 all read" }).waitFor();
      await page.locator(".graph-drawing[data-state=settled]").waitFor();
      equal(await panel.getByRole("button", { name: /^sharesOffice/ }).count(), 1);
      const before = await edgesDrawn();
      // From the other end as well.
      const nodes = panel.getByRole("list", { name: "Nodes", exact: true });
      const names = await nodes.getByRole("button").allInnerTexts();
      for (const name of names) {
        await nodes.getByRole("button", { name, exact: true }).first().click();
        const way = panel.getByRole("button", { name: "sharesOffice ↔ teacher read", exact: true });
        if ((await way.count()) === 0) continue;
        await way.click();
        await panel.getByRole("button", { name: "sharesOffice ↔ teacher 1 all read" }).waitFor();
      }
      equal(await edgesDrawn(), before);
      deepEqual(problems, []);
    },
  },
];
