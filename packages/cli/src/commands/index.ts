import type { CommandSpec } from "../invocation.ts";
import { batchCommand } from "./batch.ts";
import { checkCommand } from "./check.ts";
import { completeCommand, completionCommand } from "./completion.ts";
import { devCommand } from "./dev.ts";
import { dumpCommand } from "./dump.ts";
import { explainCommand } from "./explain.ts";
import { findCommand } from "./find.ts";
import { getCommand } from "./get.ts";
import { gridCommand } from "./grid.ts";
import { initCommand } from "./init.ts";
import { jobsCommand } from "./jobs.ts";
import { loadCommand } from "./load.ts";
import { migrateCommand } from "./migrate.ts";
import { modelCommand } from "./model.ts";
import { patternsCommand } from "./patterns.ts";
import { policyCommand } from "./policy.ts";
import { queryCommand } from "./query.ts";
import { reshardCommand } from "./reshard.ts";
import { streamCommand } from "./stream.ts";
import { studioCommand } from "./studio.ts";
import { tableCommand } from "./table.ts";
import { verifyCommand } from "./verify.ts";

/** Every command, in the order of the help. */
export const commands: readonly CommandSpec[] = [
  initCommand,
  devCommand,
  studioCommand,
  patternsCommand,
  explainCommand,
  checkCommand,
  modelCommand,
  policyCommand,
  tableCommand,
  migrateCommand,
  loadCommand,
  getCommand,
  queryCommand,
  findCommand,
  dumpCommand,
  gridCommand,
  jobsCommand,
  reshardCommand,
  verifyCommand,
  streamCommand,
  batchCommand,
  completionCommand,
  completeCommand(() => commands),
];
