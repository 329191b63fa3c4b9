import { count, defineGraph, edge, node, part, sum, summarize } from "edgetable";
import { expect, test } from "vitest";
import { z } from "zod";
import { keptAttributes } from "./attribute-schema.ts";

const id = z.string();
const { catalog } = defineGraph({
  table: "Hospital",
  nodes: {
    patient: node({
      key: "PATIENT#{patientId}",
      schema: z.object({ patientId: id, name: id }),
      version: true,
      timestamps: true,
      derived: { visits: count({ out: "visited" }), notes: count({ parts: "note" }) },
    }),
    doctor: node({
      key: "DOCTOR#{doctorId}",
      schema: z.object({ doctorId: id, title: id }),
      timestamps: { created: "made", modified: false },
    }),
  },
  parts: { note: part({ of: "patient", key: "NOTE#{number:3}", schema: z.object({ number: z.int() }), copies: { of: "name" } }) },
  edges: {
    visited: edge({
      from: "patient",
      to: "doctor",
      schema: z.object({ day: id, fee: z.number() }),
      key: ["day"],
      copies: { from: { patient: "name" }, to: ["title"] },
      timestamps: true,
      onDelete: { from: "cascade", to: "cascade" },
    }),
    knows: summarize(edge({ from: "patient", to: "doctor" }), { paid: sum({ along: "visited", of: "fee" }) }),
  },
});

test("what Edgetable keeps of a row is what nobody can write: derived attributes, copies, times and the version", () => {
  const kept = (name: string): readonly string[] => [...keptAttributes(catalog, name)].sort();
  expect(kept("patient")).toEqual(["created", "modified", "notes", "version", "visits"]);
  expect(kept("doctor")).toEqual(["made"]);
  expect(kept("visited")).toEqual(["created", "modified", "patient", "title"]);
  expect(kept("knows")).toEqual(["paid"]);
  expect(kept("note")).toEqual(["of"]);
  expect(kept("nobody")).toEqual([]);
});
