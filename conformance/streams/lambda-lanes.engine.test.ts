import { createStreamSource, deliverToLambda, seededRandom } from "@edgetable/testing";
import { createLeanStreamTransport, createStreamHandler } from "edgetable/streams";
import { expect, test } from "vitest";
import { openFactsLab } from "../../packages/edgetable/src/streams/facts-lab.test-support.ts";
import { testRuns, testSeed, testTime } from "../engines/property-runs.ts";
import { streamModel } from "./model.ts";
import { wrongFacts } from "./recompute.ts";

const seed = testSeed();

test.each(["dynamodb", "kinesis"] as const)(
  `facts are right behind lanes of %s, seed ${String(seed)}`,
  { timeout: testTime(600_000) },
  async (format) => {
    for (let run = 0; run < testRuns(2); run++) {
      const random = seededRandom(seed + run);
      const { db, lab } = await openFactsLab(streamModel);
      const inner = createLeanStreamTransport({ endpoint: lab.engine.endpoint });
      try {
        const source = createStreamSource(inner, lab.table, { seed: seed + run });
        const pick = (prefix: string, end: number) => ({ id: `${prefix}${String(Math.floor(random() * end))}` });
        for (let step = 0; step < 60; step++) {
          const [invoice, payer, line] = [pick("i", 3), pick("p", 2), { line: String(Math.floor(random() * 3)) }];
          const writes = [
            () => db.invoice.put(invoice),
            () => db.payer.put({ ...payer, name: pick("n", 4).id }),
            () => db.billed.put(invoice, payer, { term: "1" }),
            () => db.billed.unlink(invoice, payer, { key: { term: "1" } }),
            () => db.line.put(invoice, { ...line, amount: Math.floor(random() * 60) / 10 }),
            () => db.line.delete(invoice, line),
            () => db.knows.link(pick("p", 2), pick("p", 2)),
            () => db.invoice.delete(invoice, { indexLag: 0 }),
          ];
          await writes[Math.floor(random() * writes.length)]?.();
        }
        const handler = createStreamHandler(db, {}, { indexLag: 0 });
        const delivered = new Set<string>();
        // A batch fails as a whole now and then, after its work: its records come again, late.
        const failing: typeof handler = async (event) => {
          const response = await handler(event);
          if (random() < 0.15) throw new Error("the function was ended after its work");
          return response;
        };
        // The upkeep writes too; its own records are delivered until nothing new comes.
        for (let round = 0; round < 30; round++) {
          const news = (await source.records()).filter(({ eventID = "" }) => !delivered.has(eventID));
          if (news.length === 0) break;
          for (const { eventID = "" } of news) delivered.add(eventID);
          const lanes = 2 + Math.floor(random() * 9);
          const report = await deliverToLambda(news, failing, {
            table: lab.table,
            format,
            seed: seed + round,
            lanes,
            batchSize: 7,
            repeats: 0.2,
          });
          expect(report.discarded).toEqual([]);
        }
        expect({ seed: seed + run, wrong: await wrongFacts(db) }).toEqual({ seed: seed + run, wrong: [] });
        const all = [...(await source.records())].reverse();
        await deliverToLambda(all, handler, { table: lab.table, format, lanes: 10, repeats: 0 });
        expect({ seed: seed + run, replayed: await wrongFacts(db) }).toEqual({ seed: seed + run, replayed: [] });
      } finally {
        await inner.close();
        await lab.stop();
      }
    }
  },
);
