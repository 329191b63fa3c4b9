import { createLeanTransport } from "edgetable";
import type { Transport } from "edgetable";
import { answerParent } from "../../workers/child.ts";
import { placeOf } from "../store/place.ts";
import { tasks, timesFrom } from "./model.ts";
import type { TasksDb, TasksIndex } from "./model.ts";

/** Pages read one after the other. */
export interface PageBlock {
  readonly index: TasksIndex;
  readonly limit: number;
  /** The minutes at which the pages begin. */
  readonly from: readonly number[];
  /** Milliseconds that every request takes longer, as on a network. */
  readonly latency: number;
}

export interface PageTimes {
  /** Milliseconds for all pages. */
  readonly wall: number;
  readonly requests: number;
}

const slowed = (transport: Transport, latency: number): Transport => ({
  async send(...request) {
    await new Promise((resolve) => setTimeout(resolve, latency));
    return transport.send(...request);
  },
  close: () => transport.close(),
});

const [endpoint = ""] = process.argv.slice(2);
const connected = new Map<number, TasksDb>();
const connect = (latency: number): TasksDb => {
  const known = connected.get(latency);
  if (known) return known;
  const transport = createLeanTransport(placeOf(endpoint));
  const db = tasks.connect({ transport: latency > 0 ? slowed(transport, latency) : transport });
  connected.set(latency, db);
  return db;
};

answerParent<PageBlock>(async ({ index, limit, from, latency }) => {
  const db = connect(latency);
  let requests = 0;
  let wall = 0;
  for (const minute of from) {
    const [first = "", ...others] = timesFrom(minute, limit);
    const before = performance.now();
    const page = await db
      .find("task")
      .where({ dueAt: { gte: first } })
      .using(index)
      .page({ limit })
      .report();
    wall += performance.now() - before;
    requests += page.requests.length;
    const times = page.value.items.map(({ dueAt }) => dueAt);
    if (times.join() !== [first, ...others].join())
      throw new Error(`scatter: a page of ${index} is not the ${limit} tasks from ${first} on`);
  }
  return { wall, requests } satisfies PageTimes;
});
