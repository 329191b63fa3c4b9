export { defineGraph, type AnyGraph, type Graph, type RowOf } from "./client/define-graph.ts";
export type { AdvancedOptions, ConnectOptions, CursorSecret, ObservedPlace, Observer } from "./client/connect.ts";
export type { Jobs } from "./client/jobs.ts";
export type { Batch, BatchCall, BatchOutcome, Unwritten } from "./client/batch.ts";
export type { As, Db, TenantDb } from "./client/db.ts";
export type {
  BatchableCall,
  BatchExplanation,
  DeleteCall,
  DeleteOptions,
  JobHandle,
  JobOptions,
  KeyOptions,
} from "./client/write-types.ts";
export type { NotWritten, Reason, Upserted, UpsertOutcome, WriteOutcome, Written } from "./ir/write-outcome.ts";
export type {
  ChangeSet,
  ExplainedWriteRequest,
  LinkOptions,
  RelinkOptions,
  CheckOptions,
  Transact,
  TransactCall,
  Transacted,
  TransactOptions,
  TransactOutcome,
  UpsertCall,
  UpsertLinkOptions,
  UpsertOptions,
  WriteCall,
  WriteExplanation,
  WriteOptions,
} from "./client/write-types.ts";
export type { LoadOptions } from "./client/job-options.ts";
export type { Load, LoadRow } from "./client/load.ts";
export type { ScanOptions } from "./client/scan-rows.ts";
export type { Scan, ScanRow, ScanTable } from "./client/scan.ts";

export type { OwnJob, OwnJobOptions, RefusedJob, ReshardOptions, ResumedJobs, ResumeOptions } from "./client/job-options.ts";
export type { ReshardProgress } from "./executor/reshard/run-reshard.ts";
export type { ReshardReport } from "./executor/reshard/run-reshard.ts";
export type { Migrations } from "./client/migrations.ts";
export type { MigrationOptions, MigrationPlanOptions } from "./client/job-options.ts";
export type { BackfilledEntry, MigrationStep } from "./migrate/migration-steps.ts";
export type { MigrationPlan } from "./migrate/plan-migration.ts";
export type { StepPrice } from "./migrate/prices.ts";
export type { MigrationProgress, MigrationReport } from "./migrate/run-migration.ts";
export type { MigrationStatus, UndoReport } from "./migrate/undo-migration.ts";
export type { UnfitItem } from "./migrate/stale-keys.ts";
export type { Kinded } from "./client/graph-types.ts";
export type { Cells, Field, FieldInput, FieldType, FieldValue, NewField, NewFieldType, NodeId } from "./client/field-types.ts";
export type {
  CsvColumn,
  CsvExportOptions,
  CsvField,
  CsvImport,
  CsvImportOptions,
  CsvMisfit,
  CsvProgress,
  CsvRecords,
  CsvSource,
  CsvTarget,
} from "./client/csv-types.ts";
export type {
  ColumnPlace,
  FieldChanges,
  FieldColumn,
  FieldFilter,
  FieldJobOptions,
  FieldLoss,
  FieldProgress,
  Fields,
  Grid,
  GridCall,
  GridCount,
  GridCountOptions,
  GridExplanation,
  GridFilter,
  GridGroup,
  GridGroups,
  GridPage,
  GridPageOptions,
  GridRow,
  GridView,
  NewView,
  RetypeOptions,
  RetypeResult,
  SetOptions,
  SetOutcome,
  Values,
  ViewChanges,
  Views,
  ViewSettings,
} from "./client/grid-types.ts";
export type { PartApi, PartList, PartReads } from "./client/part-types.ts";
export type { SearchPageOptions } from "./client/page-types.ts";
export type { EdgeSearch, Find, Search, WalkFrom } from "./client/search-types.ts";
export type { EntrySettings, IndexEntry, ShardSettings, Shards, ValueIndex } from "./schema/layout.ts";
export type { CountOptions, Entry, Page, PageBudget, PageOptions, Read } from "./client/page-types.ts";
export type { Collection, Neighbours, NodeHandle } from "./client/read-types.ts";
export type { ExplainedRequest, ReadExplanation } from "./client/explanation.ts";
export type { WalkExplanation } from "./client/walk-explanation.ts";
export type {
  Aggregate,
  Aggregated,
  Aggregates,
  FeedCall,
  FeedExplanation,
  FeedOptions,
  FeedPage,
  Gathered,
  Grouped,
  GroupOptions,
  LevelOptions,
  PathOptions,
  PathsOptions,
  RankOptions,
  Reached,
  RepeatOptions,
  Walk,
  WalkCall,
  WalkCount,
  Walked,
  WalkEnd,
  WalkLevel,
  WalkStop,
  BudgetOptions,
  StoreCursor,
  WalkOptions,
} from "./client/walk-types.ts";
export { combine, definePatterns, explainPatterns, offline, type Patterns } from "./client/patterns.ts";
export type { AnyPattern, ExplainedPattern, Explanation, Pattern } from "./client/run-patterns.ts";
export type { CreateTableOptions, Reshard, TableAdmin } from "./client/table.ts";
export type { TableDifference } from "./requests/table.ts";
export { didYouMean } from "./util/did-you-mean.ts";
export { EdgetableError, isEdgetableError } from "./errors/edgetable-error.ts";
export type { ErrorCode } from "./errors/codes.ts";
export type { Call, Report, RunOptions } from "./executor/call.ts";
export type { DeletionProgress } from "./executor/jobs/delete-node.ts";
export type { Job, JobFacts } from "./executor/jobs/job-store.ts";
export type { Collision, CollisionCount, Collisions } from "./executor/load/collisions.ts";
export type { FailedRow, LoadProgress, LoadReport } from "./executor/load/load-state.ts";
export type { ScanReport } from "./executor/scan/run-scan.ts";
export type { Drift, DriftedItem, ReadingOptions, StrayItem } from "./executor/call.ts";
export type { Cost, FailedRequest, SentRequest } from "./executor/call.ts";
export type { RetryPolicy } from "./executor/session.ts";
export type { Effects } from "./executor/session.ts";
export type { Comparisons, Where } from "./ir/condition.ts";
export {
  average,
  count,
  distinct,
  max,
  min,
  sum,
  type AggregateOptions,
  type CopyFreshness,
  type CopyList,
  type CopySettings,
  type DerivedAttribute,
  type EdgeCopyLists,
  type Freshness,
  type ValueOptions,
} from "./schema/derived.ts";
export type { AggregateFact, CopyFact, Facts } from "./schema/facts.ts";
export { edge, summarize, type AnyEdge, type EdgeDefinition } from "./schema/definition.ts";
export type { Renaming, Retyping, StoredForm } from "./schema/former.ts";
export type { TableSettings } from "./schema/definition.ts";
export { type FieldSettings, node, type AnyNode, type NodeDefinition } from "./schema/definition.ts";
export type { TimeForm, Timestamps, TimestampSettings } from "./schema/timestamps.ts";
export { part, type AnyPart, type PartDefinition } from "./schema/definition.ts";
export type { EdgeLayout, IndexExpectation, IndexLayout, ItemLayout, Layout, ShardingLayout } from "./schema/layout.ts";
export type { Catalog } from "./schema/catalog.ts";
export type { ShardCounts } from "./schema/layout.ts";
export type { StandardSchema } from "./schema/standard-schema.ts";
export { createLeanTransport, type LeanTransportOptions } from "./transport/lean/lean-transport.ts";
export { type Credentials, defaultCredentials } from "./transport/lean/credentials.ts";
export { configuredEndpoint, type FoundEndpoint } from "./transport/lean/surroundings.ts";
export type { SendOptions, Transport } from "./transport/transport.ts";
export { attemptError, type AttemptFailure, serviceError, type ServiceFault } from "./transport/transport-error.ts";
export type * from "./transport/operations.ts";
export type * from "./transport/stream-operations.ts";
