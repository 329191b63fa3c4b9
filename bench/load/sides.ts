import type { Loader } from "./loader.ts";

const loaders = {
  bare: async () => (await import("./bare.ts")).load,
  edgetable: async () => (await import("./edgetable.ts")).load,
  "edgetable-flat": async () => (await import("./edgetable.ts")).loadFlat,
} satisfies Record<string, () => Promise<Loader>>;

export type Side = keyof typeof loaders;
export const sides = Object.keys(loaders) as readonly Side[];
export const loaderOf = (side: Side): Promise<Loader> => loaders[side]();
