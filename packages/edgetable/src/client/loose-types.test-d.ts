import { z } from "zod";
import { defineGraph } from "./define-graph.ts";
import { edge, node } from "../schema/definition.ts";

// `loose-types.test.ts` checks this file with `strictNullChecks` off, too: a program may do without.
const text = z.string();
const graph = defineGraph({
  table: "Hospital",
  nodes: {
    patient: node({ key: "PATIENT#{patientId}", schema: z.object({ patientId: text }) }),
    ward: node({ key: "WARD#{wardId}", schema: z.object({ wardId: text }) }),
  },
  edges: {
    knows: edge({ from: "patient", to: "patient" }),
    liesIn: edge({ from: "patient", to: "ward", schema: z.object({ since: text, bed: z.number(), note: text.optional() }) }),
    visited: edge({ from: "patient", to: "ward", schema: z.object({ day: text, fee: z.number() }), key: ["day"] }),
  },
});
const db = graph.connect();
const patient = { patientId: "p" };
const ward = { wardId: "w" };

export const calls = [
  db.knows.get(patient, patient),
  db.liesIn.get(patient, ward),
  db.liesIn.unlink(patient, ward),
  db.liesIn.relink(patient, ward, { bed: 2 }),
  db.liesIn.getMany(patient, [ward]),
  db.patient(patient).has("liesIn", ward),
  db.visited.get(patient, ward, { key: { day: "2026-01-01" } }),
  // @ts-expect-error -- an edge with a key of its own is addressed by it
  db.visited.get(patient, ward),
  // @ts-expect-error -- by its fields
  db.visited.unlink(patient, ward, { key: { date: "2026-01-01" } }),
  // @ts-expect-error -- an unknown attribute
  db.liesIn.relink(patient, ward, { bedd: 2 }),
];
