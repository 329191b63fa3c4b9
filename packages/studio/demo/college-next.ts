import { defineGraph } from "edgetable";
import { college } from "./college.ts";

const { definition } = college.catalog;

/** The college's next version, in which teachers are also found by their office: a migration brings the table to it. */
export const collegeNext = defineGraph({
  ...definition,
  indexes: { ...definition.indexes, byOffice: { entries: { teacher: { by: "office", sparse: true } } } },
});
