import { extract } from "../index.ts";
import { network } from "./network-lake.ts";

/** An extraction that runs in a process of its own, whose files cannot grow beyond a limit; prints how it ended. */
const { endpoint, into } = JSON.parse(process.argv[2] ?? "{}") as { readonly endpoint: string; readonly into: string };
const db = network.connect({ endpoint });
try {
  await extract(db, { into, memoryLimit: "256MB", threads: 1 });
  process.stdout.write("complete");
} catch (error) {
  process.stdout.write(JSON.stringify({ code: (error as { readonly code?: string }).code, message: (error as Error).message }));
}
await db.close();
