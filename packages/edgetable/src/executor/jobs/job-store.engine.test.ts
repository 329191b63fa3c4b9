import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { virtualClock } from "@edgetable/testing";
import { z } from "zod";
import { node } from "../../schema/definition.ts";
import { openWriteLab, type WriteLab } from "../../test-support/write-lab.ts";
import type { Session } from "../session.ts";
import { findJob, listJobs, releaseLease, renewLease, takeLease } from "./job-store.ts";

const model = {
  table: "Jobs",
  nodes: { student: node({ key: "STUDENT#{id}", schema: z.object({ id: z.string() }) }) },
  edges: {},
};
let lab: WriteLab;
beforeAll(async () => {
  lab = await openWriteLab(model);
});
afterAll(() => lab.stop());

test("a job that is not there is not resumed, and none is made: job.notFound", async () => {
  const request = { id: "gone", kind: "delete", duration: 300, facts: {}, resumes: true } as const;
  await expect(takeLease(lab.driver.session, request, lab.driver.context({}))).rejects.toMatchObject({
    code: "job.notFound",
    retryable: false,
    details: { id: "gone" },
    message: expect.stringContaining('There is no job "gone"') as string,
  });
  expect(await lab.items()).toEqual({});
});

describe("a process whose clock is ahead", () => {
  const HOUR = 3_600_000;
  const duration = 1000;
  let clock = Date.UTC(2030, 0, 1);
  /** The connection of a process of its own. */
  const processWith = (ahead: number): Session => {
    const { session } = lab.driver;
    return { ...session, effects: { ...session.effects, now: () => clock + ahead } };
  };
  const context = () => ({ ...lab.driver.context({}), deadline: Number.POSITIVE_INFINITY });
  const take = async (session: Session, id: string) =>
    takeLease(session, { id, kind: "custom", duration, facts: {}, resumes: false }, context()).then(
      (lease) => lease,
      (error: { readonly code: string; readonly details: { readonly retryAfter: number } }) => `${error.code} ${error.details.retryAfter}`,
    );

  test("leaves its job to who has watched that nobody renews the lease for its duration", async () => {
    await take(processWith(HOUR), "dead");
    const [first, second] = [processWith(0), processWith(-HOUR)];
    expect(await take(first, "dead")).toBe("job.busy 1000");
    expect(await take(second, "dead")).toBe("job.busy 1000");
    clock += 900;
    expect(await take(first, "dead")).toBe("job.busy 100");
    expect(await findJob(first, "dead")).toMatchObject({ running: true, leasedUntil: clock + 100 });
    clock += 200;
    expect((await listJobs(first, context())).find(({ id }) => id === "dead")).toMatchObject({ running: false });
    expect(await take(first, "dead")).toMatchObject({ job: { id: "dead", runs: 2 } });
    // Who has watched as long sees that another one was faster.
    expect(await take(second, "dead")).toBe("job.busy 1000");
  });

  test("keeps its job as long as it renews the lease", async () => {
    const holder = processWith(HOUR);
    const lease = await take(holder, "alive");
    const other = processWith(0);
    for (let at = 0; at < 20; at++) {
      expect(await take(other, "alive")).toMatch("job.busy");
      clock += duration / 2;
      await renewLease(holder, lease as Exclude<typeof lease, string>, {}, context());
    }
    expect((lease as Exclude<typeof lease, string>).until).toBeGreaterThan(clock + HOUR);
  });

  test("of an earlier build, whose lease tells no duration, keeps it for the time that it wrote", async () => {
    await take(processWith(HOUR), "old");
    const [key] = Object.entries(await lab.items()).find(([name]) => name.endsWith("old"))!;
    const item = (await lab.items())[key]!;
    await lab.put({ ...item, "~holder": { S: "token" } });
    const other = processWith(0);
    for (let at = 0; at < 5; at++) {
      expect(await take(other, "old")).toMatch("job.busy");
      clock += duration;
    }
  });
});

test.each([0, 1, 5_000_000_000_000])(
  "a job that nobody has is taken when the clock says %i, and again once it is released",
  async (start) => {
    const { driver, stop } = await openWriteLab(model, { effects: virtualClock({ start, automatic: false }) });
    const request = { id: "import", kind: "load", duration: 300, facts: {}, resumes: false } as const;
    const take = () => takeLease(driver.session, request, driver.context({}));
    const lease = await take();
    await expect(take()).rejects.toMatchObject({ code: "job.busy" });
    await releaseLease(driver.session, lease);
    expect((await take()).job.id).toBe(request.id);
    await stop();
  },
);
