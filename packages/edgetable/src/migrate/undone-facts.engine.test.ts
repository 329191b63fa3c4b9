import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node, part } from "../schema/definition.ts";
import { count, sum } from "../schema/derived.ts";
import { verify } from "../verify/index.ts";
import { fast, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

openMigrationsLab();

/** What a model keeps beside its rows, each of which the other model lacks or computes otherwise. */
interface Kept {
  readonly degree?: "limited" | "restricted";
  readonly copied?: true;
  readonly counted?: number;
  readonly summed?: true;
  readonly parts?: true;
  /** The migration to it has something to do before its end. */
  readonly indexed?: true;
}

const text = z.string();

const connectTo = ({ degree, copied, counted, summed, parts, indexed }: Kept) => {
  const person = node({
    key: "P#{id}",
    schema: z.object({ id: text, name: text }),
    derived: {
      ...(counted !== undefined && { heavy: count({ out: "wrote", where: { weight: { gte: counted } } }) }),
      ...(summed && { weight: sum({ out: "wrote", of: "weight" }) }),
      ...(parts && { notes: count({ parts: "note" }) }),
    },
  });
  const post = node({ key: "T#{id}", schema: z.object({ id: text }) });
  const page = node({ key: "G#{id}", schema: z.object({ id: text }) });
  const wrote = edge({
    from: "person",
    to: ["post", "page"],
    schema: z.object({ weight: z.int() }),
    onDelete: { from: "cascade", to: degree === "restricted" ? "restrict" : "cascade" },
    ...(degree === "limited" && { maxDegree: { from: 2 } }),
    ...(copied && { copies: { from: { author: "name" } } }),
  });
  const note = part({ of: "person", key: "N#{n}", schema: z.object({ n: text }), ...(parts && { copies: ["name"] }) });
  return defineGraph({
    table: lab.table,
    nodes: { person, post, page },
    edges: { wrote },
    parts: { note },
    indexes: indexed ? { byName: { entries: { person: "name" } } } : {},
  }).connect({ transport: lab.engine.transport });
};

test.each<readonly [string, before: Kept, undone: Kept, names: readonly string[]]>([
  ["a limit", { degree: "limited" }, {}, ["wrote.outDegree"]],
  ["a restriction", { degree: "restricted" }, {}, ["wrote.inDegree"]],
  ["copies of an edge", { copied: true }, {}, ["wrote.author", "wrote.outDegree"]],
  ["a count", { counted: 0 }, {}, ["person.heavy"]],
  ["a count's conditions", { counted: 1 }, { counted: 5 }, ["person.heavy"]],
  ["a sum", { summed: true }, {}, ["person.weight"]],
  ["a count and copies of parts", { parts: true }, {}, ["note.name", "person.notes"]],
])("after an undone migration that takes away %s, the model before is migrated to once more", async (_, before, undone, names) => {
  const first = connectTo(before);
  await first.table.create();
  await first.person.create({ id: "1", name: "Ann" }).orThrow();
  for (const id of ["1", "2", "3"]) await first.post.create({ id }).orThrow();
  await first.wrote.link({ id: "1" }, { type: "post", id: "1" }, { weight: 3 }).orThrow();
  const other = connectTo({ ...undone, indexed: true });
  expect(await other.migrations.run(fast)).toMatchObject({ complete: false });
  for (const [id, weight] of [
    ["2", 3],
    ["3", 9],
  ] as const)
    await other.wrote.link({ id: "1" }, { type: "post", id }, { weight }).orThrow();
  await other.note.create({ id: "1" }, { n: "1" }).orThrow();
  await other.person.update({ id: "1" }, { name: "Bea" }).orThrow();

  for (const name of names) expect((await other.migrations.status()).undo).toContain(`"${name}"`);
  const { notes } = await first.migrations.undo();
  for (const name of names) expect(notes.join(" ")).toContain(`"${name}"`);
  const again = connectTo(before);
  // Until then no count that may be wrong is taken.
  const heavy = await again
    .person({ id: "1" })
    .out("wrote")
    .where({ weight: { gte: before.counted ?? 0 } })
    .count();
  expect([heavy, await again.person({ id: "1" }).parts("note").count()]).toEqual([3, 1]);
  expect(await again.migrations.status()).toMatchObject({ state: "outdated" });
  const { steps } = await again.migrations.plan();
  for (const name of names) expect(steps.map(({ says }) => says).join(" ")).toContain(`"${name}"`);
  expect(await again.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await verify(again, { settle: 0 })).toMatchObject({ clean: true });
  expect((await again.migrations.plan()).steps).toEqual([]);
});

test("what both models keep alike stays in the record", async () => {
  const kept = { degree: "limited", copied: true, counted: 1, summed: true, parts: true } as const;
  const first = connectTo(kept);
  await first.table.create();
  const other = connectTo({ ...kept, indexed: true });
  expect(await other.migrations.run(fast)).toMatchObject({ complete: false });
  await first.migrations.undo();
  expect(await connectTo(kept).migrations.status()).toMatchObject({ state: "current", plan: { steps: [] } });
});
