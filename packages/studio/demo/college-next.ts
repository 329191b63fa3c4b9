import { defineGraph } from "edgetable";
import { college } from "./college.ts";

const { definition } = college.catalog;
const byOffice = { entries: { teacher: { by: "office", sparse: true } } };

/** The college's next version, in which teachers are also found by their office: a migration brings the table to it. */
export const collegeNext = defineGraph({
  ...definition,
  // A catalog's definition has lost the types by which the compiler checks indexes; the model's own check remains.
  indexes: { ...definition.indexes, byOffice } as never,
});
