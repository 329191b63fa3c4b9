export { extract, type ExtractOptions, type ExtractProgress, type ExtractReport, type Scannable } from "./extract.ts";
export { connectExport, type ExportedTable, type ExportOptions } from "./export/connect-export.ts";
export type { DataFile, ExportManifest } from "./export/read-manifest.ts";
export {
  openLake,
  type Lake,
  type LakeFile,
  type Program,
  type ProgramProgress,
  type ResultRow,
  type RunProgramOptions,
  type Step,
  type StoredColumn,
  type StoredTable,
} from "./lake.ts";
export {
  saveResults,
  writeBack,
  type SkippedItem,
  type Writable,
  type WriteBackOptions,
  type WriteBackProgress,
  type WriteBackReport,
} from "./write-back/write-back.ts";
export type { Targets } from "./write-back/plan-changes.ts";
export { writeReport, type ReportOptions, type WrittenReport } from "./report.ts";
export type { ReportNumbers } from "./report-page.ts";
export { writeBulk, type BulkFile, type BulkFormat, type BulkOptions, type BulkReport } from "./bulk.ts";
export { derive, derived, type DeriveOptions } from "./facts/derive.ts";
export {
  validate,
  validation,
  type LakeFinding,
  type LakeKindReport,
  type ValidateOptions,
  type ValidationReport,
} from "./facts/validate.ts";
export type { ColumnType } from "./column-type.ts";
export type { EngineLimits } from "./duckdb.ts";
export {
  rollUp,
  rollUpHierarchy,
  top,
  weightedSum,
  type ChainHop,
  type HierarchyOptions,
  type RollUpOptions,
  type TopOptions,
  type WeightedSumOptions,
} from "./jobs/table-jobs.ts";
export { runOnSpark, sparkDriver, type SparkOptions } from "./spark.ts";
export {
  commonNeighbours,
  components,
  degrees,
  hops,
  kCore,
  pageRank,
  recommend,
  triangles,
  type CommonNeighboursOptions,
  type GraphOptions,
  type HopsOptions,
  type PageRankOptions,
  type RecommendOptions,
} from "./jobs/graph-jobs.ts";
