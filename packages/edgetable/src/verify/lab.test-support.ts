import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import type { Item, Key } from "../transport/operations.ts";
import type { Transport } from "../transport/transport.ts";

const id = z.object({ id: z.string() });

/** A model in which everything occurs that a verification looks at. */
export const labGraph = (table: string, shards: readonly number[] = [4]) =>
  defineGraph({
    table,
    nodes: {
      person: node({
        key: "PERSON#{id}",
        schema: z.object({ id: z.string(), email: z.string().optional(), age: z.int().optional() }),
        unique: ["email"],
        version: true,
      }),
      place: node({ key: "PLACE#{n:number}", schema: z.object({ n: z.int(), name: z.string() }), mirror: true }),
      club: node({ key: "CLUB#{id}", schema: id }),
    },
    parts: { note: part({ of: "place", key: "NOTE#{at:5}", schema: z.object({ at: z.int(), text: z.string() }) }) },
    edges: {
      visited: edge({
        from: "person",
        to: "place",
        schema: z.object({ at: z.string() }),
        orderBy: "at",
        onDelete: { from: "cascade", to: "cascade" },
      }),
      rated: edge({
        from: "person",
        to: "place",
        schema: z.object({ stars: z.int(), tags: z.set(z.string()).optional() }),
        orderBy: "stars:number",
        stored: "twice",
        onDelete: { from: "cascade", to: "cascade" },
      }),
      knows: edge({ from: "person", to: "person", schema: z.object({ since: z.int().optional() }), symmetric: true }),
      leads: edge({ from: "person", to: "club", maxDegree: { from: 50, to: 1000 }, onDelete: { to: "restrict" } }),
      liked: edge({ from: "person", to: "club" }),
    },
    indexes: { byAge: { entries: { person: { by: "age:number", sparse: true }, place: "name" }, shards } },
  });

/** A connection to the lab's table. */
export type LabDb = ReturnType<ReturnType<typeof labGraph>["connect"]>;

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

/** Fills the table with some nine items for each person. */
export const fillLab = async (db: LabDb, people: number): Promise<void> => {
  const places = Math.max(2, Math.floor(people / 4));
  const clubs = Math.max(2, Math.floor(people / 5));
  const person = (at: number) => ({ id: `p${at % people}` });
  await db.load([
    ...range(people).map(
      (at) => ({ node: "person", row: { id: `p${at}`, email: `${at}@x`, ...(at % 3 ? { age: at % 90 } : {}) } }) as const,
    ),
    ...range(places).map((n) => ({ node: "place", row: { n, name: `Place ${n}` } }) as const),
    ...range(clubs).map((at) => ({ node: "club", row: { id: `c${at}` } }) as const),
    ...range(places).map((n) => ({ part: "note", owner: { n }, row: { at: n % 7, text: "…" } }) as const),
  ]);
  await db.load(
    range(people).flatMap((at) => [
      { edge: "visited", from: person(at), to: { n: at % places }, attributes: { at: `2024-${at}` } } as const,
      { edge: "rated", from: person(at), to: { n: (at * 3) % places }, attributes: { stars: at % 5, tags: new Set(["a", "b"]) } } as const,
      { edge: "knows", from: person(at), to: person(at * 7 + 1), attributes: { since: at } } as const,
      { edge: "leads", from: person(at), to: { id: `c${at % clubs}` } } as const,
      { edge: "liked", from: person(at), to: { id: `c${(at + 1) % clubs}` } } as const,
    ]),
  );
};

/** Every item of a table, by its key. */
export const contentOf = async (transport: Transport, table: string): Promise<ReadonlyMap<string, Item>> => {
  const items = new Map<string, Item>();
  let start: Key | undefined;
  do {
    const page = await transport.send("Scan", { TableName: table, ConsistentRead: true, ...(start ? { ExclusiveStartKey: start } : {}) });
    for (const item of page.Items ?? []) items.set(JSON.stringify([item["pk"], item["sk"]]), item);
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
};
