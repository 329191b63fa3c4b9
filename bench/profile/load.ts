import { runLoad } from "../load/run.ts";
import { sides } from "../load/sides.ts";

// `npm run bench:load` in small: `load.js <items> <segment>`.
const [items = "40000", segment = "2000"] = process.argv.slice(2);
const loads = await runLoad({ sides, items: Number(items), segment: Number(segment), seed: 1 }, () => undefined);
for (const { side, rate, rateRatio, cpu, heap, heapGrowth } of loads)
  process.stdout.write(
    `${side}: ${rate.toFixed(0)}/s ratio ${rateRatio.toFixed(3)} cpu ${cpu.toFixed(1)} µs heap ${heap.map((megabytes) => megabytes.toFixed(1)).join(" ")} growth ${heapGrowth.toFixed(2)} MB\n`,
  );
process.exit(0);
