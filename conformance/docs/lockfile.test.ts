import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** An entry of the lock file. */
interface Locked {
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly integrity?: string;
  readonly resolved?: string;
}

const text = readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8");
const { packages } = JSON.parse(text) as { readonly packages: Readonly<Record<string, Locked>> };
const installed = Object.entries(packages).filter(([place, { link }]) => place.includes("node_modules/") && !link);

test("the lock file holds an integrity for every package, but for platforms that its registry did not carry", () => {
  const lacking = installed.filter(([, { integrity }]) => !integrity?.startsWith("sha512-"));
  expect(lacking.filter(([, { optional, os }]) => optional !== true || os === undefined).map(([place]) => place)).toEqual([]);
});

test("what this platform installs is always checked", () => {
  const here = installed.filter(([, { os, optional }]) => optional === true && os?.includes(process.platform) === true);
  const present = here.filter(([place]) => {
    try {
      return readFileSync(new URL(`../../${place}/package.json`, import.meta.url)).length > 0;
    } catch {
      return false;
    }
  });
  expect(present.filter(([, { integrity }]) => integrity === undefined).map(([place]) => place)).toEqual([]);
});

test("the lock file names no registry", () => {
  expect(text).not.toMatch(/"resolved": "https?:/);
});
