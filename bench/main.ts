import { candidateNames } from "./calls/candidates.ts";
import { standingsOf } from "./calls/ratios.ts";
import { runCalls } from "./calls/run.ts";
const samples = await runCalls({ candidates: candidateNames, rounds: 2, blocks: { 1: 60, 32: 128 }, warmUp: 150, seed: 1 }, console.log);
for (const s of standingsOf(samples)) console.log(s.candidate, s.concurrency, s.cpuRatio.toFixed(2), s.rateRatio.toFixed(2), s.waver.toFixed(2), JSON.stringify(Object.fromEntries(Object.entries(s.cpu).map(([k, v]) => [k, Math.round(v)]))));
