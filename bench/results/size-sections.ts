import type { Size } from "../bundle/bundle.ts";
import type { Report } from "../report.ts";
import { round, table } from "./markdown.ts";

const size = (value: Size | undefined): string => (value ? `${round(value.minified / 1000)} / ${round(value.gzip / 1000)}` : "–");

export const bytesSection = ({ bytes }: Report): string => `## Bytes

KB minified / gzip by esbuild for Node. edgetable's eight calls include the schema library: zod, or for \`edgetable-mini\` zod/mini. The others bring their own. Its credential provider, an optional peer that is loaded only where the environment holds no keys, stays outside.

${table(
  ["client", "all that the library exports, SDK outside", "the eight calls, SDK outside", "the eight calls, SDK inside"],
  bytes.map(({ candidate, whole, used, withSdk }) => [candidate, size(whole), size(used), size(withSdk)]),
)}`;

export const coldStartSection = ({ coldStart }: Report): string => `## Cold start

Milliseconds above an empty process; one bundled file with everything inside, the schema library too (\`edgetable-mini\`: zod/mini in place of zod).

${table(
  ["client", "imported", "first GetItem answered", "CPU until then"],
  coldStart.map(({ candidate, imported, answered, cpu }) => [candidate, imported, answered, cpu]),
)}`;

export const typesSection = ({ types }: Report): string => `## Types

N definitions of ten attributes and one index, a query and an update each. For edgetable, N is N nodes and N edges over zod, a traversal, an update and a link each; the schemas alone and a misspelt edge name beside it. \`skipLibCheck\`; libraries by their declarations.

${table(
  [
    "project",
    "N",
    "compiler",
    "instantiations",
    "memory, MB",
    "seconds",
    ".d.ts of the definitions, KB",
    ".d.ts of the uses, KB",
    "errors",
  ],
  types.map((cost) => [
    cost.project,
    String(cost.count),
    cost.compiler,
    cost.instantiations,
    cost.memory,
    cost.seconds,
    cost.declarations,
    cost.useDeclarations,
    String(cost.errors),
  ]),
)}`;
