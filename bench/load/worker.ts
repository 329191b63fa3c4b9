import { studentAt } from "../calls/data.ts";
import type { Student } from "../calls/calls.ts";
import { answerParent } from "../workers/child.ts";
import { loaderOf } from "./sides.ts";
import type { Side } from "./sides.ts";

/** One stretch of the load, from the parent's word until the loader asks for the first row after it. */
export interface Segment {
  readonly seconds: number;
  readonly cpu: number;
  /** Megabytes on the heap and beside it after a collection. */
  readonly heap: number;
}

const [side, endpoint = "", table = "", items = "0", segmentItems = "1"] = process.argv.slice(2);
const load = await loaderOf(side as Side);

let finished: (segment: Segment) => void = () => undefined;
let proceed: () => void = () => undefined;
let started = 0;
let cpuStarted = process.cpuUsage();

const endSegment = (): void => {
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpuStarted);
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  finished({ seconds, cpu: (user + system) / 1e6, heap: (heapUsed + external) / 2 ** 20 });
};

// The whole load is one call of the loader; between segments its source just takes its time.
async function* rows(): AsyncGenerator<Student> {
  for (let index = 0; index < Number(items); index++) {
    if (index > 0 && index % Number(segmentItems) === 0) {
      const turn = new Promise<void>((resolve) => {
        proceed = resolve;
      });
      endSegment();
      await turn;
    }
    yield studentAt(index, "L");
  }
}

answerParent<{ readonly first: boolean }>(({ first }) => {
  const segment = new Promise<Segment>((resolve, reject) => {
    finished = resolve;
    if (first) load(rows(), { endpoint, table }).then(endSegment, reject);
  });
  started = performance.now();
  cpuStarted = process.cpuUsage();
  if (!first) proceed();
  return segment;
});
