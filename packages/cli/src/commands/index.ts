import type { CommandSpec } from "../invocation.ts";
import { checkCommand } from "./check.ts";
import { explainCommand } from "./explain.ts";
import { getCommand } from "./get.ts";
import { patternsCommand } from "./patterns.ts";
import { queryCommand } from "./query.ts";
import { tableCommand } from "./table.ts";

/** Every command, in the order of the help. */
export const commands: readonly CommandSpec[] = [patternsCommand, explainCommand, checkCommand, tableCommand, getCommand, queryCommand];
