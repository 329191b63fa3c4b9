import { startEngine } from "../engine/engine.ts";
import { callNames } from "../calls/calls.ts";
import type { CallName, Calls, Connect } from "../calls/calls.ts";
import { loadSystem } from "../calls/load.ts";
import { createTable } from "../calls/table.ts";
import { workload } from "../calls/workload.ts";
import { measureBlock } from "../measure/block.ts";

// `wire.js <seconds> <concurrency> <candidate> [call…]`: CPU a call against the real engine, median of blocks.
const [seconds = "1", concurrency = "1", candidate = "edgetable", ...chosen] = process.argv.slice(2);
const names = chosen.length > 0 ? (chosen as CallName[]) : callNames;
const { connect } = (
  candidate === "edgetable" ? await import("../calls/candidates/edgetable.ts") : await import("../calls/candidates/hand-written.ts")
) as { readonly connect: Connect };

const engine = await startEngine();
await createTable(engine.endpoint, "Profile");
const calls: Calls = await connect({ endpoint: engine.endpoint, table: "Profile" });
await loadSystem(calls);
let logs = 0;
let first = 0;
for (const name of names) {
  const times: number[] = [];
  const end = performance.now() + Number(seconds) * 1000;
  const run =
    name === "enrol"
      ? async (index: number) => workload.enrol(calls, index).catch(() => undefined)
      : name === "delete"
        ? async (index: number) => workload.delete(calls, index).catch(() => undefined)
        : (index: number) => workload[name](calls, index);
  for (; performance.now() < end; first += 100)
    times.push((await measureBlock(run, { first, count: 100, concurrency: Number(concurrency) })).cpu);
  times.sort((a, b) => a - b);
  const low = times[times.length >> 2] as number;
  logs += Math.log(low);
  process.stdout.write(`${name} ${low.toFixed(0)}  `);
  first = 0;
}
process.stdout.write(`| mean ${Math.exp(logs / names.length).toFixed(1)}\n`);
await calls.close();
await engine.stop();
process.exit(0);
