// npm run test:studio: drives the built studio in a real Chromium, on the college's data. Waits for states, never for times.
// Ends with "N passed, N failed, N skipped"; without a browser every check is skipped, and the reason is printed.
// EDGETABLE_SECOND_TRY=1 runs checks that failed once more, one at a time: those that pass only then are named.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { startDemo } from "../demo/start.mjs";
import { findChromium, openChromium } from "./chromium.mjs";
import { checks } from "./checks.mjs";

/** Milliseconds to wait for a state: it only catches hangs. */
const HANG = Number(process.env.EDGETABLE_STUDIO_WAIT ?? 120_000);

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A page that is signed in, with what went wrong on it. */
const openPage = async (browser, demo, colorScheme = "light") => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  page.setDefaultTimeout(HANG);
  const problems = [];
  const hosts = new Set();
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    // Without a GPU, the browser remarks on its own speed.
    const isRemark = message.text().includes("GL Driver Message");
    if (["error", "warning"].includes(message.type()) && !isRemark) problems.push(message.text());
  });
  page.on("request", (request) => hosts.add(new URL(request.url()).host));
  await page.goto(demo.link);
  const open = async (address) => {
    await page.goto(new URL(address, demo.link).href);
    return page;
  };
  /** Serious findings of axe on the page as it is. */
  const audit = async () => {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .map(({ target }) => target.join(" "))
            .slice(0, 3)
            .join(", ")}`,
      );
  };
  return { page, open, audit, problems, hosts, close: () => context.close() };
};

/** Bytes of gzip: the JavaScript of the first view. */
const FIRST_VIEW = 250 * 1024;

/** What the built files say without a browser: nothing inline, nothing from elsewhere, a first view of a bounded size. */
const checkFiles = () => {
  const app = join(import.meta.dirname, "../dist/app");
  const page = readFileSync(join(app, "index.html"), "utf8");
  const scripts = [...page.matchAll(/<script([^>]*)>([^<]*)/g)];
  assert.ok(scripts.length > 0);
  for (const [, attributes, inline] of scripts) {
    assert.match(attributes, / src="\/assets\//);
    assert.equal(inline, "");
  }
  assert.doesNotMatch(page, /https?:|<style| style=| on\w+=/);
  const files = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, file]) => readFileSync(join(app, file)));
  const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  assert.ok(bytes <= FIRST_VIEW, `the first view loads ${bytes} bytes`);
  return bytes;
};

const counts = { passed: 0, failed: 0, skipped: 0 };
try {
  console.log(`ok    the built files: nothing inline, nothing from elsewhere, ${Math.ceil(checkFiles() / 1024)} KB of JavaScript (gzip)`);
  counts.passed++;
} catch (error) {
  console.log(`FAIL  the built files\n${String(error)}`);
  counts.failed++;
}
const only = process.argv[2];
const wanted = checks.filter(({ name }) => only === undefined || name.includes(only));
const executable = findChromium();

// Two at a time, as this project's machines have two cores. Each has a browser of its own, and so a clipboard.
const LANES = 2;

/** The demos that checks share which only read, by their number of students. */
const shared = new Map();

/** Starts what a check needs: an engine, its rows and a studio. Those that change nothing share one. */
const demoFor = async ({ students, writes, projects, results, migrates, stopsEngine }) => {
  if (writes || projects || results || migrates || stopsEngine) return startDemo(students, { writes, projects, results, migrates });
  if (!shared.has(students)) shared.set(students, startDemo(students));
  return { ...(await shared.get(students)), stop: async () => undefined };
};

/** What the pages of a browser show, for the report of a check that failed. */
const shownBy = async (browser) => {
  const pages = browser.contexts().flatMap((context) => context.pages());
  const texts = await Promise.all(pages.map((page) => page.locator("body").innerText({ timeout: 5000 }).catch(String)));
  return texts.map((text) => `it shows: ${text.replaceAll(/\s+/g, " ").slice(0, 600)}\n`).join("");
};

/** Runs one check, but not for ever: what waits in a loop of its own for a state that does not come has no other end. */
const runOne = async (check, browser, demo) => {
  let timer;
  const end = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The check had not ended after ${(3 * HANG) / 1000} s.`)), 3 * HANG);
  });
  try {
    await Promise.race([check.run({ demo, openPage: (theme) => openPage(browser, demo, theme) }), end]);
  } finally {
    clearTimeout(timer);
  }
};

/** Takes one check after the other, until all are taken, and collects those that fail. */
const runLane = async (waiting, failed) => {
  let browser = await openChromium(executable);
  for (let check = waiting.shift(); check; check = waiting.shift()) {
    const began = performance.now();
    const problems = [];
    let demo;
    try {
      demo = await demoFor(check);
      await runOne(check, browser, demo);
    } catch (error) {
      problems.push(error instanceof Error ? error.stack : String(error), await shownBy(browser));
    }
    // A page that stays goes on asking its studio. A browser that has ended closes nothing, and the next check needs another.
    for (const context of browser.contexts()) await context.close().catch(() => undefined);
    if (!browser.isConnected()) browser = await openChromium(executable);
    await demo?.stop().catch((error) => problems.push(String(error)));
    if (problems.length > 0) {
      failed.push(check);
      console.log(`FAIL  ${check.name}\n${problems.join("\n")}`);
    } else {
      counts.passed++;
      console.log(`ok    ${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s  ${check.name}`);
    }
  }
  await browser.close();
};

if (executable) {
  try {
    let failed = [];
    await Promise.all(Array.from({ length: LANES }, () => runLane(wanted, failed)));
    // Many failures have one cause, which a second try does not remove.
    const again = process.env.EDGETABLE_SECOND_TRY === "1" && failed.length <= 3 ? failed : [];
    if (again.length > 0) await runLane([...again], (failed = []));
    for (const { name } of again.filter((check) => !failed.includes(check))) console.log(`\nPassed at the second try only: ${name}`);
    counts.failed += failed.length;
  } finally {
    for (const demo of shared.values()) {
      // One that did not start has failed its checks.
      const started = await demo.catch(() => undefined);
      await started?.stop().catch((error) => {
        counts.failed++;
        console.log(`FAIL  ${String(error)}`);
      });
    }
  }
} else {
  counts.skipped = wanted.length;
  console.log("The browser tests are skipped: there is no Chromium. Install Debian's package chromium, or set EDGETABLE_CHROMIUM.");
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;
