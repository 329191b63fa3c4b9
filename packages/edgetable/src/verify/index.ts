export { verify, type VerifyOptions, type VerifyReport } from "./verify.ts";
export { type Finding, type FindingKind, findingKinds } from "./finding.ts";
export type { KindReport } from "./collect.ts";
export type { RepairWrite } from "./shown-writes.ts";
export type { VerifyProgress } from "./run-verify.ts";
