import { system as education } from "./education/system.ts";
import type { System } from "./system.ts";

/** Every system, in the order in which the demo shows them. */
export const systems: readonly System[] = [education];
