import { createLeanTransport, defineGraph, edge, node } from "edgetable";
import { createStreamConsumer } from "edgetable/streams";
import { expect, test } from "vitest";
import { z } from "zod";
import { type LocalEngine, startEngine, sweepExpired } from "./index.ts";

const session = z.object({ token: z.string(), tags: z.set(z.string()).optional(), expiresAt: z.int() });
const graph = defineGraph({
  table: "Sessions",
  nodes: {
    session: node({ key: "SESSION#{token}", schema: session, ttl: "expiresAt" }),
    user: node({ key: "USER#{id}", schema: z.object({ id: z.string() }) }),
  },
  edges: { opened: edge({ from: "user", to: "session", schema: z.object({ expiresAt: z.int() }), ttl: "expiresAt", ends: "unchecked" }) },
});

/** What a consumer of the whole stream is told of what went away, as `kind token`. */
const goneOf = async (engine: LocalEngine): Promise<readonly string[]> => {
  const db = graph.connect({ endpoint: engine.endpoint });
  const gone: string[] = [];
  const tell =
    (kind: string) =>
    ({ before }: { readonly before: { readonly token?: string; readonly to?: { readonly token: string } } }) =>
      void gone.push(`${kind} ${before.token ?? before.to?.token}`);
  const handlers = {
    session: { on: "session", expired: tell("expired"), deleted: tell("deleted") },
    opened: { on: "opened", expired: tell("edge expired"), unlinked: tell("unlinked") },
  } as const;
  await createStreamConsumer(db, handlers, { from: "trim-horizon", name: `reader-${Math.random()}` }).run({ idle: 200 });
  await db.close();
  return gone.toSorted();
};

const past = Math.floor(Date.now() / 1000) - 60;
const filled = async (engine: LocalEngine): Promise<void> => {
  const db = graph.connect({ endpoint: engine.endpoint });
  await db.table.create({ stream: true });
  await db.session.put({ token: "swept", tags: new Set(["b", "a"]), expiresAt: past });
  await db.session.put({ token: "later", expiresAt: past + 3600 });
  await db.session.put({ token: "closed", expiresAt: past });
  await db.session.delete({ token: "closed" });
  await db.opened.put({ id: "ann" }, { token: "swept" }, { expiresAt: past });
  await db.close();
};
const expected = ["deleted closed", "edge expired swept", "expired swept"];

test("a reader of the stream is told that swept items expired, and that others were deleted, however often it reads", async () => {
  const engine = await startEngine();
  await filled(engine);
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  await sweepExpired(transport, { table: "Sessions", attribute: "expiresAt", now: Date.now() });
  expect(await goneOf(engine)).toEqual(expected);
  expect(await goneOf(engine)).toEqual(expected);
  await transport.close();
  await engine.stop();
});

test("so it is where the engine sweeps by itself", async () => {
  const engine = await startEngine({ sweepEvery: 100 });
  await filled(engine);
  const db = graph.connect({ endpoint: engine.endpoint, expired: "show" });
  while ((await db.session.get({ token: "swept" })) || (await db.opened.get({ id: "ann" }, { token: "swept" })))
    await new Promise((resolve) => void setTimeout(resolve, 10));
  await db.close();
  const gone = await goneOf(engine);
  expect(gone).toEqual(expect.arrayContaining(["edge expired swept", "expired swept"]));
  expect(gone).not.toContain("deleted swept");
  await engine.stop();
});
