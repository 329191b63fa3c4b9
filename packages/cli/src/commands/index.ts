import type { CommandSpec } from "../invocation.ts";
import { batchCommand } from "./batch.ts";
import { checkCommand } from "./check.ts";
import { completeCommand, completionCommand } from "./completion.ts";
import { devCommand } from "./dev.ts";
import { dumpCommand } from "./dump.ts";
import { explainCommand } from "./explain.ts";
import { findCommand } from "./find.ts";
import { getCommand } from "./get.ts";
import { initCommand } from "./init.ts";
import { loadCommand } from "./load.ts";
import { patternsCommand } from "./patterns.ts";
import { queryCommand } from "./query.ts";
import { reshardCommand } from "./reshard.ts";
import { tableCommand } from "./table.ts";

/** Every command, in the order of the help. */
export const commands: readonly CommandSpec[] = [
  initCommand,
  devCommand,
  patternsCommand,
  explainCommand,
  checkCommand,
  tableCommand,
  loadCommand,
  getCommand,
  queryCommand,
  findCommand,
  dumpCommand,
  reshardCommand,
  batchCommand,
  completionCommand,
  completeCommand(() => commands),
];
