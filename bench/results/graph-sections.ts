import type { MixResult } from "../graph/mixes/run.ts";
import type { WalkResult } from "../graph/walks/run.ts";
import type { Report } from "../report.ts";
import { round, table } from "./markdown.ts";

const walkName = ({ direction, depth }: WalkResult): string => `${depth} hops ${direction === "out" ? "out" : "both ways"}`;

const walkRows = (walks: readonly WalkResult[]): string =>
  table(
    ["neighbourhood", "client", "nodes found", "requests", "ms", "ms of client CPU", "time to hand-written", "CPU to hand-written"],
    walks.map((walk) => [walkName(walk), walk.side, walk.found, walk.requests, walk.wall, walk.cpu, walk.ratio, walk.cpuRatio]),
  );

const walksOf = (walks: readonly WalkResult[], graph: WalkResult["graph"], title: string): string => {
  const own = walks.filter((walk) => walk.graph === graph);
  return own[0] ? `### ${title}, ${round(own[0].nodes)} nodes, ${round(own[0].edges)} edges\n\n${walkRows(own)}` : "";
};

export const walksSection = ({ walks }: Report): string => `## Neighbourhoods

The ids of every node within so many hops, one walk at a time, at most 32 requests under way; figures are means over walks from several nodes. Every walk of every client is compared with a breadth-first search in memory. Each client first sends 20,000 requests of each kind (10,000 in the reduced form): what is timed is a process that has been up for some seconds, not its first walks. In rounds all walk the same, in random order, on one engine with the library's own items; times are the lower quartile of the rounds, for what else a machine does only adds to them. The engine answers one request at a time, so that what it is not asked to send counts most.

${walksOf(walks, "scale-free", "Scale-free")}

${walksOf(walks, "linkbench", "LinkBench's out-degrees")}`;

export const growthSection = ({ growth }: Report): string => `## A fixed neighbourhood in a growing graph

Three hops out, always the same 155 nodes by 31 requests, whatever stands around them. The hand-written client's line is the engine's share.

${table(
  ["client", "edges in the table", "ms", "to the smallest graph"],
  growth.map(({ side, edges, wall, ratio }) => [side, round(edges), wall, ratio]),
)}`;

export const frontierSection = ({ frontier }: Report): string => `## Memory of a frontier

A walk of two hops whose last layer has ${round(frontier[0]?.ids ?? Number.NaN)} ids, in a fresh process. Megabytes above what it held before: alive is what survives collections while the walk goes on, its answer included; resident has the garbage too, which Node takes as long as it may.

${table(
  ["client", "MB alive", "bytes an id", "MB resident", "seconds"],
  frontier.map(({ side, ids, live, resident, seconds }) => [side, live, (live * 2 ** 20) / ids, resident, seconds]),
)}`;

export const scatterSection = ({ scatter }: Report): string => `## A page from sixteen shards

The same page of the same tasks, by time, from an index of one partition and from one of sixteen, a page at a time. Bare, the engine's one lane makes sixteen requests take sixteen times one; with a latency, as every network has, they go side by side.

${table(
  ["page", "latency of a request, ms", "shards", "requests", "ms", "to one shard"],
  scatter.map(({ limit, latency, shards, requests, wall, ratio }) => [
    String(limit),
    String(latency),
    String(shards),
    requests,
    wall,
    ratio,
  ]),
)}`;

const mixTitles = { tao: "TAO's reads", linkbench: "LinkBench's mix" } as const;

const mixTable = ({ mix, nodes, edges, requesters, rate, cpu, calls }: MixResult): string =>
  `### ${mixTitles[mix]}, ${requesters} at a time: ${round(rate)} calls a second, ${round(cpu)} µs of client CPU each

${round(nodes)} nodes, ${round(edges)} links. Milliseconds:

${table(
  ["call", "calls", "mean", "p25", "p50", "p75", "p95", "p99", "max"],
  calls.map((call) => [call.name, round(call.count), call.mean, call.p25, call.p50, call.p75, call.p95, call.p99, call.max]),
)}`;

export const mixesSection = ({ mixes }: Report): string => `## LinkBench and TAO

Over the library's one-hop calls, on a graph with LinkBench's out-degrees: objects of 128 bytes, links of 8, lists newest first by an index; whom a call is about is drawn by Zipf's law (0.8 for reads, 0.741 for writes). No counts are kept: a count reads the list's keys.

${mixes.map(mixTable).join("\n\n")}`;
