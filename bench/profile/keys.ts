import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { makeSchemas } from "../calls/candidates/edgetable.ts";
import { open } from "../calls/candidates/edgetable/education.ts";
import { studentAt } from "../calls/data.ts";

// `keys.js <items> [report | ignore]`: a load into a service that takes everything at once, tenth by tenth. What
// `report` takes beyond `ignore` is the finding of rows that make the same key.
const [items = "1000000", collisions = "report"] = process.argv.slice(2);
const tenth = Math.ceil(Number(items) / 10);
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const delays = monitorEventLoopDelay({ resolution: 1 });

let cpu = process.cpuUsage();
const tell = (rows: number): void => {
  const { user, system } = process.cpuUsage(cpu);
  const longest = delays.max / 1e6;
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  const [heap, all] = [(heapUsed + external) / 2 ** 20, rss / 2 ** 20];
  process.stdout.write(
    `${rows} rows: ${((user + system) / tenth).toFixed(2)} µs of CPU a row, ${heap.toFixed(1)} MB of heap and beside it, ${all.toFixed(0)} MB resident, longest turn ${longest.toFixed(0)} ms\n`,
  );
  delays.reset();
  cpu = process.cpuUsage();
};

function* rows(): Generator<{ readonly node: "student"; readonly row: ReturnType<typeof studentAt> }> {
  for (let index = 0; index < Number(items); index++) {
    if (index > 0 && index % tenth === 0) tell(index);
    yield { node: "student", row: studentAt(index, "L") };
  }
}

const db = open(makeSchemas(), {
  endpoint: "http://127.0.0.1:1",
  table: "Keys",
  tap: () => async () => ({ UnprocessedItems: {} }) as never,
});
delays.enable();
await db.load(rows(), { collisions: collisions === "ignore" ? "ignore" : "report" });
tell(Number(items));
await db.close();
