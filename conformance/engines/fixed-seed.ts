import fc from "fast-check";

// Every property of a run draws from one seed where EDGETABLE_SEED names it, so that a run can be repeated.
const seed = process.env["EDGETABLE_SEED"];
if (seed) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
