/** What one block of equal calls cost the process that made them. */
export interface BlockCost {
  /** Microseconds of CPU a call, user and system, garbage collection included. */
  readonly cpu: number;
  /** Microseconds of wall time a call: the inverse of the rate, whatever the concurrency. */
  readonly wall: number;
}

export interface Block {
  readonly first: number;
  readonly count: number;
  readonly concurrency: number;
}

/** Runs `call(first)` to `call(first + count - 1)`, `concurrency` of them under way at a time. */
export const measureBlock = async (call: (index: number) => Promise<unknown>, block: Block): Promise<BlockCost> => {
  let next = block.first;
  const end = block.first + block.count;
  const lane = async (): Promise<void> => {
    while (next < end) await call(next++);
  };
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  await Promise.all(Array.from({ length: block.concurrency }, lane));
  const wall = (performance.now() - before) * 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { cpu: (user + system) / block.count, wall: wall / block.count };
};
