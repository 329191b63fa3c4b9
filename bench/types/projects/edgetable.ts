import { upTo } from "../project.ts";
import type { Generator, Project } from "../project.ts";

const nodeSchema = (index: number): string => `
export const node${index}Schema = z.object({
  id${index}: z.string(), group: z.string(), name: z.string(), email: z.string().optional(), level: z.int(), active: z.boolean(),
  city: z.string().optional(), score: z.number().optional(), status: z.enum(["open", "closed", "pending"]), created: z.string(),
});`;
const edgeSchema = (index: number): string => `
export const edge${index}Schema = z.object({ since: z.string(), role: z.enum(["reader", "writer"]), weight: z.number().optional() });`;

const schemas = (count: number): string => `import { z } from "zod";\n${upTo(count, nodeSchema)}\n${upTo(count, edgeSchema)}`;

// Edge number i leads from node i to the next node, round the ring.
const node = (index: number): string => `    node${index}: node({ key: "NODE${index}#{id${index}}", schema: schemas.node${index}Schema }),`;
const edge =
  (count: number) =>
  (index: number): string =>
    `    edge${index}: edge({ from: "node${index}", to: "node${(index + 1) % count}", schema: schemas.edge${index}Schema, orderBy: "since" }),`;
const definitions = (count: number): string => `import { defineGraph, edge, node } from "edgetable";
import * as schemas from "./schemas.ts";
export const graph = defineGraph({
  table: "bench",
  nodes: {
${upTo(count, node)}
  },
  edges: {
${upTo(count, edge(count))}
  },
});`;

const use =
  (count: number, edgeName: (index: number) => string) =>
  (index: number): string =>
    `
export const walk${index} = async () => db.node${index}({ id${index}: "i" }).out("${edgeName(index)}").where({ since: { gte: "2024" } }).entries();
export const update${index} = async () => db.node${index}.update({ id${index}: "i" }, { level: 3, status: "open" });
export const link${index} = async () => db.edge${index}.link({ id${index}: "a" }, { id${(index + 1) % count}: "b" }, { since: "2024", role: "reader" });`;

const project = (count: number, edgeName: (index: number) => string): Project => ({
  files: {
    "schemas.ts": schemas(count),
    "definitions.ts": definitions(count),
    "use.ts": `import { graph } from "./definitions.ts";\nconst db = graph.connect({ endpoint: "http://127.0.0.1:8000" });\n${upTo(count, use(count, edgeName))}`,
  },
});

/** `count` nodes and `count` edges, each with a traversal, an update and a link. */
export const edgetable: Generator = (count) => project(count, (index) => `edge${index}`);

/** The same with one edge's name misspelt in the middle: checking must fail, and not cost much more. */
export const edgetableMisspelt: Generator = (count) => project(count, (index) => (index === count >> 1 ? `egde${index}` : `edge${index}`));

/** The schemas alone, to be subtracted. */
export const edgetableSchemas: Generator = (count) => ({ files: { "definitions.ts": schemas(count), "use.ts": "export {};" } });
