import { defineGraph, node } from "edgetable";
import { z } from "zod";

/** The same tasks in two indexes by their due time: one partition, and sixteen. */
export const tasks = defineGraph({
  table: "Tasks",
  nodes: { task: node({ key: "{id}", schema: z.object({ id: z.string(), dueAt: z.string(), title: z.string() }) }) },
  indexes: {
    single: { entries: { task: "dueAt" } },
    spread: { entries: { task: "dueAt" }, shards: 16 },
  },
});

export type TasksDb = ReturnType<typeof tasks.connect>;
export const shardCounts = { single: 1, spread: 16 } as const;
export type TasksIndex = keyof typeof shardCounts;

const dueAt = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString().slice(0, 16);

/** A task a minute, in an order of ids that has nothing to do with their times. */
export function* taskRows(count: number): Generator<{
  readonly node: "task";
  readonly row: { readonly id: string; readonly dueAt: string; readonly title: string };
}> {
  for (let minute = 0; minute < count; minute++) {
    const id = String((minute * 7919) % count);
    yield { node: "task", row: { id, dueAt: dueAt(minute), title: `Task Number ${minute}` } };
  }
}

/** The time from which a page begins, and the times that are on it. */
export const timesFrom = (minute: number, limit: number): readonly string[] =>
  Array.from({ length: limit }, (_, step) => dueAt(minute + step));
