import type { Standing } from "../calls/ratios.ts";
import { callNames } from "../calls/calls.ts";
import type { Report } from "../report.ts";
import { shareCalls } from "../share/share-calls.ts";
import { round, table } from "./markdown.ts";

const at = (standings: readonly Standing[], concurrency: number): readonly Standing[] =>
  standings.filter((standing) => standing.concurrency === concurrency);

const summary = (standings: readonly Standing[]): string => {
  const together = at(standings, 32);
  return table(
    ["client", "CPU a call, 1 at a time", "CPU a call, 32 at a time", "calls a second, 32 at a time", "largest waver"],
    at(standings, 1).map((alone) => {
      const other = together.find(({ candidate }) => candidate === alone.candidate);
      return [
        alone.candidate,
        alone.cpuRatio,
        other?.cpuRatio,
        other?.rateRatio,
        `±${Math.round(100 * Math.max(alone.waver, other?.waver ?? 0))} %`,
      ];
    }),
  );
};

const perCall = (standings: readonly Standing[], figure: "cpu" | "rate" | "cpuRatios"): string =>
  table(
    ["client", ...callNames],
    standings.map((standing) => [standing.candidate, ...callNames.map((call) => standing[figure][call])]),
  );

export const callsSection = ({ calls, recorded }: Report): string => `## Client CPU and rate of the eight calls

Relative to lib-dynamodb, geometric mean over the eight calls. CPU: lower is better; calls a second: higher is better.

${summary(calls)}

### µs of CPU a call, 1 at a time
${perCall(at(calls, 1), "cpu")}

### µs of CPU a call, 32 at a time
${perCall(at(calls, 32), "cpu")}

### CPU relative to lib-dynamodb, 32 at a time
${perCall(at(calls, 32), "cpuRatios")}

### Calls a second, 32 at a time
The engine works on one request at a time and shares the cores with the client: at this end it is what limits the quick clients.

${perCall(at(calls, 32), "rate")}

### Calls a second, 32 at a time, of a service that is not the limit
Each candidate's own requests and the engine's answers to them, recorded while it passed the gate and warmed up, then answered from memory by a process on the other core: what a client does in a second where the service, as DynamoDB, takes whatever it sends. Relative to lib-dynamodb, geometric mean over the eight calls: ${recorded.map(({ candidate, rateRatio }) => `${candidate} ${round(rateRatio)}`).join(", ")}.

${perCall(recorded, "rate")}`;

export const shareSection = ({ share }: Report): string => `## The library's own share

µs of CPU a call with the service replaced by a canned answer. For the libraries over the SDK, the SDK is replaced with it (their figures leave out its marshalling, signing and HTTP); lib-dynamodb's own line is what building the commands costs. edgetable's is measured above its transport. The hand-written client's covers everything from the call to signed bytes and from text back to rows.

${table(
  ["client", ...shareCalls],
  share.map(({ candidate, cpu }) => [candidate, ...shareCalls.map((call) => cpu[call])]),
)}`;

export const planSection = ({ plan }: Report): string => `## Planning a call

µs of CPU from the call to its exact requests. A connection plans a form of read once and keeps the plan: a form is new when the connection has not seen it. Writes are planned from their values each time. Ratios are to the AWS SDK's marshalling of one student, timed in the same rounds.

${table(
  ["call", "known form, µs", "to a marshalling", "new form, µs", "to a marshalling"],
  [...new Set(plan.map(({ call }) => call))].map((call) => [
    call,
    ...(["known", "new"] as const).flatMap((form) => {
      const time = plan.find((one) => one.call === call && one.form === form);
      return [time?.micros, time?.marshallings];
    }),
  ]),
)}`;

const loadHeads = [
  "loader",
  "items a second",
  "rate to the bare loop's",
  "µs of CPU an item",
  "heap after a quarter, MB",
  "heap at the end, MB",
  "growth, MB",
];

export const loadSection = ({ load }: Report): string => {
  const [first] = load;
  if (!first) return "## Bulk load\n\nNot measured in this run.";
  const rows = load.map(({ side, rate, rateRatio, cpu, heap, heapGrowth }) => {
    const [quarter, end] = [heap[heap.length >> 2], heap.at(-1)];
    return [side, rate, rateRatio, cpu, quarter, end, heapGrowth];
  });
  return `## Bulk load\n\n${round(first.items)} items each, in one call each, in turns on one engine.\n\n${table(loadHeads, rows)}`;
};
