import type { WalkCollect } from "../ir/walk-plan.ts";
import type { WalkState } from "../query/walk.ts";
import { checkOptions, type OptionChecks, inRange } from "../util/check-options.ts";
import type { KeptChoice } from "../planner/kept-counts.ts";
import type {
  FeedOptions,
  GroupOptions,
  LevelOptions,
  PathOptions,
  PathsOptions,
  RankOptions,
  StoreCursor,
  WalkCountOptions,
  WalkOptions,
} from "./walk-types.ts";

/** Maximum value of a count in options. */
export const MAX_COUNT = 1_000_000_000;
const MAX_PATHS = 100_000;
const MAX_STORED_SECONDS = 2_592_000;

/** The valid options of every walk. */
export const walkOptions: OptionChecks<WalkOptions> = {
  budget: {
    requests: [1, MAX_COUNT],
    units: [1, MAX_COUNT],
    breadth: [1, MAX_COUNT],
    depth: [1, MAX_COUNT],
    time: [1, 86_400_000],
    memory: [1000, 1_000_000_000_000],
  },
  supernode: ["page", "sample", "refuse"],
  cursor: undefined,
  storeCursor: (given: StoreCursor, name: string) =>
    inRange(`${name}.seconds`, checkOptions(given, { seconds: undefined }, name).seconds, [1, MAX_STORED_SECONDS]),
};

/** The valid options of a walk that returns nodes. */
export const nodesOptions: OptionChecks<WalkOptions & { readonly select?: readonly string[] | undefined }> = {
  ...walkOptions,
  select: undefined,
};

/** The further valid options for groups, levels, the paths of a walk, and paths between two nodes. */
const groupOptions: OptionChecks<GroupOptions> = { ...walkOptions, top: [1, MAX_COUNT] };
export const levelOptions: OptionChecks<LevelOptions> = { ...walkOptions, sum: "string" };
export const pathOptions: OptionChecks<PathOptions> = { ...walkOptions, limit: [1, MAX_PATHS], simple: "boolean" };
export const pathsOptions: OptionChecks<PathsOptions> = { ...walkOptions, limit: [1, MAX_PATHS], depth: [1, MAX_COUNT] };

const MAX_FEED_NODES = 1000;
export const feedOptions: OptionChecks<FeedOptions> = {
  limit: [1, 10_000],
  cursor: undefined,
  of: ["edges", "nodes", "entries", "ids"],
  nodes: [1, MAX_FEED_NODES],
  beyond: ["refuse", "sample"],
  budget: { requests: [1, MAX_COUNT], units: [1, MAX_COUNT] },
};

const kept = ["transaction", "any", "none"] as const;
export const walkCountOptions: OptionChecks<WalkCountOptions> = { ...walkOptions, kept };
export const rankOptions: OptionChecks<RankOptions> = { ...groupOptions, kept, by: undefined };

/** The options of a walk, by what it collects. */
export const optionsOf: { readonly [Kind in WalkCollect["kind"]]?: OptionChecks<WalkOptions> } = {
  count: walkCountOptions,
  groups: groupOptions,
  aggregate: groupOptions,
  fold: groupOptions,
  levels: levelOptions,
  paths: pathOptions,
};

/** The result that a walk asks for. */
export interface WalkAsk {
  readonly state: WalkState;
  readonly collect: WalkCollect;
  readonly options: WalkOptions;
  readonly paths?: { readonly limit: number; readonly simple: boolean };
  /** The types of the nodes that are ranked by the edges of a last hop. */
  readonly ranked?: readonly string[];
  /** Which kept counts may replace counting the edges of a last hop. */
  readonly kept?: KeptChoice;
}
