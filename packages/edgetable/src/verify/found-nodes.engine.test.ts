import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify, type VerifyOptions } from "./index.ts";

// Nodes whose sort key holds more than the id: what is tied to them knows their ids alone.

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const cascade = { from: "cascade", to: "cascade" } as const;

const open = async (name: string) => {
  const table = engine.freshTableName(name);
  const db = defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text }) }),
      ticket: node({ key: "TEAM#{team}#{no}", schema: z.object({ team: text, no: text, status: text }) }),
      board: node({ key: "BOARD#{id}", schema: z.object({ id: text, status: text }) }),
    },
    parts: {
      step: part({ of: "ticket", key: "STEP#{stepId}", schema: z.object({ stepId: text, at: text }) }),
      note: part({ of: "ticket", key: "NOTE#{noteId}", schema: z.object({ noteId: text }) }),
    },
    edges: {
      owns: edge({ from: "user", to: "ticket", onDelete: cascade }),
      runs: edge({ from: "user", to: "board", onDelete: cascade, maxDegree: { to: 3 } }),
      saw: edge({ from: "user", to: "ticket" }),
      blocks: edge({ from: "ticket", to: "ticket", stored: "twice", onDelete: cascade }),
      does: edge({ from: "user", to: "step", onDelete: cascade }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { reverse: { partitionKey: "G1", sortKey: "G2" } },
      nodes: { ticket: { keys: { PK: "TEAM#{team:upper}", SK: "TICKET#{status}#{no}" } }, board: { keys: { SK: "BOARD#{status}" } } },
      parts: {
        step: { keys: { PK: "STEPS#{team}#{no}", SK: "STEP#{at}#{stepId}" } },
        note: { keys: { PK: "NOTES#{team}#{no}", SK: "NOTE#{noteId}" } },
      },
      edges: {
        owns: { keys: { SK: "OWNS#{to.team}#{to.no}", G1: "OWNED#{to.team}#{to.no}", G2: "{from}" } },
        runs: { keys: { SK: "RUNS#{to.id}", G1: "RUN#{to.id}", G2: "{from}" } },
        saw: { keys: { SK: "SAW#{to.team}#{to.no}", G1: "SEEN#{to.team}#{to.no}", G2: "{from}" } },
        does: { keys: { SK: "DOES#{to.team}#{to.no}#{to.stepId}", G1: "DONE#{to.team}#{to.no}#{to.stepId}", G2: "{from}" } },
        blocks: {
          keys: { PK: "BLOCKS#{from.team}#{from.no}", SK: "{to.team}#{to.no}" },
          mirror: { keys: { PK: "BLOCKED#{to.team}#{to.no}", SK: "{from.team}#{from.no}" } },
        },
      },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  const [a, b] = [
    { team: "t", no: "1" },
    { team: "t", no: "2" },
  ];
  await db.user.create({ userId: "u" }).orThrow();
  for (const id of [a, b]) {
    await db.ticket.create({ ...id, status: "open" }).orThrow();
    await db.step.create(id, { stepId: "s", at: "9" }).orThrow();
    await db.note.create(id, { noteId: "n" }).orThrow();
    await db.owns.link({ userId: "u" }, id).orThrow();
    await db.saw.link({ userId: "u" }, id).orThrow();
    await db.does.link({ userId: "u" }, { ...id, stepId: "s" }).orThrow();
  }
  await db.blocks.link(a, b).orThrow();
  for (const id of ["x", "y"]) {
    await db.board.create({ id, status: "open" }).orThrow();
    await db.runs.link({ userId: "u" }, { id }).orThrow();
  }
  const remove = async (PK: string, SK: string) => {
    await engine.transport.send("DeleteItem", { TableName: table, Key: { PK: { S: PK }, SK: { S: SK } } });
  };
  const found = async (options: VerifyOptions = {}) => {
    const { kinds, clean } = await verify(db, { settle: 5, ...options });
    return { clean, found: Object.fromEntries(kinds.map(({ kind, count: all, repaired }) => [kind, [all, repaired]])) };
  };
  return { db, remove, found, a, b };
};

test("nothing is wrong while the nodes are there, wherever their keys place them", async () => {
  const { db, found, a } = await open("foundThere");
  expect(await found()).toEqual({ clean: true, found: {} });
  await db.ticket.update(a, { status: "done" }).orThrow();
  await db.user.create({ userId: "v" }).orThrow();
  await db.owns.link({ userId: "v" }, { team: "T", no: "1" }).orThrow();
  expect(await found()).toEqual({ clean: true, found: {} });
});

test("edges that dangle, edges that were left and orphaned parts are named, and a person removes them", async () => {
  const { db, remove, found, a, b } = await open("foundGone");
  await remove("TEAM#T", "TICKET#open#1");
  await remove("BOARD#x", "BOARD#open");
  const wrong = { dangling: [4, 0], leftEdge: [1, 0], orphanedPart: [2, 0] };
  expect((await found()).found).toEqual(wrong);
  // Nothing keeps the node from being created anew while they are deleted.
  expect((await found({ repair: true, deleteOrphans: true })).found).toEqual(wrong);
  await db.ticket.create({ ...a, status: "done" }).orThrow();
  await db.board.create({ id: "x", status: "done" }).orThrow();
  expect(await found()).toEqual({ clean: true, found: {} });
  await remove("TEAM#T", "TICKET#done#1");
  await remove("BOARD#x", "BOARD#done");
  await db.runs.unlink({ userId: "u" }, { id: "x" }).orThrow();
  for (const edges of [db.owns, db.saw]) await edges.unlink({ userId: "u" }, a).orThrow();
  await db.does.unlink({ userId: "u" }, { ...a, stepId: "s" }).orThrow();
  await db.blocks.unlink(a, b).orThrow();
  await db.step.delete(a, { stepId: "s" }).orThrow();
  await db.note.delete(a, { noteId: "n" }).orThrow();
  expect(await found()).toEqual({ clean: true, found: { idleGuard: [1, 0] } });
  expect((await found({ repair: true })).found).toEqual({ idleGuard: [1, 1] });
  expect(await found()).toEqual({ clean: true, found: {} });
});

test("a part at the end of edges that is not there is named, and so is a guard that miscounts", async () => {
  const { remove, found, db, a } = await open("foundParts");
  await remove("STEPS#t#1", "STEP#9#s");
  await remove("USER#u", "RUNS#x");
  expect((await found()).found).toEqual({ dangling: [1, 0], wrongCount: [1, 0] });
  expect((await found({ repair: true, deleteOrphans: true })).found).toEqual({ dangling: [1, 0], wrongCount: [1, 1] });
  await db.step.create(a, { stepId: "s", at: "8" }).orThrow();
  expect(await found()).toEqual({ clean: true, found: {} });
});
