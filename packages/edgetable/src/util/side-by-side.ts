/**
 * Works through a list, several at a time. After a failure nothing more is begun, and it is thrown once what was under way has ended.
 *
 * @param width how many are under way at most
 */
export const sideBySide = async <T>(list: readonly T[], width: number, run: (one: T, at: number) => Promise<void>): Promise<void> => {
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    while (next < list.length && !failure) {
      const at = next++;
      await run(list[at] as T, at).catch((error: unknown) => void (failure ??= { error }));
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, list.length) }, worker));
  if (failure) throw failure.error;
};
