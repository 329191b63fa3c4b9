import { startEngine } from "../engine/engine.ts";
import { connect } from "../calls/candidates/edgetable.ts";
import { callNames } from "../calls/calls.ts";
import type { CallName } from "../calls/calls.ts";
import { loadSystem } from "../calls/load.ts";
import { createTable } from "../calls/table.ts";
import { workload } from "../calls/workload.ts";
import { measureBlock } from "../measure/block.ts";
import { createCanned } from "../share/canned.ts";
import { knownPlans } from "../plan/plans.ts";

// `share.js [seconds a call] [call…]`: the least CPU of many blocks, answers from memory and, as `wire`, from the engine.
const [seconds = "1", ...chosen] = process.argv.slice(2);
const names = chosen.length > 0 ? (chosen as CallName[]) : callNames;

const leastOf = async (call: (index: number) => Promise<unknown>, count: number): Promise<number> => {
  let least = Number.POSITIVE_INFINITY;
  const end = performance.now() + Number(seconds) * 1000;
  for (let first = 0; performance.now() < end; first += count)
    least = Math.min(least, (await measureBlock(call, { first, count, concurrency: 1 })).cpu);
  return least;
};

const engine = await startEngine();
await createTable(engine.endpoint, "Profile");
const canned = createCanned();
const calls = await connect({ endpoint: engine.endpoint, table: "Profile", tap: canned.tap });
await loadSystem(calls);
const plans = knownPlans();
const figures: Record<string, { readonly share: string; readonly plan: string }> = {};
for (const name of names) {
  canned.record(name);
  await workload[name](calls, 0);
  canned.replay(name);
  const share = await leastOf(() => workload[name](calls, 0), 500);
  const plan = await leastOf(plans[name], 500);
  figures[name] = { share: share.toFixed(1), plan: plan.toFixed(1) };
}
process.stdout.write(`${JSON.stringify(figures)}\n`);
await calls.close();
await engine.stop();
process.exit(0);
