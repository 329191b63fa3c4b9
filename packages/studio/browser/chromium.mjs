import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const places = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The browser to drive: `EDGETABLE_CHROMIUM`, or one of the usual places; undefined if there is none. */
export const findChromium = () => [process.env.EDGETABLE_CHROMIUM, ...places].find((path) => path && existsSync(path));

/** Starts the browser. As root, Chromium runs only without its sandbox; it opens nothing but the studio. */
export const openChromium = (executablePath) =>
  chromium.launch({
    executablePath,
    args: ["--disable-gpu", "--use-angle=swiftshader", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
  });
