// npm run speed --workspace packages/studio [-- words]: what the views take, in one run on this machine.
// The table is compared with a bare grid in the same run, because a busy machine makes both slower.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { build } from "vite";
import { startDemo } from "../demo/start.mjs";
import { findChromium, openChromium } from "./chromium.mjs";

const median = (numbers) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
const worst = (numbers) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length * 0.95)] ?? Number.NaN;
const shown = (numbers) => `${median(numbers).toFixed(1)} ms a frame (95 %: ${worst(numbers).toFixed(1)}), ${numbers.length} frames`;

/** A graph of so many students of 12 courses, and edges between students and courses, and students and students. */
const generated = (nodes, links) => {
  const student = (at) => ({ type: "student", id: { studentId: `S${at}` } });
  const course = (at) => ({ type: "course", id: { courseId: `C${at}` } });
  const all = [
    ...Array.from({ length: 12 }, (_, at) => ({ ...course(at), row: { title: `Course ${at}` }, partition: `COURSE#C${at}` })),
    ...Array.from({ length: nodes - 12 }, (_, at) => ({ ...student(at), row: { name: `Student ${at}` }, partition: `STUDENT#S${at}` })),
  ];
  let seed = 7;
  const random = (most) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor(seed / 4096) % most;
  };
  const edges = new Map();
  for (let turn = 0; edges.size < links && turn < links * 20; turn++) {
    const [from, to] = [random(nodes - 12), random(12)];
    // One edge in three leads to a course; the others stay within a group of 40 students.
    const target = edges.size % 3 === 0 ? course(to) : student(Math.min(nodes - 13, from - (from % 40) + random(40)));
    const link = { edge: edges.size % 3 === 0 ? "enrolledIn" : "requires", from: student(from), to: target };
    edges.set(JSON.stringify(link), link);
  }
  return { nodes: all, links: [...edges.values()], scanned: nodes + links, cost: { requests: 1, readUnits: 1 } };
};

/** Moves the pressed pointer, or turns the wheel, once in each frame, and gives the milliseconds between the frames. */
const frames = (page, kind, from, steps) =>
  page.locator("canvas.graph-canvas").evaluate(
    async (canvas, [what, { x, y }, most]) => {
      const noted = [];
      let last;
      for (let step = 0; step < most; step++) {
        const time = await new Promise((resolve) => requestAnimationFrame(resolve));
        if (last !== undefined) noted.push(time - last);
        last = time;
        const place = { clientX: x + Math.sin(step / 9) * 140, clientY: y + Math.cos(step / 9) * 90, bubbles: true };
        const event =
          what === "wheel"
            ? new WheelEvent("wheel", { clientX: x, clientY: y, deltaY: step < most / 2 ? -40 : 40, cancelable: true })
            : new PointerEvent("pointermove", place);
        canvas.dispatchEvent(event);
      }
      return noted;
    },
    [kind, from, steps],
  );

const openGraph = async (page, demo, answer) => {
  await page.route("**/api/graph", (route) => route.fulfill({ json: answer }));
  const began = performance.now();
  await page.goto(new URL("/graph?whole=1", demo.link).href);
  await page.locator("canvas.graph-canvas").waitFor();
  const drawn = performance.now() - began;
  await page.locator(".graph-drawing[data-state=settled]").waitFor();
  const settled = performance.now() - began;
  await page.waitForTimeout(400);
  await page.unroute("**/api/graph");
  return { drawn, settled };
};

/** Drags what is at a point of the page. */
const drag = async (page, from, steps) => {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  const noted = await frames(page, "pointer", from, steps);
  await page.mouse.up();
  return noted;
};

const middleOf = async (page) => {
  const { x, y, width, height } = await page.locator("canvas.graph-canvas").boundingBox();
  return { x: x + width / 2, y: y + height / 2 };
};

const measureGraph = async (page, demo) => {
  const usual = await openGraph(page, demo, generated(300, 1200));
  console.log(`graph, 300 nodes and 1,200 edges: laid out after ${(usual.settled / 1000).toFixed(1)} s`);
  // Where a node is: the picture says it by its pointer.
  const middle = await middleOf(page);
  let node;
  for (let radius = 0; !node && radius < 200; radius += 3)
    for (let angle = 0; !node && angle < 6.2; angle += 0.5) {
      const point = { x: middle.x + Math.cos(angle) * radius, y: middle.y + Math.sin(angle) * radius };
      await page.mouse.move(point.x, point.y);
      if ((await page.locator("canvas.graph-canvas").evaluate(({ style }) => style.cursor)) === "pointer") node = point;
    }
  console.log(`  a node is dragged: ${shown(await drag(page, node, 200))}`);
  console.log(`  the view is moved: ${shown(await drag(page, { x: middle.x - 420, y: middle.y - 330 }, 200))}`);
  const large = await openGraph(page, demo, generated(5000, 20_000));
  console.log(
    `graph, 5,000 nodes and 20,000 edges: first drawn after ${(large.drawn / 1000).toFixed(1)} s, laid out after ${(large.settled / 1000).toFixed(1)} s`,
  );
  console.log(`  the view is moved: ${shown(await drag(page, { x: middle.x - 420, y: middle.y - 330 }, 100))}`);
  console.log(`  the view is zoomed: ${shown(await frames(page, "wheel", middle, 80))}`);
};

/** Scrolls so many pixels in each frame. */
const scroll = (page, pixels, steps) =>
  page.getByRole("grid").evaluate(
    async (grid, [by, most]) => {
      const noted = [];
      let last;
      for (let step = 0; step < most; step++) {
        const time = await new Promise((resolve) => requestAnimationFrame(resolve));
        if (last !== undefined) noted.push(time - last);
        last = time;
        grid.scrollTop += by;
      }
      return noted;
    },
    [pixels, steps],
  );

const heap = async (page) => {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 1024 / 1024;
};

const measureTable = async (page, demo, folder) => {
  await build({
    root: join(import.meta.dirname, "bare"),
    base: "/bare/",
    logLevel: "error",
    build: { outDir: folder, emptyOutDir: true, modulePreload: { polyfill: false } },
  });
  const types = { ".js": "text/javascript", ".html": "text/html" };
  await page.route("**/bare/**", (route) => {
    const name = new URL(route.request().url()).pathname.replace("/bare/", "") || "index.html";
    const file = readdirSync(folder, { recursive: true }).find((one) => one === name);
    return file ? route.fulfill({ body: readFileSync(join(folder, file)), contentType: types[extname(file)] }) : route.abort();
  });
  const began = performance.now();
  await page.goto(new URL("/table", demo.link).href);
  await page.locator(".cells").first().waitFor();
  await page.getByRole("grid").focus();
  await page.keyboard.press("ArrowDown");
  await page.locator(".cells.active").nth(0).waitFor();
  console.log(`table: a first key moves the active row ${((performance.now() - began) / 1000).toFixed(2)} s after the address was entered`);
  const sizes = [];
  const [own, bare] = [[], []];
  for (let turn = 0; turn < 3; turn++) {
    await page.goto(new URL("/bare/index.html", demo.link).href);
    await page.locator(".cells").first().waitFor();
    bare.push(...(await scroll(page, 96, 150)));
    await page.goto(new URL("/table", demo.link).href);
    await page.locator(".cells").first().waitFor();
    await page.waitForTimeout(500);
    own.push(...(await scroll(page, 96, 150)));
    sizes.push(await heap(page));
  }
  console.log(`table, 96 pixels a frame: ${shown(own)}; a bare grid in turns with it: ${shown(bare)}`);
  for (let turn = 0; turn < 4; turn++) {
    await scroll(page, 3000, 200);
    sizes.push(await heap(page));
  }
  console.log(
    `  heap after more and more rows: ${sizes.map((one) => one.toFixed(0)).join(", ")} MB; ${await page.locator(".heading [aria-live]").innerText()}`,
  );
};

/** Milliseconds of the page's main thread for each of some steps, of which so many were script, style and layout. */
const cpuOf = async (page, steps, work) => {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const read = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value * 1000]));
  };
  const before = await read();
  const result = await work();
  const after = await read();
  await session.detach();
  const each = (name) => ((after[name] - before[name]) / steps).toFixed(2);
  const parts = `script ${each("ScriptDuration")}, style ${each("RecalcStyleDuration")}, layout ${each("LayoutDuration")}`;
  return { result, text: `${each("TaskDuration")} ms of CPU a frame (${parts})` };
};

/** Items of the synthetic source, and of one of its pages. */
const [MANY, MANY_PAGE] = [Number(process.env["EDGETABLE_STUDIO_ITEMS"] ?? 1_000_000), 2000];

/** A million items that no engine holds: what the page does with them, and not how fast they are read. */
const manyItems = (cursor, [MANY, MANY_PAGE]) => {
  const first = Number(cursor ?? 0);
  const key = (text) => [{ text: text.slice(0, 5) }, { text: text.slice(5), path: "id" }];
  const items = Array.from({ length: MANY_PAGE }, (_, at) => {
    const id = String(first + at).padStart(7, "0");
    const [pk, sk] = [`ITEM#${id.slice(0, 6)}`, `PART#${id}`];
    const item = { pk: { S: pk }, sk: { S: sk }, name: { S: `Row ${id}` }, at: { S: "2026-01-01" } };
    const fields = ["name", "at"].map((name) => ({ name, attribute: name }));
    return { kind: "node", name: "student", mirror: false, item, keys: { pk: key(pk), sk: key(sk) }, fields, ends: [], bytes: 96 };
  });
  const next = first + MANY_PAGE < MANY ? { next: String(first + MANY_PAGE) } : {};
  return { items, ...next, scanned: MANY_PAGE, cost: { requests: 1, readUnits: 1 } };
};

const measureMillion = async (page, demo) => {
  // In the page itself: a browser's driver passes a gigabyte of answers slowly.
  await page.addInitScript(`{
    const [fetchFrom, manyItems] = [fetch, ${String(manyItems)}];
    globalThis.fetch = async (address, options) => {
      const url = new URL(address, location.href);
      if (url.pathname !== "/api/items") return fetchFrom(address, options);
      return Response.json(manyItems(url.searchParams.get("cursor"), [${MANY}, ${MANY_PAGE}]));
    };
  }`);
  await page.goto(new URL("/table", demo.link).href);
  const grid = page.getByRole("grid");
  await page.locator(".cells").first().waitFor();
  const sizes = [await heap(page)];
  const began = performance.now();
  // Each step goes to the last row that was read, which reads the next page.
  await grid.evaluate(async (element) => {
    element.focus();
    while (!/ [\d,]+ items/.test(document.querySelector(".heading [aria-live]")?.textContent ?? "")) {
      element.dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true }));
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  });
  const seconds = (performance.now() - began) / 1000;
  sizes.push(await heap(page));
  await page.keyboard.press("End");
  await page.getByText(`Row ${String(MANY - 1).padStart(7, "0")}`).waitFor();
  console.log(
    `table of ${MANY.toLocaleString("en-US")} items: read to its end in ${seconds.toFixed(0)} s, ${await grid.evaluate(({ scrollHeight }) => scrollHeight)} pixels high`,
  );
  // By the wheel, which moves by pixels of the list, and by the scroll bar.
  const wheel = () =>
    grid.evaluate(async (element) => {
      const noted = [];
      let last;
      for (let step = 0; step < 200; step++) {
        const time = await new Promise((resolve) => requestAnimationFrame(resolve));
        if (last !== undefined) noted.push(time - last);
        last = time;
        element.dispatchEvent(new WheelEvent("wheel", { deltaY: -96, cancelable: true, bubbles: true }));
      }
      return noted;
    });
  const { result: wheeled, text: wheelCpu } = await cpuOf(page, 200, wheel);
  const end = MANY - 1 - Math.round((200 * 96) / 46);
  await page.getByText(`Row ${String(end).padStart(7, "0")}`).waitFor();
  console.log(`  by the wheel: ${wheelCpu}; ${shown(wheeled)}`);
  const { result: dragged, text: dragCpu } = await cpuOf(page, 200, () => scroll(page, -40_000, 200));
  console.log(`  by the scroll bar: ${dragCpu}; ${shown(dragged)}`);
  sizes.push(await heap(page));
  await grid.evaluate((element) => (element.scrollTop = element.scrollHeight / 2));
  await page.locator(".cells").first().waitFor();
  console.log(`  heap at the start, the end and the middle: ${sizes.map((one) => one.toFixed(0)).join(", ")} MB`);
};

const executable = findChromium();
if (!executable) throw new Error("There is no Chromium. Install Debian's package chromium, or set EDGETABLE_CHROMIUM.");
const only = process.argv[2] ?? "";
const folder = mkdtempSync(join(tmpdir(), "edgetable-bare-"));
const demo = await startDemo(Number(process.env["EDGETABLE_STUDIO_STUDENTS"] ?? 1200));
const browser = await openChromium(executable);
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, bypassCSP: true });
  await page.goto(demo.link);
  if ("graph".includes(only)) await measureGraph(page, demo);
  if ("table".includes(only)) await measureTable(page, demo, folder);
  if ("million".includes(only)) await measureMillion(page, demo);
} finally {
  await browser.close();
  await demo.stop();
  rmSync(folder, { recursive: true, force: true });
}
