import type { Lockfile } from "./read-lockfile.ts";

/** Every way from one package to another that comes to none twice; gives up beyond a number of steps. */
export const waysTo = (
  { dependencies }: Lockfile,
  { start, target }: { readonly start: string; readonly target: string },
  most = 200_000,
): readonly (readonly string[])[] | undefined => {
  const ways: (readonly string[])[] = [];
  let steps = 0;
  // Backwards, for most packages need others and few are needed by many.
  const go = (way: readonly string[]): boolean => {
    if (++steps > most) return false;
    const from = new Set(dependencies.filter(({ to }) => to === way[0]).map((one) => one.from));
    for (const location of from) {
      if (way.includes(location)) continue;
      if (location === start) ways.push([location, ...way]);
      else if (!go([location, ...way])) return false;
    }
    return true;
  };
  return start !== target && go([target]) ? ways : undefined;
};
