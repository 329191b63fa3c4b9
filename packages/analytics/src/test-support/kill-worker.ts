import { createLeanTransport, type Transport } from "edgetable";
import { openLake, pageRank, writeBack } from "../index.ts";
import { rankedPages } from "./ranked-pages.ts";

/** The process that dies in the middle of a write-back. */
interface Orders {
  readonly endpoint: string;
  readonly folder: string;
  /** The write of a page at which it dies, from 1; 0 to finish. */
  readonly dieAt: number;
  readonly phase: "before" | "during" | "after";
}

const { endpoint, folder, dieAt, phase } = JSON.parse(process.argv[2] ?? "{}") as Orders;
const die = (): void => {
  process.kill(process.pid, "SIGKILL");
};

const inner = createLeanTransport({ endpoint });
let writes = 0;
const mortal: Transport = {
  send: async (operation, input, options) => {
    const mine = operation === "UpdateItem" && !JSON.stringify(input).includes('"~job"') && ++writes === dieAt;
    if (mine && phase === "before") die();
    const answer = inner.send(operation, input, options);
    if (mine && phase === "during") setImmediate(die);
    // Also after a refusal: on a slow machine a lost lease begins again with items that are already written.
    return answer.finally(() => mine && phase === "after" && die());
  },
  close: () => inner.close(),
};

const db = rankedPages.connect({ transport: mortal });
const lake = await openLake(folder, { memoryLimit: "256MB", threads: 1 });
const to = { page: { rank: "rank" } };
for (;;) {
  try {
    const report = await writeBack(db, lake, pageRank(lake), { to, lease: 200, unitsPerSecond: 100_000 });
    process.stdout.write(JSON.stringify(report));
    break;
  } catch (error) {
    // The lease of the process that died before.
    if ((error as { readonly code?: string }).code !== "job.busy") throw error;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
lake.close();
await inner.close();
