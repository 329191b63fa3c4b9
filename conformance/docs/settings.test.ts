import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Comparisons, ConnectOptions, Reason, edge, node, part } from "edgetable";
import { root } from "./extract.ts";

/** The guide's tables list every setting. A new setting fails to compile here until it is listed, and fails the test until the guide documents it. */
const guide = readFileSync(join(root, "docs/guide.md"), "utf8");

type Names<T> = Readonly<Record<keyof T & string, true>>;

const nodes: Names<Parameters<typeof node>[0]> = {
  key: true,
  schema: true,
  unique: true,
  immutable: true,
  version: true,
  validate: true,
  reads: true,
  timestamps: true,
  ttl: true,
  dates: true,
  renamed: true,
  retyped: true,
  stored: true,
  mirror: true,
  derived: true,
  expect: true,
  fields: true,
};
const parts: Names<Parameters<typeof part>[0]> = {
  of: true,
  key: true,
  schema: true,
  owner: true,
  copies: true,
  immutable: true,
  version: true,
  validate: true,
  reads: true,
  timestamps: true,
  ttl: true,
  dates: true,
  renamed: true,
  retyped: true,
  expect: true,
};
const edges: Names<Parameters<typeof edge>[0]> = {
  from: true,
  to: true,
  schema: true,
  key: true,
  orderBy: true,
  stored: true,
  symmetric: true,
  multiplicity: true,
  maxDegree: true,
  onDelete: true,
  ends: true,
  immutable: true,
  version: true,
  validate: true,
  reads: true,
  timestamps: true,
  ttl: true,
  dates: true,
  renamed: true,
  retyped: true,
  sides: true,
  by: true,
  copies: true,
  expect: true,
};
const comparisons: Names<Required<Comparisons<string>>> = {
  eq: true,
  ne: true,
  lt: true,
  lte: true,
  gt: true,
  gte: true,
  between: true,
  beginsWith: true,
  contains: true,
  in: true,
  exists: true,
};
const reasons: Readonly<Record<Reason, true>> = {
  exists: true,
  notFound: true,
  conditionFailed: true,
  versionConflict: true,
  notUnique: true,
  immutable: true,
  endMissing: true,
  degreeExceeded: true,
  hasEdges: true,
  rolledBack: true,
};
const options: Names<ConnectOptions> = {
  allowInsecure: true,
  endpoint: true,
  region: true,
  profile: true,
  credentials: true,
  client: true,
  transport: true,
  retry: true,
  concurrency: true,
  requestTimeout: true,
  deadline: true,
  expired: true,
  incompleteIndexes: true,
  onRequest: true,
  observer: true,
  cursorSecret: true,
  validate: true,
  idempotent: true,
  onStray: true,
  unknown: true,
  advanced: true,
};

test.each([
  ["Model settings", { ...nodes, ...parts, ...edges }],
  ["Conditions", comparisons],
  ["Write outcomes", reasons],
  ["Connection options", options],
])("the guide's section %j lists every name", (title, names) => {
  const section = guide.split(/^## /m).find((one) => one.startsWith(title)) ?? "";
  expect(Object.keys(names).filter((name) => !section.includes(`\`${name}\``) && !section.includes(`\`${name}: `))).toEqual([]);
});
