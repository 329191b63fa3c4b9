/**
 * Works through a list, several at a time. After a failure nothing more is begun, and it is thrown once what was under way has ended.
 *
 * @param width how many are under way at most
 */
export const sideBySide = async <T>(list: readonly T[], width: number, run: (one: T, at: number) => Promise<void>): Promise<void> => {
  const failures: unknown[] = [];
  const left = list.entries();
  const worker = async (): Promise<void> => {
    for (const [at, one] of left) {
      if (failures.length > 0) return;
      await run(one, at).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, list.length) }, worker));
  if (failures.length > 0) throw failures[0];
};
