import type { Command } from "./commands.ts";

/** Histories that once failed, shrunk. They run before any random one. */
export const regressions: readonly (readonly Command[])[] = [];
