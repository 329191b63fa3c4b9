import type * as Analytics from "@edgetable/analytics";
import type { Lake, Program } from "@edgetable/analytics";
import { didYouMean } from "edgetable";
import { usageError } from "../failure.ts";
import { loadModel, theGraph } from "../model.ts";
import { wholeNumber, type Invocation, type OptionSpec } from "../invocation.ts";

/** Options of a job. */
export interface JobOptions {
  readonly edges?: string;
  readonly rounds?: number;
  readonly damping?: number;
  readonly k?: number;
  readonly from?: string;
  readonly direction?: "out" | "in" | "both";
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly degreeAtMost?: number;
  readonly top?: number;
  readonly node?: string;
  readonly sum?: string;
  readonly along?: string;
  readonly edge?: string;
  readonly weight?: string;
  readonly times?: string;
  readonly at?: "source" | "target";
  readonly of?: string;
  readonly by?: string;
  readonly per?: string;
}

type Setting = keyof JobOptions;

interface JobSpec {
  readonly summary: string;
  readonly needs: readonly Setting[];
  readonly takes: readonly Setting[];
  /** The function of the analytics package. */
  readonly builder: keyof typeof Analytics;
  /** True if it follows from the model, and takes no options. */
  readonly ofModel?: true;
}

const jobs: Readonly<Record<string, JobSpec>> = {
  degrees: { summary: "the number of edges of each node", needs: [], takes: ["edges"], builder: "degrees" },
  "page-rank": {
    summary: "the importance of each node, by the nodes that lead to it",
    needs: [],
    takes: ["edges", "rounds", "damping"],
    builder: "pageRank",
  },
  components: { summary: "the connected components", needs: [], takes: ["edges"], builder: "components" },
  triangles: { summary: "the triangles through each node", needs: [], takes: ["edges"], builder: "triangles" },
  "k-core": {
    summary: "nodes that keep k neighbours among themselves",
    needs: ["k"],
    takes: ["edges"],
    builder: "kCore",
  },
  hops: {
    summary: "the smallest number of hops from a set of nodes",
    needs: ["from"],
    takes: ["edges", "direction", "atMost"],
    builder: "hops",
  },
  "common-neighbours": {
    summary: "pairs of nodes and the number of targets they share",
    needs: [],
    takes: ["edges", "atLeast", "degreeAtMost"],
    builder: "commonNeighbours",
  },
  recommend: {
    summary: "targets that share sources (who took this also took)",
    needs: [],
    takes: ["edges", "atLeast", "degreeAtMost", "top"],
    builder: "recommend",
  },
  "roll-up": {
    summary: "an attribute summed along a chain of edges",
    needs: ["node", "sum", "along"],
    takes: [],
    builder: "rollUp",
  },
  "roll-up-hierarchy": {
    summary: "an attribute summed over everything below a node",
    needs: ["node", "sum", "edge"],
    takes: ["direction"],
    builder: "rollUpHierarchy",
  },
  "weighted-sum": {
    summary: "edge weights summed at one end",
    needs: ["edge"],
    takes: ["weight", "times", "at"],
    builder: "weightedSum",
  },
  top: {
    summary: "the rows with the largest values, for each group",
    needs: ["of", "by"],
    takes: ["per", "top"],
    builder: "top",
  },
  derived: { summary: 'derived attributes of freshness "batch"', needs: [], takes: [], builder: "derived", ofModel: true },
  validation: {
    summary: "differences from what transactions and streams keep",
    needs: [],
    takes: [],
    builder: "validation",
    ofModel: true,
  },
};

/** The list of jobs in the help. */
export const jobsHelp: string = Object.entries(jobs)
  .map(([name, { summary }]) => `  ${name.padEnd(18)} ${summary}`)
  .join("\n");

/** Parses an option's text: `edges` becomes a list, `along` a chain, `times` a node type with its attribute. */
const parseSetting = (setting: Setting, value: unknown): unknown => {
  if (setting === "edges") return String(value).split(",");
  if (setting === "along")
    return String(value)
      .split(",")
      .map((hop) => {
        const [edge = "", direction = "out"] = hop.split(":");
        if (direction !== "out" && direction !== "in") throw usageError(`"${hop}" must be an edge, or an edge with :in.`);
        return { edge, direction };
      });
  if (setting !== "times") return value;
  const [node = "", attribute = ""] = String(value).split(".");
  if (node !== "" && attribute !== "") return { node, attribute };
  throw usageError(`--times needs a node type and an attribute, such as course.credits; it is "${String(value)}".`);
};

const flagOf = (setting: string): string => `--${setting.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const settings = new Set(Object.values(jobs).flatMap(({ needs, takes }) => [...needs, ...takes]));

/** The options that were given for a job, as they were written. */
export const givenSettings = (options: JobOptions): string =>
  [...settings].flatMap((setting) => (options[setting] === undefined ? [] : [`${flagOf(setting)} ${String(options[setting])}`])).join(" ");

/** Builds the program of the job that is named. @throws {cli.usage} for an unknown job, and for options that it lacks or does not take */
export const programOf = async (
  { args, options, io }: Invocation<JobOptions & { readonly model?: string }>,
  lake: Lake,
  module: typeof Analytics,
): Promise<Program> => {
  const name = args[0] ?? "";
  const job = Object.hasOwn(jobs, name) ? jobs[name] : undefined;
  if (!job) {
    const problem = name === "" ? "Name a job." : `There is no job "${name}".${didYouMean(name, Object.keys(jobs))}`;
    throw usageError(`${problem} The jobs: ${Object.keys(jobs).join(", ")}.`);
  }
  const known = [...job.needs, ...job.takes];
  const missing = job.needs.filter((setting) => options[setting] === undefined);
  if (missing.length > 0) throw usageError(`The job ${name} needs ${missing.map(flagOf).join(" and ")}.`);
  const unused = [...settings].filter((setting) => options[setting] !== undefined && !known.includes(setting));
  if (unused.length > 0)
    throw usageError(
      `The job ${name} does not take ${unused.map(flagOf).join(" or ")}. It takes ${known.map(flagOf).join(", ") || "no options"}.`,
    );
  if (job.ofModel) return (module[job.builder] as typeof Analytics.derived)(lake, theGraph(await loadModel(options.model, io.cwd)).catalog);
  const parsed: Record<string, unknown> = {};
  for (const setting of known) if (options[setting] !== undefined) parsed[setting] = parseSetting(setting, options[setting]);
  return (module[job.builder] as (lake: Lake, options: object) => Program)(lake, parsed);
};

/** Parses a share. */
export const parseShare = (text: string): number => {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && value <= 1) return value;
  throw usageError("It must be a number from 0 to 1.");
};

const count = wholeNumber(1_000_000);

/** The options of all jobs. */
export const jobOptions: readonly OptionSpec[] = [
  { flags: "--edges <names>", text: "edge types to follow, separated by commas (default: all)" },
  { flags: "--rounds <n>", text: "page-rank: rounds (default: 20)", parse: wholeNumber(1000) },
  { flags: "--damping <share>", text: "page-rank: the share of a rank that follows edges (default: 0.85)", parse: parseShare },
  { flags: "--k <n>", text: "k-core: neighbours that each node must keep", parse: count },
  { flags: "--from <select>", text: "hops: a SELECT that returns the start nodes in a column named node" },
  {
    flags: "--direction <way>",
    text: "hops: the direction in which to follow edges; roll-up-hierarchy: out if edges lead from a child to its parent, in if from a parent to its child (default: out)",
    choices: ["out", "in", "both"],
  },
  { flags: "--at-most <n>", text: "hops: maximum number of hops (default: 1000)", parse: wholeNumber(1000) },
  { flags: "--at-least <n>", text: "common-neighbours, recommend: how many nodes a pair must share (default: 2)", parse: count },
  { flags: "--degree-at-most <n>", text: "common-neighbours, recommend: skip nodes with more edges (default: 1000)", parse: count },
  { flags: "--top <n>", text: "recommend, top: rows per group (default: 10)", parse: wholeNumber(10_000) },
  { flags: "--node <type>", text: "roll-up, roll-up-hierarchy: the node type whose attribute is summed" },
  { flags: "--sum <attribute>", text: "roll-up, roll-up-hierarchy: the attribute to sum" },
  { flags: "--along <edges>", text: "roll-up: the edges to follow in order, such as billOf,owes:in" },
  { flags: "--edge <name>", text: "weighted-sum, roll-up-hierarchy: the edge type" },
  { flags: "--weight <attribute>", text: "weighted-sum: the weight attribute of the edge (default: weight 1)" },
  { flags: "--times <node.attribute>", text: "weighted-sum: an attribute to multiply the weight by" },
  { flags: "--at <end>", text: "weighted-sum: the end that receives the sum (default: source)", choices: ["source", "target"] },
  { flags: "--of <name>", text: "top: a node, edge or part" },
  { flags: "--by <attribute>", text: "top: the attribute to rank rows by" },
  { flags: "--per <attribute>", text: "top: the attribute to group rows by" },
];
