import type { Loader } from "./loader.ts";

const loaders = { bare: () => import("./bare.ts") } satisfies Record<string, () => Promise<{ readonly load: Loader }>>;

export type Side = keyof typeof loaders;
export const sides = Object.keys(loaders) as readonly Side[];
export const loaderOf = async (side: Side): Promise<Loader> => (await loaders[side]()).load;
