import { type ConnectOptions, defineGraph, edge, node, type StoredForm } from "edgetable";
import { z } from "zod";

const text = z.string();
const knows = edge({ from: "person", to: "person", schema: z.object({ since: text }), stored: "twice", ends: "unchecked" });

/** Before: ages are texts, and towns are called cities. */
const before = (table: string) =>
  defineGraph({
    table,
    nodes: {
      person: node({ key: "PERSON#{id}", schema: z.object({ id: text, name: text, age: text.optional(), city: text.optional() }) }),
    },
    edges: { knows },
    indexes: { byName: { entries: { person: "name" } } },
  });

const after = (table: string, stored: StoredForm) =>
  defineGraph({
    table,
    nodes: {
      person: node({
        key: "PERSON#{id}",
        schema: z.object({ id: text, name: text, age: z.int().optional(), town: text.optional() }),
        renamed: { town: { from: "city", stored } },
        retyped: { age: { from: text, with: Number, back: String, stored } },
      }),
    },
    edges: { knows },
    indexes: {
      byName: { entries: { person: "name" } },
      byAge: { entries: { person: { by: "age:number", sparse: true } }, shards: 4 },
      byPlace: { entries: { person: { by: ["town", "name"], split: 1, sparse: true }, knows: "since" } },
    },
  });

/** A connection of a program with the new model. */
export type MigrationDb = ReturnType<ReturnType<typeof after>["connect"]>;

/** A program, and what it calls the attributes of a person. */
export interface Program {
  /** Of a program with the old model: its calls have the same form, with other words. */
  readonly db: MigrationDb;
  say<Person extends { readonly age?: number; readonly town?: string }>(person: Person): Person;
}

const old: Program["say"] = ({ age, town, ...others }) =>
  ({ ...others, ...(age === undefined ? {} : { age: String(age) }), ...(town === undefined ? {} : { city: town }) }) as never;

/** A program with the model before the migration: it knows one index. */
export const connectOld = (table: string, options: ConnectOptions): Program => ({
  db: before(table).connect(options) as unknown as MigrationDb,
  say: old,
});

/** A program with the model after it: two more indexes, one of them with two kinds, another name and another type. */
export const connectNew = (table: string, options: ConnectOptions): Program => ({
  db: after(table, "old").connect(options),
  say: (person) => person,
});

/** The same, once it stores what is new. */
export const connectLast = (table: string, options: ConnectOptions): Program => ({
  db: after(table, "new").connect(options),
  say: (person) => person,
});
