import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createServer } from "node:http";

/** Texts that look like something else: markup, paths, names of objects, characters without a shape. */
const hostile = [
  "<img src=x onerror=alert(1)>",
  "\u202eevil\u202c",
  "a\u0000b",
  "😀👩‍🚀",
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "%00%2e%2e",
  "\"; drop 'table' -- {{x}} ${x}",
  "שלום",
  "x".repeat(400),
];
const HUGE = 380_000;

/** Sends a write as the page itself would. */
const write = (page, route, body) =>
  page.evaluate(
    async ([path, sent]) => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(sent) });
      return answer.json();
    },
    [route, body],
  );

export const attackChecks = [
  {
    name: "hostile ids and values are text in every view, shown by their beginning, and written back as they are",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, audit, problems } = await openPage();
      await open("/table");
      await page.locator(".cells").first().waitFor();
      for (const text of hostile)
        deepEqual((await write(page, "rows/create", { type: "teacher", set: { teacherId: { text }, name: { text } } })).ok, true, text);
      const office = { text: "y".repeat(HUGE) };
      await write(page, "rows/create", { type: "teacher", set: { teacherId: { text: "huge" }, name: { text: "Huge" }, office } });
      await open("/table?types=teacher");
      const cells = page.locator(".cells");
      await cells.getByText("Huge", { exact: true }).waitFor();
      const text = await page.locator(".grid").innerText();
      ok(text.length < 20_000, `a cell shows the beginning of a long text: ${text.length} characters`);
      match(text, /\\u202eevil\\u202c/);
      match(text, /a\\u0000b/);
      match(text, /👩‍🚀/);
      equal(await page.locator("main img").count(), 0);
      for (const one of [...hostile, "huge"]) {
        const [id, key] = [JSON.stringify({ teacherId: one }), JSON.stringify([`TEACHER#${one}`, "#"])];
        // The address alone opens the item; what it names is written in the address as it is.
        await open(`/table?${new URLSearchParams({ types: "teacher", item: key })}`);
        await cells.getByText("Huge", { exact: true }).waitFor();
        await open(`/graph?${new URLSearchParams({ type: "teacher", id })}`);
        await page.locator(".graph-drawing[data-state=settled]").waitFor();
      }
      const call = 'db.teacher.get({ teacherId: "\\u202eevil\\u202c" })';
      await open(`/patterns?${new URLSearchParams({ call })}`);
      await page.getByRole("button", { name: /^Run/ }).click();
      await page.getByText("\\u202eevil\\u202c").first().waitFor();
      // An edit of one attribute leaves the others as they are.
      await open(`/rows?${new URLSearchParams({ type: "teacher", filters: JSON.stringify({ teacherId: "=\u202eevil\u202c" }) })}`);
      await page.locator("#cell-0-2").dblclick();
      await page.locator(".cell-editor").fill("B 1");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Control+s");
      await page.locator(".pending").waitFor({ state: "detached" });
      deepEqual(await audit(), []);
      const { row } = await page.evaluate(
        async (id) => (await fetch(`/api/node?${new URLSearchParams({ type: "teacher", id })}`)).json(),
        JSON.stringify({ teacherId: "\u202eevil\u202c" }),
      );
      deepEqual(row, { teacherId: "\u202eevil\u202c", name: "\u202eevil\u202c", office: "B 1" });
      deepEqual(problems, []);
    },
  },
  {
    name: "hostile addresses show a view or say what is wrong",
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      for (const address of [
        "/rows?type=student&filters=null",
        "/rows?type=student&filters=7",
        "/rows?type=__proto__",
        "/rows?type=student&columns=constructor:9,__proto__:1",
        "/rows?type=project&parent=%7B",
        "/graph?type=student&id=null",
        "/graph?type=constructor&id=%7B%7D",
        "/graph?type=student&id=%7B%22studentId%22%3A%22S001%22%7D&toType=x&toId=%7B",
        "/patterns?name=__proto__&parameters=null",
        "/patterns?name=classmates&parameters=%5B%5D",
        "/table?index=__proto__&types=,,x",
        "/table?item=%7B",
        "/live?show=results&result=..%2F..%2Fetc%2Fpasswd",
        "/constructor",
      ]) {
        await open(address);
        await page.locator("main :is(h1, [role=alert], .notice)").first().waitFor();
        ok((await page.locator("nav[aria-label=Views]").count()) > 0, address);
      }
      deepEqual(
        problems.filter((problem) => !problem.includes("status of 400") && !problem.includes("SyntaxError")),
        [],
      );
    },
  },
  {
    name: "another page on this machine, to which the browser sends the cookie, can neither read, write nor frame the studio",
    writes: true,
    run: async ({ demo, openPage }) => {
      const { page, open } = await openPage();
      await open("/table");
      await page.locator(".cells").first().waitFor();
      const evil = createServer((_, response) => response.setHeader("content-type", "text/html").end("<title>Other</title>"));
      await new Promise((resolve) => evil.listen(0, "127.0.0.1", resolve));
      try {
        await page.goto(`http://127.0.0.1:${evil.address().port}/`);
        const done = await page.evaluate(async (studio) => {
          const body = JSON.stringify({ type: "teacher", set: { teacherId: { text: "EVIL" }, name: { text: "Evil" } } });
          const tried = {};
          const attempt = async (name, sent) => (tried[name] = await sent().catch(() => "refused"));
          const read = (path, options) => fetch(`${studio}${path}`, { credentials: "include", ...options }).then((answer) => answer.text());
          await attempt("read", () => read("/api/items"));
          await attempt("write", () => read("/api/rows/create", { method: "POST", body, headers: { "content-type": "application/json" } }));
          // As a form sends it, without a question beforehand.
          await attempt("blind", () => read("/api/rows/create", { method: "POST", body, mode: "no-cors" }));
          const frame = document.body.appendChild(document.createElement("iframe"));
          const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
          frame.src = `${studio}/table`;
          await loaded;
          await attempt("frame", async () => frame.contentDocument?.title ?? "refused");
          return tried;
        }, new URL(demo.link).origin);
        deepEqual(done, { read: "refused", write: "refused", blind: "refused", frame: "refused" });
        await open("/table?partition=TEACHER%23EVIL");
        await page.getByText("This partition has no items.").waitFor();
      } finally {
        evil.close();
      }
    },
  },
  {
    name: "what is changed while a row is written still waits, and of two tabs the slower one is told",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      const { page: other, open: openOther } = await openPage();
      const address = `/rows?${new URLSearchParams({ type: "course", filters: JSON.stringify({ courseId: "=C302" }) })}`;
      for (const one of [open, openOther]) await one(address);
      // Both have read the row before either changes it.
      for (const one of [page, other]) await one.locator("#cell-0-1", { hasText: /\S/ }).waitFor();
      const edit = async (tab, column, text) => {
        await tab.locator(`#cell-0-${column}`).dblclick();
        await tab.locator(".cell-editor").fill(text);
        await tab.keyboard.press("Enter");
      };
      // The answer to the first write comes only when the second change waits.
      let release;
      const held = new Promise((resolve) => (release = resolve));
      await page.route("**/api/rows/change", async (route) => {
        await held;
        await route.continue();
      });
      await edit(page, 1, "Graphs");
      await page.keyboard.press("Control+s");
      await edit(page, 2, "21");
      await page.getByText(/2 changes in 1 row/).waitFor();
      release();
      await page.getByText(/1 change in 1 row/).waitFor();
      await page.keyboard.press("Control+s");
      await page.locator(".pending").waitFor({ state: "detached" });
      // The other tab read the row before: its cell is compared, and nothing is lost.
      await edit(other, 1, "Trees");
      await other.keyboard.press("Control+s");
      await other.getByText("Somebody changed it meanwhile.").first().waitFor();
      await page.reload();
      await page.locator("#cell-0-1", { hasText: "Graphs" }).waitFor();
      await page.locator("#cell-0-2", { hasText: "21" }).waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "an answer that comes late is not shown for another call, nor for other parameters",
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      /** Holds back the first answer of a route until it is let go. */
      const holdFirst = async (route) => {
        let release;
        const held = new Promise((resolve) => (release = resolve));
        let count = 0;
        await page.route(route, async (one) => {
          if (count++ === 0) await held;
          await one.continue();
        });
        return async () => {
          const answered = page.waitForResponse(route);
          release();
          await (await answered).finished();
        };
      };
      const answer = page.getByRole("region", { name: "Answer" }).first();
      const callOf = (id) => `db.student({ studentId: "${id}" }).get()`;
      await open(`/patterns?${new URLSearchParams({ call: callOf("S001") })}`);
      const release = await holdFirst("**/api/scratch/run");
      await page.getByRole("button", { name: /^Run/ }).click();
      await page.getByLabel("Call").fill(callOf("S002"));
      await release();
      await answer.getByText("Not run yet.").waitFor();
      await page.getByRole("button", { name: /^Run/ }).click();
      await answer.getByText(/"studentId": "S002"/).waitFor();
      await open("/patterns?name=coursesOfStudent");
      const releaseOlder = await holdFirst("**/api/patterns/run");
      await page.getByRole("button", { name: "Run" }).click();
      await page.getByLabel("studentId").fill("S002");
      await page.getByRole("button", { name: "Run" }).click();
      await answer.getByRole("cell", { name: "S002" }).first().waitFor();
      await releaseOlder();
      await answer.getByRole("cell", { name: "S002" }).first().waitFor();
      equal(await answer.getByRole("cell", { name: "S001" }).count(), 0);
      deepEqual(problems, []);
    },
  },
  {
    name: "an item that is read anew is shown as it is stored, whatever changes of it were seen before",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      // One change of the office is told; a later one is not, as if the page had been out of view.
      let told = false;
      const office = page.locator(".cells .field").filter({ hasText: "office" });
      await page.route("**/api/live?*", async (route) => {
        // The page before this one may ask, too.
        if (!page.url().includes("TEACHER")) return route.continue();
        if (told) return;
        told = true;
        // A change that is told before the items were read is in them.
        await office.waitFor();
        const { items } = await (
          await page.request.get(new URL("/api/items?partition=TEACHER%23T1&types=teacher", page.url()).href)
        ).json();
        const item = { ...items[0], item: { ...items[0].item, office: { S: "seen" } } };
        const change = { number: 1, time: Date.now(), kind: "modify", item, changed: ["office"], was: {} };
        await route.fulfill({ json: { changes: [change], last: 1 } });
      });
      await open("/table?partition=TEACHER%23T1&types=teacher");
      await office.getByText("seen", { exact: true }).waitFor();
      const body = { type: "teacher", id: { teacherId: "T1" }, set: { office: { text: "stored" } }, was: { office: "B 210" } };
      deepEqual((await write(page, "rows/change", body)).ok, true);
      await page.locator(".marks").getByRole("button", { name: "Read again" }).click();
      await office.getByText("stored", { exact: true }).waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "a row shows a change that a studio tells which was started again, and counts its changes from 1",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      const told = [7, 1];
      let items;
      await page.route("**/api/items?*", async (route) => {
        const answer = await (await route.fetch()).json();
        ({ items } = answer);
        await route.fulfill({ json: answer });
      });
      const office = page.locator(".cells .field").filter({ hasText: "office" });
      await page.route("**/api/live?*", async (route) => {
        // The page before this one may ask, too.
        if (!page.url().includes("TEACHER")) return route.continue();
        await office.waitFor();
        const number = told.shift();
        if (number === undefined) return;
        if (number === 1) await office.getByText("change 7", { exact: true }).waitFor();
        const item = { ...items[0], item: { ...items[0].item, office: { S: `change ${number}` } } };
        const change = { number, time: Date.now(), kind: "modify", item, changed: ["office"], was: {} };
        await route.fulfill({ json: { changes: [change], last: number } });
      });
      await open("/table?partition=TEACHER%23T1&types=teacher");
      await office.getByText("change 1", { exact: true }).waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "a file in another encoding is refused, an import that is cancelled ends, and a row of many quotes is changed",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/rows?type=teacher&sort=byName");
      await page.locator("#cell-0-0").waitFor();
      const dialog = page.getByRole("dialog");
      const choose = (name, text, encoding) =>
        page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text, encoding) });
      await choose("latin.csv", "teacherId,name\nT9,M\u00fcller\n", "latin1");
      await dialog.getByRole("button", { name: "Import" }).click();
      await dialog.getByText("latin.csv is not UTF-8.").waitFor();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      let release;
      const held = new Promise((resolve) => (release = resolve));
      await page.route("**/api/rows/import", async (route) => {
        await held;
        await route.continue();
      });
      await choose("first.csv", "teacherId,name\nT8,First\n");
      await dialog.getByRole("button", { name: "Import" }).click();
      await dialog.getByRole("button", { name: "Writing…" }).waitFor();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      release();
      await choose("second.csv", "\ufeffteacherId,name\nT9,M\u00fcller\n");
      await dialog.getByText("Import second.csv?").waitFor();
      await dialog.getByRole("button", { name: "Import" }).click();
      await dialog.getByText("1 row written").waitFor();
      await dialog.getByRole("button", { name: "Close" }).click();
      await page.getByText("M\u00fcller").waitFor();
      equal(await page.getByText("First").count(), 0);
      // As JSON, such a text takes twice its bytes, and it is sent with what it was.
      const office = '"\n'.repeat(150_000);
      const id = { teacherId: "T9" };
      deepEqual((await write(page, "rows/change", { type: "teacher", id, set: { office: { text: office } }, was: {} })).ok, true);
      const more = { type: "teacher", id, set: { office: { text: `${office}!` } }, was: { office } };
      deepEqual((await write(page, "rows/change", more)).ok, true);
      deepEqual(problems, []);
    },
  },
  {
    name: "in a panel, what is typed while it saves still waits, and another's change that was read since is not overwritten",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/table?partition=TEACHER%23T1&types=teacher");
      await page.locator(".cells").first().click();
      const form = page.getByRole("region", { name: "Change" });
      let release;
      const held = new Promise((resolve) => (release = resolve));
      await page.route("**/api/rows/change", async (route) => {
        await held;
        await route.continue();
      });
      await form.getByLabel("office").fill("first");
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByLabel("name").fill("Typed");
      await form.getByLabel("office").fill("second");
      release();
      await form.getByText("Saved.").waitFor();
      equal(await form.getByLabel("name").inputValue(), "Typed");
      equal(await form.getByLabel("office").inputValue(), "second");
      await form.getByRole("button", { name: "Save" }).click();
      await page.locator(".field-input.waiting").first().waitFor({ state: "detached" });
      await page.locator(".cells").first().getByText("second", { exact: true }).waitFor();
      // Somebody else is faster. Linking the node reads it anew.
      await form.getByLabel("office").fill("mine");
      const body = { type: "teacher", id: { teacherId: "T1" }, set: { office: { text: "theirs" } }, was: { office: "second" } };
      deepEqual((await write(page, "rows/change", body)).ok, true);
      await page.getByRole("button", { name: /^C102/ }).click();
      await page.getByLabel("since").fill("2024");
      await page.getByRole("button", { name: "Link", exact: true }).click();
      await page.getByText(/^Linked to C102/).waitFor();
      await page.locator(".panel .value", { hasText: "theirs" }).waitFor();
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByText("Somebody changed it meanwhile.").waitFor();
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByText("Saved.").waitFor();
      await page.locator(".panel .value", { hasText: "mine" }).waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "an engine that dies and comes back: each view says so, and goes on",
    stopsEngine: true,
    run: async ({ demo, openPage }) => {
      const { page, open } = await openPage();
      await open("/table?partition=COURSE%23C101");
      await page.locator(".cells").first().waitFor();
      await demo.stopEngine();
      for (const address of ["/table", "/rows?type=student", "/graph?type=student", "/live", "/model"]) {
        await open(address);
        await page.getByRole("alert").first().waitFor();
      }
      await demo.startEngine();
      await open("/table");
      await page.locator(".cells").first().waitFor();
      await open("/live");
      await page.getByText("Nothing has changed since you opened this view.").waitFor();
    },
  },
  {
    name: "what was typed in a panel is still there after another item was looked at, and the browser asks before it is lost",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      await open("/table?types=teacher");
      const items = page.locator(".cells");
      const office = page.getByRole("region", { name: "Change" }).getByLabel("office");
      await items.first().click();
      await office.fill("typed");
      await items.nth(1).click();
      await page.waitForFunction(
        () => document.querySelectorAll(".field-input").length > 0 && !document.querySelector(".field-input.waiting"),
      );
      await page.getByRole("link", { name: "Model", exact: true }).click();
      await page.goBack();
      await items.first().click();
      await page.locator(".field-input.waiting").waitFor();
      equal(await office.inputValue(), "typed");
      const asked = page.waitForEvent("dialog").then(async (dialog) => (await dialog.dismiss(), dialog.type()));
      await page.close({ runBeforeUnload: true });
      equal(await asked, "beforeunload");
      await page.getByRole("button", { name: "Delete this teacher" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByText("There is no such item.").waitFor();
      await page.reload();
      await items.first().waitFor();
      deepEqual(problems, []);
    },
  },
  {
    name: "what was typed in the panel of a node is not shown for a node of another type with the same id",
    writes: true,
    run: async ({ openPage }) => {
      const { page, open, problems } = await openPage();
      const id = { id: "1" };
      await page.route("**/api/items?*", async (route) => {
        const two = [];
        for (const partition of ["STUDENT#S001", "TEACHER#T1"]) {
          const url = new URL(`/api/items?${new URLSearchParams({ partition })}`, route.request().url()).href;
          const { items } = await (await route.fetch({ url })).json();
          two.push({ ...items.find(({ kind }) => kind === "node"), id });
        }
        await route.fulfill({ json: { items: two, scanned: 2, cost: { requests: 1, readUnits: 0.5 } } });
      });
      await page.route("**/api/node?*", async (route) => {
        const type = new URL(route.request().url()).searchParams.get("type");
        await route.fulfill({ json: { type, id, partition: "", row: { [`${type}Id`]: "1", name: type } } });
      });
      await open("/table");
      const form = page.getByRole("region", { name: "Change" });
      await page.locator(".cells").first().click();
      await form.getByLabel("email").waitFor();
      await form.getByLabel("name").fill("typed");
      await page.locator(".cells").nth(1).click();
      await form.getByLabel("office").waitFor();
      equal(await form.getByLabel("name").inputValue(), "teacher");
      await page.locator(".cells").first().click();
      await form.getByLabel("email").waitFor();
      equal(await form.getByLabel("name").inputValue(), "typed");
      deepEqual(problems, []);
    },
  },
];
