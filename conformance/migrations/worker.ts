import { createLeanTransport, isEdgetableError } from "edgetable";
import { setTimeout as pause } from "node:timers/promises";
import { connectLast, connectNew } from "./model.ts";

/** What a worker is told, as JSON in its first argument. */
export interface Orders {
  readonly endpoint: string;
  readonly table: string;
  /** Whether no writer of the model before is left. */
  readonly finish: boolean;
  /** Whether what is renamed and retyped is to be stored so. */
  readonly last: boolean;
}

/** Milliseconds after which a killed worker's lease may be taken. */
const LEASE = 300;

const { endpoint, table, finish, last } = JSON.parse(process.argv[2] ?? "{}") as Orders;
const transport = createLeanTransport({ endpoint });
const { db } = (last ? connectLast : connectNew)(table, { transport, retry: { attempts: 60, maxDelay: 500 } });
process.stdout.write("begun\n");
for (;;) {
  try {
    const { complete } = await db.migrations.run({ finish, share: 100, lease: LEASE, indexLag: 0 });
    if (complete !== finish) throw new Error(`complete is ${complete}`);
    break;
  } catch (error) {
    if (!isEdgetableError(error, "job.busy")) throw error;
    await pause(50);
  }
}
await db.close();
await transport.close();
