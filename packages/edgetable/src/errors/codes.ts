/**
 * Every error code. The part before the dot is the stage that refuses; each code is explained in
 * docs/errors.md and thrown in at least one test.
 */
export type ErrorCode =
  // The model itself is wrong; thrown by defineGraph with all findings at once.
  | "schema.invalidModel"
  // A value does not fit the model.
  | "schema.invalidValue"
  | "schema.failed"
  | "schema.unknownNode"
  | "schema.unknownEdge"
  | "schema.unknownAttribute"
  | "schema.immutableAttribute"
  | "schema.derivedAttribute"
  // A key cannot be made from a value, or a key read from the table does not fit its template.
  | "keys.delimiter"
  | "keys.reserved"
  | "keys.empty"
  | "keys.wrongType"
  | "keys.notEncodable"
  | "keys.tooLong"
  | "keys.incomplete"
  | "keys.unreadable"
  // The planner cannot or will not answer the call.
  | "plan.noIndex"
  | "plan.indexIncomplete"
  | "plan.uniqueIncomplete"
  | "plan.otherStorage"
  | "plan.unreadForm"
  | "plan.notConsistent"
  | "plan.unsupported"
  | "plan.invalidOption"
  // A walk over several hops.
  | "traverse.start"
  | "traverse.depth"
  | "traverse.supernode"
  // A request was refused before it was sent.
  | "request.itemTooLarge"
  | "request.transactionTooLarge"
  | "request.unsupportedValue"
  | "request.otherTenant"
  // Cursors.
  | "cursor.invalid"
  | "cursor.outgrown"
  // Execution.
  | "execute.throttled"
  | "execute.unavailable"
  | "execute.timeout"
  | "execute.aborted"
  | "execute.conflict"
  // A write that `orThrow` was asked of did not happen, for a reason that a caller may expect.
  | "execute.notWritten"
  | "execute.transactionInProgress"
  | "execute.ambiguous"
  | "execute.unprocessed"
  | "execute.rejected"
  | "execute.accessDenied"
  | "execute.credentials"
  | "execute.expiredCredentials"
  | "execute.tableNotFound"
  | "execute.streamNotFound"
  | "execute.connection"
  // Streams of changes.
  | "stream.images"
  | "stream.invalidRecord"
  | "stream.notReplayable"
  | "stream.notEnabled"
  | "stream.gap"
  // A resumable job.
  | "job.busy"
  | "job.notFound"
  | "job.mismatch"
  // A bulk load.
  | "load.collision"
  | "load.invalidRow"
  // A scan.
  | "scan.strayItem"
  // Fields that users define, and the grid that shows them.
  | "grid.invalidField"
  | "grid.tooManyFields"
  | "grid.unknownField"
  | "grid.unknownColumn"
  | "grid.unknownView"
  | "grid.invalidView"
  | "grid.invalidValue"
  | "grid.invalidFilter"
  | "grid.notSortable"
  | "grid.retyping"
  | "grid.lostValues"
  | "grid.invalidCsv"
  | "grid.unfitRows"
  // Tables.
  | "table.mismatch"
  // A migration of a table to another model.
  | "migrate.otherModel"
  | "migrate.unsupported"
  | "migrate.missingSource"
  | "migrate.notConvertible"
  | "migrate.invalidKey"
  | "migrate.duplicates"
  | "migrate.uncounted"
  | "migrate.brokenRecord"
  // The embedded engine.
  | "local.engineNotFound"
  | "local.engineFailed"
  // The command line.
  | "cli.modelUnreadable"
  | "cli.output"
  | "cli.usage"
  // Batch jobs.
  | "analytics.lake"
  | "analytics.column"
  | "analytics.sql"
  | "analytics.engine"
  | "analytics.export"
  | "analytics.result"
  // Our own fault: please report it.
  | "invariant";
