import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";

/** Why a package needs another, in npm's words; a `peerOptional` or `optional` one may be missing. */
export const kinds = ["prod", "dev", "optional", "peer", "peerOptional", "workspace"] as const;

/** What a package's entry in a lockfile says, but for its dependencies, which are edges. */
export const packageSchema = z.object({
  /** Where it is installed, such as `node_modules/a/node_modules/b`; `.` is the project itself. */
  location: z.string(),
  name: z.string(),
  version: z.string().optional(),
  /** Location that a link leads to. */
  target: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  license: z.string().optional(),
  deprecated: z.string().optional(),
  dev: z.boolean().optional(),
  optional: z.boolean().optional(),
  devOptional: z.boolean().optional(),
  peer: z.boolean().optional(),
  inBundle: z.boolean().optional(),
  extraneous: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
  engines: z.record(z.string(), z.string()).optional(),
  os: z.array(z.string()).optional(),
  cpu: z.array(z.string()).optional(),
  libc: z.array(z.string()).optional(),
});

/** A package, where it is installed. */
export type Package = z.output<typeof packageSchema>;

/**
 * The packages of a lockfile, in the library's own layout. A package that is installed twice is two
 * nodes; one that is linked (a workspace) is a node for the link and one for the folder.
 */
export const dependencies = defineGraph({
  table: "Dependencies",
  nodes: {
    package: node({ key: "PACKAGE#{location}", schema: packageSchema, expect: { bytes: 350, count: 400 } }),
    name: node({ key: "NAME#{name}", schema: z.object({ name: z.string() }), stored: false }),
    license: node({ key: "LICENSE#{license}", schema: z.object({ license: z.string() }), stored: false }),
  },
  edges: {
    dependsOn: edge({
      from: "package",
      to: "package",
      // An alias is wanted by another name than the package has.
      schema: z.object({ wanted: z.string(), range: z.string(), kind: z.enum(kinds) }),
      orderBy: "kind",
      onDelete: { from: "cascade" },
      // What a package has that is asked about: the many edges are at few packages.
      expect: { from: 11, to: 6, bytes: 350 },
    }),
    linksTo: edge({ from: "package", to: "package", onDelete: { from: "cascade" }, expect: { from: 1, to: 1, bytes: 200 } }),
    // Where every copy of a name is installed, and what a licence covers.
    installed: edge({ from: "name", to: "package", onDelete: { to: "cascade" }, expect: { from: 3, to: 1, bytes: 200 } }),
    covers: edge({ from: "license", to: "package", onDelete: { to: "cascade" }, expect: { from: 20, to: 1, bytes: 200 } }),
  },
});

export type DependenciesDb = ReturnType<typeof dependencies.connect>;
