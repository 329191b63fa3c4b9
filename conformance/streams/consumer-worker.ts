import { setTimeout as pause } from "node:timers/promises";
import { count, defineGraph, edge, node } from "edgetable";
import { createStreamConsumer } from "edgetable/streams";
import { z } from "zod";

/** What a consumer's process is told, as JSON in its first argument. */
export interface ConsumerOrders {
  readonly endpoint: string;
  readonly table: string;
  readonly lease: number;
  readonly batchSize: number;
  /** Milliseconds that the handler works on one event. */
  readonly work: number;
  /** Sabotage: the handler answers before its work is done, so that positions are saved ahead of it. */
  readonly answersEarly: boolean;
}

const id = z.string();

/** Students whose turns count on, and courses whose students the stream counts. */
export const turnsIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id, turn: z.number() }) }),
      course: node({ key: "COURSE#{id}", schema: z.object({ id }), derived: { students: count({ in: "takes", freshness: "stream" }) } }),
    },
    edges: { takes: edge({ from: "student", to: "course" }) },
  });

const consume = async ({ endpoint, table, lease, batchSize, work, answersEarly }: ConsumerOrders): Promise<void> => {
  const db = turnsIn(table).connect({ endpoint });
  const tell = async ({ after }: { readonly after: { readonly id: string; readonly turn: number } }): Promise<void> => {
    await pause(work);
    // What is written to a pipe stays when the process dies.
    process.stdout.write(`${after.id} ${after.turn}\n`);
  };
  let last = Promise.resolve();
  const queue = (event: Parameters<typeof tell>[0]): void => void (last = last.then(() => tell(event)));
  const handle = answersEarly ? queue : tell;
  const handlers = { turns: { on: "student", created: handle, updated: handle } } as const;
  const options = { lease, batchSize, concurrency: 4, pollInterval: 50, discovery: 200, indexLag: 0 };
  const stopping = new AbortController();
  process.once("SIGTERM", () => stopping.abort());
  const report = await createStreamConsumer(db, handlers, options).run({ signal: stopping.signal });
  if (report.gaps + report.deadLetters > 0) throw new Error(`The consumer reports ${JSON.stringify(report)}.`);
  await db.close();
};

const [, , orders] = process.argv;
// Tests import the model alone.
if (orders?.startsWith("{")) await consume(JSON.parse(orders) as ConsumerOrders);
