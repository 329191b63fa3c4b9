import { checkEndsByGet } from "./check-ends-by-get.ts";
import { dedupeEarly } from "./dedupe-early.ts";
import { dropDedupe } from "./drop-dedupe.ts";
import { hydrateLate } from "./hydrate-late.ts";
import { projectEnds } from "./project-ends.ts";
import type { WalkRule } from "./rule.ts";

/** Every rule for walks, in the order in which they run. Each can be switched off by name; answers stay the same. */
export const walkRules: readonly WalkRule[] = [dedupeEarly, dropDedupe, hydrateLate, projectEnds, checkEndsByGet];
