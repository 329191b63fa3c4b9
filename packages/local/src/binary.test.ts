import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findEngineBinary, type Surroundings } from "./binary.ts";

const folder = mkdtempSync(join(tmpdir(), "edgetable-binary-"));
afterAll(() => rmSync(folder, { recursive: true }));

const program = (...path: readonly string[]): string => {
  const file = join(folder, ...path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o755);
  return file;
};

const packaged = program("project", "node_modules", "@dynoxide", "linux-arm64", "dynoxide");
writeFileSync(join(dirname(packaged), "package.json"), '{ "name": "@dynoxide/linux-arm64" }');
const onPath = program("bin", "dynoxide");
const named = program("named");

const nothing: Surroundings = {
  environment: {},
  platform: "linux",
  arch: "arm64",
  resolveFrom: [join(folder, "elsewhere", "package.json")],
};
const project = [join(folder, "elsewhere", "package.json"), join(folder, "project", "package.json")];
const PATH = ["/nowhere", join(folder, "bin")].join(process.platform === "win32" ? ";" : ":");

test("EDGETABLE_ENGINE goes before the package, the package before PATH", () => {
  const all = { ...nothing, environment: { EDGETABLE_ENGINE: named, PATH }, resolveFrom: project };
  expect(findEngineBinary(all)).toEqual({ path: named, from: "EDGETABLE_ENGINE" });
  expect(findEngineBinary({ ...all, environment: { PATH } })).toEqual({ path: packaged, from: "package" });
  expect(findEngineBinary({ ...nothing, environment: { PATH } })).toEqual({ path: onPath, from: "PATH" });
});

test("the package of this machine is installed", () => {
  expect(findEngineBinary().path).toMatch(/dynoxide/);
});

test("nothing found: the message says what to install, and what else would do", () => {
  const message =
    /linux-arm64 was found\. Install the optional package with `npm install --save-dev @dynoxide\/linux-arm64`, or name a binary in EDGETABLE_ENGINE\. .* edgetable dev --engine dynamodb-local/;
  expect(() => findEngineBinary(nothing)).toThrow(
    expect.objectContaining({ code: "local.engineNotFound", message: expect.stringMatching(message) as string }),
  );
});

test("a platform with no package is told which there are", () => {
  expect(() => findEngineBinary({ ...nothing, platform: "freebsd", arch: "x64" })).toThrow(/None is published.*linux-x64, win32-x64/);
});

test("an EDGETABLE_ENGINE that cannot be run is an error, never passed over", () => {
  for (const path of [join(folder, "absent"), folder]) {
    const surroundings = { ...nothing, environment: { EDGETABLE_ENGINE: path, PATH } };
    expect(() => findEngineBinary(surroundings)).toThrow(
      expect.objectContaining({ code: "local.engineNotFound", message: expect.stringContaining(path) as string }),
    );
  }
});
