import type { Size } from "../bundle/bundle.ts";
import { ours } from "../report.ts";
import type { Report } from "../report.ts";
import { round, table } from "./markdown.ts";

const size = (value: Size | undefined): string => (value ? `${round(value.minified / 1000)} / ${round(value.gzip / 1000)}` : "–");

const ownFiles = ({ bytes }: Report): string => {
  const files = bytes.find(({ candidate }) => candidate === ours)?.files;
  return files
    ? `edgetable's files under the condition \`production\`, each minified by itself: the import loads ${size(files.atOnce)}, the eight calls ${size(files.byEightCalls)}, which the budget counts. Without the condition, with the checks of models: ${size(files.withChecks)}.

What the eight calls load, by folder:

${table(
  ["folder", "files", "minified, KB", "gzip, KB"],
  files.folders.map((part) => [part.name, String(part.files), part.minified / 1000, part.gzip / 1000]),
)}`
    : "";
};

export const bytesSection = (report: Report): string => `## Bytes

KB minified / gzip by esbuild for Node. edgetable's eight calls include the schema library: zod, or for \`edgetable-mini\` zod/mini. The others bring their own. Its optional peers, the SDK's client and credential provider, stay outside: an application on the lean transport does not install them.

${table(
  ["client", "all that the library exports, SDK outside", "the eight calls, SDK outside", "the eight calls, SDK inside"],
  report.bytes.map(({ candidate, whole, used, withSdk }) => [candidate, size(whole), size(used), size(withSdk)]),
)}

${ownFiles(report)}`;

export const coldStartSection = ({ coldStart }: Report): string => `## Cold start

Milliseconds above an empty process, the fastest start of many on both sides; one bundled file with everything inside, the schema library too (\`edgetable-mini\`: zod/mini in place of zod). Split: bundled by esbuild with \`splitting\`, which Rollup, Vite and webpack do by default; the others load nothing late. Unbundled: the packages alone as npm installs them, ElectroDB's with the SDK's client and without a schema library on either side.

${table(
  ["client", "imported", "imported, unbundled", "first GetItem answered", "answered, split", "CPU until answered"],
  coldStart.map(({ candidate, imported, installed, answered, answeredSplit, cpu }) => [
    candidate,
    imported,
    installed,
    answered,
    answeredSplit,
    cpu,
  ]),
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
