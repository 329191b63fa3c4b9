import { callNames } from "../calls/calls.ts";
import type { CandidateName } from "../calls/candidates.ts";
import { standingsOf } from "../calls/ratios.ts";
import { runCalls } from "../calls/run.ts";

// The section "calls" in small: `ratio.js <rounds> [candidate…]`.
const [rounds = "3", ...chosen] = process.argv.slice(2);
const candidates = chosen.length > 0 ? (chosen as CandidateName[]) : (["lib-dynamodb", "hand-written", "edgetable"] as const);
const plan = {
  candidates,
  rounds: Number(rounds),
  blocks: { 1: 200, 32: 512 },
  warmUp: 1500,
  seed: 20_261_121,
  service: "engine",
} as const;
for (const { candidate, concurrency, cpu, cpuRatio, rateRatio } of standingsOf(await runCalls(plan, () => undefined))) {
  const calls = callNames.map((call) => cpu[call].toFixed(0).padStart(6)).join("");
  process.stdout.write(
    `${candidate.padEnd(14)} ${String(concurrency).padStart(2)} ${calls} | cpu ${cpuRatio.toFixed(3)} rate ${rateRatio.toFixed(2)}\n`,
  );
}
process.exit(0);
