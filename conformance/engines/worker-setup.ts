import fc from "fast-check";

// Every property of a run draws from one seed where EDGETABLE_SEED names it, so that a run can be repeated.
const seed = process.env["EDGETABLE_SEED"];
if (seed) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });

// Each worker has an engine of its own, if the global setup started some.
const endpoints = process.env["EDGETABLE_TEST_ENDPOINTS"]?.split(" ");
const endpoint = endpoints?.[(Number(process.env["VITEST_POOL_ID"] ?? 1) - 1) % endpoints.length];
if (endpoint !== undefined) process.env["EDGETABLE_TEST_ENDPOINT"] = endpoint;
