import { ours } from "../report.ts";
import type { Report } from "../report.ts";
import { round } from "./markdown.ts";

interface Figure {
  readonly candidate: string;
  readonly value: number | undefined;
}
interface Contest {
  readonly what: string;
  readonly figures: readonly Figure[];
  readonly better: "lower" | "higher";
  readonly why: string;
}

const why = {
  cpu: "A client written by hand for one table knows every attribute at build time: it validates nothing, plans nothing, meters nothing and does not retry. Ours does all four on each call.",
  bytes:
    "Ours carries its own transport, signer, codec and planner; a client for one table carries only what eight calls need. Over zod it also carries zod (the line `edgetable-mini` of the table is without).",
  coldStart:
    "The rest is the schema library, and compiling more code than eight calls need. Node's own net and tls are loaded from `connect()` on: the first answer pays for them, the import does not.",
  types: "OneTable infers little: attributes come back as the union of what a field may hold, and misspelt names pass.",
} as const;

const contests = (report: Report): readonly Contest[] => [
  ...report.calls
    .filter(({ candidate }) => candidate === ours)
    .flatMap(({ concurrency }): Contest[] => {
      const standings = report.calls.filter((standing) => standing.concurrency === concurrency);
      return [
        {
          what: `CPU a call, ${concurrency} at a time`,
          figures: standings.map(({ candidate, cpuRatio }) => ({ candidate, value: cpuRatio })),
          better: "lower",
          why: why.cpu,
        },
        {
          what: `calls a second, ${concurrency} at a time`,
          figures: standings.map(({ candidate, rateRatio }) => ({ candidate, value: rateRatio })),
          better: "higher",
          why: why.cpu,
        },
      ];
    }),
  {
    what: "KB of the eight calls with all they need (gzip)",
    figures: report.bytes.map(({ candidate, withSdk }) => ({ candidate, value: withSdk.gzip / 1000 })),
    better: "lower",
    why: why.bytes,
  },
  {
    what: "import, ms",
    figures: report.coldStart.map(({ candidate, imported }) => ({ candidate, value: imported })),
    better: "lower",
    why: why.coldStart,
  },
  {
    what: "first answer, ms",
    figures: report.coldStart.map(({ candidate, answered }) => ({ candidate, value: answered })),
    better: "lower",
    why: why.coldStart,
  },
  {
    what: "instantiations at 50",
    figures: report.types
      .filter(({ count, compiler }) => count === 50 && compiler === "typescript")
      .map(({ project, instantiations }) => ({ candidate: project, value: instantiations })),
    better: "lower",
    why: why.types,
  },
];

const ownKin = (candidate: string): boolean => candidate.startsWith(ours);

const lossOf = ({ what, figures, better, why: reason }: Contest): string | undefined => {
  const own = figures.find(({ candidate }) => candidate === ours)?.value;
  if (own === undefined) return undefined;
  const beats = (value: number): boolean => (better === "lower" ? value < own : value > own);
  const winners = figures.filter(({ candidate, value }) => value !== undefined && !ownKin(candidate) && beats(value));
  if (winners.length === 0) return undefined;
  return `- **${what}**: ours ${round(own)}; ${winners.map(({ candidate, value }) => `${candidate} ${round(value as number)}`).join(", ")}. ${reason}`;
};

/** Every contest in which somebody is ahead of us, found in the figures, with the reason. */
export const lossesSection = (report: Report): string => {
  const losses = contests(report)
    .map(lossOf)
    .filter((loss) => loss !== undefined);
  return `## Where we lose and why\n\n${losses.length === 0 ? "Nowhere in this run." : losses.join("\n")}`;
};
