// Import directions, types included. Each folder of the library names what it may see; whatever is not named is forbidden.
const src = "^packages/edgetable/src/";
const tests = "[.](test|test-d|test-support)[.]ts$|/test-support/|/fixtures/";
const operations = "transport/operations[.]ts$";
const entries = `${src}(index|transport/sdk/index|check/index|streams/index|verify/index)[.]ts$`;

const floor = ["util/", "errors/"];
const model = [...floor, "keys/", "schema/"];

/** Folder → what else in the library it may import. `types` may be imported as types only. */
const directions = {
  util: { sees: ["errors/"] },
  errors: { sees: ["util/"] },
  keys: { sees: floor },
  schema: { sees: [...floor, "keys/"] },
  ir: { sees: model, types: [operations] },
  query: { sees: [...model, "ir/"] },
  // The planner plans with encoded items, so it shares how items are made and read (one fact, one place) and nothing else of the requests.
  planner: { sees: [...model, "ir/", "requests/(?:attribute-value|encode-item|decode-item)[.]ts$"], types: [operations] },
  requests: { sees: [...model, "ir/"], types: [operations] },
  executor: { sees: [...model, "ir/", "planner/", "requests/", "transport/"] },
  migrate: { sees: [...model, "ir/", "planner/", "requests/", "executor/", "transport/", "verify/mend-facts[.]ts$"] },
  client: {
    sees: [
      ...model,
      "ir/",
      "query/",
      "planner/",
      "requests/",
      "executor/",
      "migrate/",
      "transport/",
      "grids/(?:grid-calls|move-values)[.]ts$",
    ],
  },
  grids: { sees: [...model, "ir/", "planner/", "requests/", "executor/", "transport/", "client/"] },
  transport: { sees: floor },
  check: { sees: [...model, "ir/", "requests/(?:decode-item|encode-item|table)[.]ts$"], types: [operations] },
  streams: { sees: [...model, "ir/", "planner/", "requests/", "executor/", "transport/", "client/", "grids/keep-values[.]ts$"] },
  verify: {
    sees: [
      ...model,
      "ir/",
      "planner/",
      "requests/",
      "executor/",
      "transport/",
      "client/(?:driver|job-options)[.]ts$",
      "grids/keep-values[.]ts$",
    ],
  },
};

const within = (folders) => folders.map((folder) => src + folder).join("|");

const directionRules = Object.entries(directions).flatMap(([folder, { sees, types = [] }]) => {
  const from = { path: `${src}${folder}/`, pathNot: tests };
  const strangers = {
    name: `${folder}-sees-no-more`,
    severity: "error",
    from,
    to: { path: src, pathNot: within([`${folder}/`, ...sees, ...types]) },
  };
  if (types.length === 0) return [strangers];
  const values = { path: within(types), dependencyTypesNot: ["type-only"] };
  return [strangers, { name: `${folder}-sees-types-only`, severity: "error", from, to: values }];
});

module.exports = {
  forbidden: [
    { name: "no-cycle", comment: "Types included.", severity: "error", from: {}, to: { circular: true } },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    ...directionRules,
    {
      name: "keys-by-template",
      comment:
        "Keys are made, read and compared through keys/template.ts; what few programs need of them is loaded late from two files beside it.",
      severity: "error",
      from: { path: src, pathNot: `^packages/edgetable/src/keys/|${tests}` },
      to: { path: `${src}keys/`, pathNot: `${src}keys/(?:template|partitions|key-pieces)[.]ts$` },
    },
    {
      name: "tests-stay-outside",
      comment: "What ships never imports a test, nor what only tests need.",
      severity: "error",
      from: { path: "^(packages|examples|bench)/", pathNot: tests },
      to: { path: tests },
    },
    {
      name: "public-entries-only",
      comment:
        'Whoever is not the library sees "edgetable" and its entries "sdk", "check", "streams" and "verify". The conformance suite may look inside.',
      severity: "error",
      from: { path: "^(packages/(?!edgetable/)|examples/|bench/)" },
      to: { path: "^packages/edgetable/", pathNot: `${entries}|/package[.]json$` },
    },
    {
      name: "local-entry-only",
      severity: "error",
      from: { path: "^(packages/(?!local/)|examples/|bench/|conformance/)" },
      to: { path: "^packages/local/", pathNot: "^packages/local/src/index[.]ts$" },
    },
    {
      name: "testing-entry-only",
      severity: "error",
      from: { path: "^(packages/(?!testing/)|examples/|bench/|conformance/)" },
      to: { path: "^packages/testing/", pathNot: "^packages/testing/src/index[.]ts$" },
    },
    {
      name: "opentelemetry-entry-only",
      severity: "error",
      from: { path: "^(packages/(?!opentelemetry/)|examples/|bench/|conformance/)" },
      to: { path: "^packages/opentelemetry/", pathNot: "^packages/opentelemetry/src/index[.]ts$" },
    },
    {
      name: "studio-sees-types-only",
      comment: "The web app runs in a browser: of the library it knows types, by its public entries.",
      severity: "error",
      from: { path: "^packages/studio/src/" },
      to: { path: "^packages/(?!studio/)", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "studio-entry-only",
      comment: "The command line serves the built app and knows the form of its JSON, but nothing of React.",
      severity: "error",
      from: { path: "^(packages/(?!studio/)|examples/|bench/|conformance/)" },
      to: { path: "^packages/studio/", pathNot: "^packages/studio/src/index[.]ts$" },
    },
    {
      name: "library-stands-alone",
      comment: "Tests excepted, the library knows none of its companions.",
      severity: "error",
      from: { path: src, pathNot: tests },
      to: { path: "^(packages/(?!edgetable/)|examples/|bench/|conformance/)" },
    },
    {
      name: "nobody-needs-the-leaves",
      comment: "Programs and suites are imported by themselves alone.",
      severity: "error",
      from: { path: "^(packages/[^/]+|examples|bench|conformance)/", pathNot: tests },
      to: { path: "^(packages/cli|examples|bench|conformance)/", pathNot: "^$1/" },
    },
    {
      name: "no-development-dependency",
      comment: "A package ships without the workspace's tools.",
      severity: "error",
      // The web app is bundled: what it imports is in its files.
      from: { path: "^packages/[^/]+/(src|bin)/", pathNot: `${tests}|^packages/studio/src/app/` },
      to: { dependencyTypes: ["npm-dev", "npm-unknown", "npm-no-pkg"], dependencyTypesNot: ["npm-peer", "npm-optional", "type-only"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|coverage|[.]cache)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["edgetable-source", "types", "import", "node", "default"],
      extensions: [".ts", ".tsx", ".js", ".mjs", ".d.ts"],
    },
    progress: { type: "none" },
  },
};
