import { describe, expect, test } from "vitest";
import { handmade } from "./handmade.test-support.ts";
import { mayBeMissing, readLockfile, type Lockfile } from "./read-lockfile.ts";
import { workspaceFolders } from "./workspaces.ts";

const read = (packages: object, lockfileVersion = 3): Lockfile => readLockfile(JSON.stringify({ lockfileVersion, packages }));
const lines = ({ dependencies }: Lockfile): readonly string[] =>
  dependencies.map(({ from, kind, wanted, range, to }) => `${from} ${kind} ${wanted}@${range} ${to}`);
const failure = (content: string): unknown => {
  try {
    return readLockfile(content, "x/package-lock.json");
  } catch (error) {
    return error;
  }
};

describe("resolution", () => {
  test("a package finds what is nearest above it", () => {
    expect(lines(read(handmade["nested duplicates"]))).toEqual([
      ". prod a@^1.0.0 node_modules/a",
      ". prod b@^1.0.0 node_modules/b",
      ". prod c@^2.0.0 node_modules/c",
      "node_modules/a prod b@^1.0.0 node_modules/b",
      "node_modules/a prod c@^1.0.0 node_modules/a/node_modules/c",
      "node_modules/a/node_modules/c prod b@^1.0.0 node_modules/b",
      "node_modules/a/node_modules/c prod d@^1.0.0 node_modules/d",
      "node_modules/b prod c@^2.0.0 node_modules/c",
    ]);
  });

  test("lockfileVersion 2 gives the same, whatever stands in its older half", () => {
    const packages = handmade["nested duplicates"];
    expect(readLockfile(JSON.stringify({ lockfileVersion: 2, packages, dependencies: { a: { version: "9.9.9" } } }))).toEqual(
      read(packages),
    );
  });

  test("a workspace is reached through its link, and resolves from its own folder", () => {
    const lockfile = read(handmade.workspaces);
    expect(lines(lockfile).toSorted()).toEqual(
      [
        ". dev a@* node_modules/a",
        ". workspace tools@file:tools node_modules/tools",
        ". workspace @project/one@file:packages/one node_modules/@project/one",
        ". workspace two@file:packages/two node_modules/two",
        "packages/one prod a@* node_modules/a",
        "packages/one prod two@* node_modules/two",
        "packages/one dev tools@* node_modules/tools",
        "packages/two prod a@^2.0.0 packages/two/node_modules/a",
        "packages/two prod @project/one@* node_modules/@project/one",
        "tools prod two@* node_modules/two",
        "tools dev a@* node_modules/a",
      ].toSorted(),
    );
    expect(lockfile.packages.find(({ location }) => location === "node_modules/two")).toEqual({
      location: "node_modules/two",
      name: "two",
      version: "1.0.0",
      target: "packages/two",
    });
  });

  test("a folder outside the project finds what is in it, and nothing of the project's", () => {
    const outside = { ...handmade["a link outside"], "../outside": { version: "1.0.0", dependencies: { b: "*", a: "*" } } };
    const lockfile = read(outside);
    expect(lines(lockfile)).toContain("../outside prod b@* ../outside/node_modules/b");
    expect(lockfile.unresolved).toEqual([{ from: "../outside", wanted: "a", range: "*", kind: "prod" }]);
  });

  test("optional dependencies and optional peers that are not there are skipped and counted", () => {
    const [optional, peers] = [read(handmade["optional ones"]), read(handmade.peers)];
    expect(optional.unresolved.map(({ from, wanted, kind }) => `${from} ${kind} ${wanted}`)).toEqual([
      ". optional absent",
      "node_modules/a optional also-absent",
    ]);
    expect(peers.unresolved).toEqual([{ from: "node_modules/plugin", wanted: "nothing", range: "*", kind: "peerOptional" }]);
    expect([...optional.unresolved, ...peers.unresolved].every(mayBeMissing)).toBe(true);
    expect(lines(peers)).toContain("node_modules/plugin peerOptional types@* node_modules/types");
    expect(lines(peers)).toContain("node_modules/plugin/node_modules/helper peer host@* node_modules/host");
  });

  test("required ones that are not there are told apart from them", () => {
    const { unresolved } = read(handmade["missing ones"]);
    expect(unresolved.map(({ kind, wanted }) => `${kind} ${wanted}`)).toEqual(["prod gone", "peer unmet", "prod gone-too"]);
    expect(unresolved.some(mayBeMissing)).toBe(false);
  });

  test("a name in several lists counts once", () => {
    expect(lines(read(handmade["several lists"]))).toEqual([
      ". dev a@* node_modules/a",
      ". peer c@* node_modules/c",
      ". optional b@* node_modules/b",
    ]);
  });

  test("bundled packages, cycles and packages of their own name resolve as any other", () => {
    expect(lines(read(handmade.bundled))).toContain(
      "node_modules/pack/node_modules/inner prod deeper@* node_modules/pack/node_modules/deeper",
    );
    expect(lines(read(handmade.cycles))).toContain("node_modules/c prod a@* node_modules/a");
    expect(lines(read(handmade["its own name"]))).toEqual([
      ". prod a@* node_modules/a",
      ". prod b@* node_modules/b",
      "node_modules/a prod a@* node_modules/a",
      "node_modules/b prod b@^0.1.0 node_modules/b/node_modules/b",
      "node_modules/b prod a@* node_modules/a",
      "node_modules/b/node_modules/b prod b@* node_modules/b/node_modules/b",
    ]);
  });

  test("what only a package's developers need is not looked for within node_modules", () => {
    expect(read(handmade.scopes).unresolved).toEqual([]);
    expect(lines(read(handmade.scopes)).filter((line) => line.includes(" dev "))).toEqual([]);
  });
});

describe("entries", () => {
  const entry = (given: object): unknown => read({ "": {}, "node_modules/a": given }).packages[1];

  test("an alias is called what it is, a package without a name what its folder is called", () => {
    const names = read(handmade["an alias"]).packages.map(({ location, name }) => `${location} ${name}`);
    expect(names).toEqual([". project", "node_modules/lib lib", "node_modules/old lib"]);
    expect(read(handmade.scopes).packages.map(({ name }) => name)).toEqual(["@scope/project", "@scope/a", "@scope/b", "c", "a"]);
    expect(read({ "": {} }).packages).toEqual([{ location: ".", name: "." }]);
  });

  test("licences and requirements of older forms are read, and what has no sense is left out", () => {
    const own = { location: "node_modules/a", name: "a" };
    expect(entry({ license: { type: "MIT", url: "x" } })).toEqual({ ...own, license: "MIT" });
    expect(entry({ license: [{ type: "MIT" }, "ISC"] })).toEqual({ ...own, license: "MIT OR ISC" });
    expect(entry({ license: " ", engines: ["node >= 0.8"], os: "linux", cpu: 64, funding: [] })).toEqual({ ...own, os: ["linux"] });
  });
});

describe("what is no lockfile", () => {
  const packages = { "": {} };
  test.each([
    ["a yarn.lock", "# yarn lockfile v1\n", "notJson", "as npm writes it"],
    ["half a file", '{"lockfileVersion": 3, "packages": {', "notJson", "is not JSON"],
    ["a merge that was not settled", '{\n<<<<<<< HEAD\n  "lockfileVersion": 3\n=======\n', "notJson", "conflicts of a merge"],
    ["a list", "[]", "invalid", "no JSON object"],
    ["a package.json", '{"name":"a","dependencies":{}}', "invalid", 'no "lockfileVersion"'],
    [
      "lockfileVersion 1",
      '{"lockfileVersion":1,"dependencies":{}}',
      "unsupportedVersion",
      "has lockfileVersion 1; 2 and 3 can be read. npm 7 and later",
    ],
    ["a later one", '{"lockfileVersion":4,"packages":{}}', "unsupportedVersion", "has lockfileVersion 4"],
    ["one as text", '{"lockfileVersion":"3","packages":{}}', "unsupportedVersion", 'has lockfileVersion "3"'],
    ["one without packages", '{"lockfileVersion":3}', "invalid", 'has no "packages"'],
    ["one from inside node_modules", '{"lockfileVersion":3,"packages":{"node_modules/a":{}}}', "invalid", "not one inside node_modules"],
    [
      "an entry that is none",
      JSON.stringify({ lockfileVersion: 3, packages: { ...packages, "node_modules/a": 7 } }),
      "invalid",
      'packages["node_modules/a"] cannot be read',
    ],
    [
      "a range that is none",
      JSON.stringify({ lockfileVersion: 3, packages: { ...packages, "node_modules/a": { dependencies: { b: 1 } } } }),
      "invalid",
      'packages["node_modules/a"].dependencies.b',
    ],
    [
      "a link to nowhere",
      JSON.stringify({ lockfileVersion: 3, packages: { ...packages, "node_modules/a": { link: true, resolved: "packages/a" } } }),
      "targetMissing",
      '"node_modules/a" links to "packages/a"',
    ],
  ])("%s is refused, and the message says why", (_, content, code, says) => {
    expect(failure(content)).toMatchObject({ name: "LockfileError", code, message: expect.stringContaining(says) as string });
    if (code !== "targetMissing")
      expect(failure(content)).toMatchObject({ message: expect.stringContaining("x/package-lock.json") as string });
  });

  test("a byte order mark is no mistake", () => {
    expect(readLockfile(`\uFEFF${JSON.stringify({ lockfileVersion: 3, packages })}`).packages).toHaveLength(1);
  });
});

test("workspace patterns name folders, in any of npm's forms", () => {
  const locations = [
    ".",
    "a",
    "packages/a",
    "packages/b",
    "packages/b/deep/c",
    "packages/b/node_modules/d",
    "node_modules/packages/e",
    "p.ckages/f",
  ];
  const named = (...globs: readonly string[]): readonly string[] => workspaceFolders(globs, locations);
  expect(named("packages/*")).toEqual(["packages/a", "packages/b"]);
  expect(named("./packages/*/", "a")).toEqual(["packages/a", "packages/b", "a"]);
  expect(named("packages/**")).toEqual(["packages/a", "packages/b", "packages/b/deep/c"]);
  expect(named("**/c")).toEqual(["packages/b/deep/c"]);
  expect(named("packages/{a,b}", "!packages/b")).toEqual(["packages/a"]);
  expect(named("p.ckages/?")).toEqual(["p.ckages/f"]);
  expect(named()).toEqual([]);
});
