import { fileURLToPath } from "node:url";

export { chainMethods } from "./calls.ts";
export type { ChainArgument, ChainMethod, ChainState } from "./calls.ts";
export type * from "./wire.ts";
export type * from "./wire-results.ts";

/** The folder of the built web app, which `edgetable studio` serves: `index.html` and `assets`. */
export const appFolder: string = fileURLToPath(new URL("../dist/app", import.meta.url));
