import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { node } from "../../schema/definition.ts";
import { openWriteLab, type WriteLab } from "../../test-support/write-lab.ts";
import { takeLease } from "./job-store.ts";

let lab: WriteLab;
beforeAll(async () => {
  lab = await openWriteLab({
    table: "Jobs",
    nodes: { student: node({ key: "STUDENT#{id}", schema: z.object({ id: z.string() }) }) },
    edges: {},
  });
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
