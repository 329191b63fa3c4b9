/** The calls whose library share is measured. */
export const shareCalls = ["put", "enrol", "get", "list", "update", "hydrate", "batchWrite"] as const;
export type ShareCall = (typeof shareCalls)[number];
