import { startEngine } from "@edgetable/local";
import { defineGraph, node } from "edgetable";
import { expect, test } from "vitest";
import { z } from "zod";
import type { UntypedDb } from "../connection.ts";
import { watchChanges } from "./live.ts";

const graph = defineGraph({ table: "Watched", nodes: { thing: node({ key: "THING#{id}", schema: z.object({ id: z.string() }) }) } });

test("a page that watched before the studio was started again sees what changes from then on", async () => {
  const engine = await startEngine();
  const db = graph.connect({ endpoint: engine.endpoint });
  await db.table.create({ stream: true });
  const watch = watchChanges(graph, db as unknown as UntypedDb, { endpoint: engine.endpoint });
  try {
    const { signal } = new AbortController();
    const asked = watch.changes(400, signal);
    const answers: unknown[] = [];
    void asked.then((answer) => answers.push(answer));
    // The watch begins with what is written after its first question.
    for (let at = 0; answers.length === 0 && at < 600; at++) {
      await db.thing.put({ id: String(at) }).orThrow();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { changes, last } = await asked;
    expect(changes.length).toBeGreaterThan(0);
    expect(changes[0]).toMatchObject({ number: 1, kind: "insert" });
    expect(last).toBeGreaterThanOrEqual(changes.length);
  } finally {
    watch.close();
    await db.close();
    await engine.stop();
  }
});
