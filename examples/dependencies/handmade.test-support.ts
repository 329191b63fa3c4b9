type Packages = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const leaf = { version: "1.0.0" };

/** Small lockfiles' `packages`, each with one thing that resolution has to get right. */
export const handmade = {
  "nested duplicates": {
    "": { name: "project", version: "1.0.0", dependencies: { a: "^1.0.0", b: "^1.0.0", c: "^2.0.0" } },
    "node_modules/a": { version: "1.0.0", license: "MIT", dependencies: { b: "^1.0.0", c: "^1.0.0" } },
    "node_modules/a/node_modules/c": { version: "1.5.0", license: "MIT", dependencies: { b: "^1.0.0", d: "^1.0.0" } },
    "node_modules/b": { version: "1.0.0", license: "ISC", dependencies: { c: "^2.0.0" } },
    "node_modules/c": { version: "2.0.0", license: "MIT" },
    "node_modules/d": { version: "1.0.0" },
  },
  scopes: {
    "": { name: "@scope/project", version: "1.0.0", dependencies: { "@scope/a": "*", a: "*" } },
    "node_modules/@scope/a": { version: "1.0.0", dependencies: { "@scope/b": "*", a: "*" } },
    "node_modules/@scope/a/node_modules/@scope/b": { version: "1.0.0", dependencies: { "@scope/a": "*", c: "*" } },
    "node_modules/@scope/a/node_modules/c": leaf,
    "node_modules/a": { version: "1.0.0", devDependencies: { c: "*" } },
  },
  workspaces: {
    "": { name: "project", version: "1.0.0", workspaces: ["./packages/*", "tools", "!packages/left-out"], devDependencies: { a: "*" } },
    "node_modules/@project/one": { resolved: "packages/one", link: true },
    "node_modules/a": leaf,
    "node_modules/tools": { resolved: "tools", link: true },
    "node_modules/two": { resolved: "packages/two", link: true },
    "packages/one": { name: "@project/one", version: "1.0.0", dependencies: { a: "*", two: "*" }, devDependencies: { tools: "*" } },
    "packages/two": { version: "1.0.0", dependencies: { a: "^2.0.0", "@project/one": "*" } },
    "packages/two/node_modules/a": { version: "2.0.0" },
    tools: { version: "1.0.0", devDependencies: { a: "*" }, dependencies: { two: "*" } },
  },
  "a link outside": {
    "": { name: "project", version: "1.0.0", dependencies: { outside: "file:../outside", inside: "file:vendor/inside", a: "*" } },
    "../outside": { version: "1.0.0", dependencies: { b: "*" } },
    "../outside/node_modules/b": leaf,
    "node_modules/a": leaf,
    "node_modules/inside": { resolved: "vendor/inside", link: true },
    "node_modules/outside": { resolved: "../outside", link: true },
    "vendor/inside": { version: "1.0.0", dependencies: { a: "*" } },
  },
  "optional ones": {
    "": { name: "project", version: "1.0.0", optionalDependencies: { there: "*", absent: "*" }, dependencies: { a: "*" } },
    "node_modules/a": { version: "1.0.0", optionalDependencies: { there: "*", "also-absent": "*" } },
    "node_modules/there": { version: "1.0.0", optional: true, os: ["linux"], cpu: ["x64"] },
  },
  peers: {
    "": { name: "project", version: "1.0.0", dependencies: { plugin: "*", host: "^2.0.0" } },
    "node_modules/host": { version: "2.0.0" },
    "node_modules/plugin": {
      version: "1.0.0",
      dependencies: { helper: "*" },
      peerDependencies: { host: "^2.0.0", types: "*", nothing: "*" },
      peerDependenciesMeta: { types: { optional: true }, nothing: { optional: true } },
    },
    "node_modules/plugin/node_modules/helper": { version: "1.0.0", peerDependencies: { host: "*" } },
    "node_modules/types": { version: "1.0.0", peer: true },
  },
  bundled: {
    "": { name: "project", version: "1.0.0", dependencies: { pack: "*" } },
    "node_modules/inner": { version: "9.0.0" },
    "node_modules/pack": { version: "1.0.0", bundleDependencies: ["inner"], dependencies: { inner: "^1.0.0" } },
    "node_modules/pack/node_modules/inner": { version: "1.0.0", inBundle: true, dependencies: { deeper: "*" } },
    "node_modules/pack/node_modules/deeper": { version: "1.0.0", inBundle: true },
  },
  cycles: {
    "": { name: "project", version: "1.0.0", dependencies: { a: "*" } },
    "node_modules/a": { version: "1.0.0", dependencies: { b: "*" } },
    "node_modules/b": { version: "1.0.0", dependencies: { c: "*" } },
    "node_modules/c": { version: "1.0.0", dependencies: { a: "*", b: "*" } },
  },
  "its own name": {
    "": { name: "a", version: "1.0.0", dependencies: { a: "*", b: "*" } },
    "node_modules/a": { version: "0.9.0", dependencies: { a: "*" } },
    "node_modules/b": { version: "1.0.0", dependencies: { b: "^0.1.0", a: "*" } },
    "node_modules/b/node_modules/b": { version: "0.1.0", dependencies: { b: "*" } },
  },
  "an alias": {
    "": { name: "project", version: "1.0.0", dependencies: { old: "npm:lib@^1.0.0", lib: "^2.0.0" } },
    "node_modules/lib": { version: "2.0.0" },
    "node_modules/old": { name: "lib", version: "1.0.0", dependencies: { lib: "*" } },
  },
  "several lists": {
    "": {
      name: "project",
      version: "1.0.0",
      dependencies: { a: "^1.0.0", b: "^1.0.0" },
      devDependencies: { a: "*" },
      optionalDependencies: { b: "*" },
      peerDependencies: { a: "*", c: "*" },
    },
    "node_modules/a": leaf,
    "node_modules/b": leaf,
    "node_modules/c": leaf,
  },
  "missing ones": {
    "": { name: "project", version: "1.0.0", dependencies: { a: "*", gone: "*" } },
    "node_modules/a": { version: "1.0.0", dependencies: { "gone-too": "*" }, peerDependencies: { unmet: "*" } },
  },
  "nobody's": {
    "": { name: "project", version: "1.0.0" },
    "node_modules/stray": { version: "1.0.0", extraneous: true, dependencies: { other: "*" } },
    "node_modules/other": { version: "1.0.0", extraneous: true },
  },
  empty: { "": {} },
} satisfies Readonly<Record<string, Packages>>;
