/** fast-check's parameters: `EDGETABLE_SEED` fixes the seed, `EDGETABLE_RUNS` the number of runs. */
export const propertyRuns = (numRuns: number): { readonly numRuns: number; readonly seed?: number } => {
  const { EDGETABLE_SEED: seed, EDGETABLE_RUNS: runs } = process.env;
  return { numRuns: runs ? Number(runs) : numRuns, ...(seed && { seed: Number(seed) }) };
};
