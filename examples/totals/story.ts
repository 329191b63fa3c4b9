import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { refreshFacts } from "edgetable/streams";
import type { Chapter, Deed } from "../story.ts";
import type { TotalsDb } from "./model.ts";

/** What the chapters act on. */
export interface TotalsStage {
  readonly db: TotalsDb;
}

type TotalsChapter = Chapter<TotalsStage>;

/** One total, by whom it is kept. */
interface Total {
  readonly of: string;
  readonly transaction: number;
  readonly stream: number;
  readonly batch: number;
}

const equal = (of: string, value: number): Total => ({ of, transaction: value, stream: value, batch: value });

const byStream: Deed<TotalsStage> = {
  by: "the upkeep of stream facts, here run once over the whole table in place of the stream's processor",
  calls: ["refreshFacts(db, { segments: 1 })"],
  act: async ({ db }) => void (await refreshFacts(db, { segments: 1 })),
};

const inBatch: Deed<TotalsStage> = {
  by: "the batch job: the table in DuckDB, and what changed written back",
  calls: ['extract(db, { into: "lake" })', 'derive(db, await openLake("lake"))'],
  act: async ({ db }) => {
    const { derive, extract, openLake } = await import("@edgetable/analytics");
    const folder = await mkdtemp(join(tmpdir(), "edgetable-demo-"));
    const limits = { memoryLimit: "256MB", threads: 1 };
    try {
      const into = join(folder, "lake");
      await extract(db, { into, ...limits });
      const lake = await openLake(into, limits);
      await derive(db, lake);
      lake.close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

const numberIn = (row: Readonly<Record<string, unknown>> | null | undefined, name: string): number => Number(row?.[name] ?? Number.NaN);

/** One attribute of a row, as each of the three keeps it. */
const totalOf = (of: string, row: Readonly<Record<string, unknown>> | null | undefined, name: string): Total => ({
  of,
  transaction: numberIn(row, name),
  stream: numberIn(row, `${name}ByStream`),
  batch: numberIn(row, `${name}InBatch`),
});

const application = "the application";
const bill = { billId: "3392" };

const billed: TotalsChapter = {
  name: "billed",
  title: "The billing lab: what the bills of an invoice add up to, and a bill on its invoices. Two bills change.",
  deeds: [
    {
      by: application,
      calls: [
        'db.bills.relink({ invoiceId: "1249" }, { billId: "2240" }, { amount: 187_460.5 })',
        'db.bills.link({ invoiceId: "1420" }, { billId: "3392" }, { amount: 100 })',
      ],
      act: async ({ db }) => {
        await db.bills.relink({ invoiceId: "1249" }, { billId: "2240" }, { amount: 187_460.5 }).orThrow();
        await db.bills.link({ invoiceId: "1420" }, bill, { amount: 100 }).orThrow();
      },
    },
    byStream,
    inBatch,
  ],
  call: 'db.invoice.getMany([{ invoiceId: "1420" }, { invoiceId: "1249" }]), db.bill.get({ billId: "3392" })',
  ask: async ({ db }) => {
    const invoices = await db.invoice.getMany([{ invoiceId: "1420" }, { invoiceId: "1249" }]);
    return [
      ...invoices.map((row) => totalOf(`invoice ${row?.invoiceId}`, row, "billed")),
      totalOf("bill 3392", await db.bill.get(bill), "billed"),
    ];
  },
  // Before the change, the lab's sums: 728,755 and 1,367,181.
  expected: [equal("invoice 1420", 728_855), equal("invoice 1249", 1_042_307.5), equal("bill 3392", 1_367_281)],
};

const moved = { issueId: "af34" };
const [bridge, news] = [{ projectId: "35e9" }, { projectId: "7b7e" }];
const [acme, media] = [{ tenantId: "0807" }, { tenantId: "3cc8" }];

const rolledUp: TotalsChapter = {
  name: "rolled up",
  title: "The tracker: the issues of a project, and two hops away those of its tenant. An issue moves to another tenant's project.",
  deeds: [
    {
      by: application,
      calls: [
        "db.transact([db.inProject.unlink(issue, bridge), db.inProject.link(issue, news), db.inTenant.unlink(issue, acme), db.inTenant.link(issue, media)])",
      ],
      act: async ({ db }) =>
        void (await db
          .transact([
            db.inProject.unlink(moved, bridge),
            db.inProject.link(moved, news),
            db.inTenant.unlink(moved, acme),
            db.inTenant.link(moved, media),
          ])
          .orThrow()),
    },
    byStream,
    inBatch,
  ],
  call: "db.project.getMany([bridge, news]), db.tenant.getMany([acme, media])",
  ask: async ({ db }) => {
    const [projects, tenants] = [await db.project.getMany([bridge, news]), await db.tenant.getMany([acme, media])];
    return [...projects, ...tenants].map((row) => totalOf(row?.name ?? "", row, "issues"));
  },
  expected: [equal("Forth Rail Bridge", 2), equal("The Daily News", 3), equal("ACME Engineering", 2), equal("Big Media", 3)],
};

const jane = { studentId: "S2" };
const [mathematics, physics] = [{ courseId: "C1" }, { courseId: "C2" }];

const counted: TotalsChapter = {
  name: "counted",
  title: "Education: the students of a course. One changes from mathematics to physics.",
  deeds: [
    {
      by: application,
      calls: ["db.transact([db.enrolledIn.unlink(jane, mathematics), db.enrolledIn.link(jane, physics)])"],
      act: async ({ db }) =>
        void (await db.transact([db.enrolledIn.unlink(jane, mathematics), db.enrolledIn.link(jane, physics)]).orThrow()),
    },
    byStream,
    inBatch,
  ],
  call: "db.course.getMany([mathematics, physics])",
  ask: async ({ db }) => (await db.course.getMany([mathematics, physics])).map((row) => totalOf(row?.name ?? "", row, "students")),
  expected: [equal("Advanced Mathematics", 1), equal("Physics 101", 2)],
};

/** The totals of three systems, each kept three ways. */
export const totalsChapters: readonly TotalsChapter[] = [billed, rolledUp, counted];
