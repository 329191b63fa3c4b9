import fc from "fast-check";

export type CascadingType = "user" | "group";
export type BulkEdge = "belongs" | "pins" | "near";

export interface BatchCommand {
  readonly kind: "batch";
  readonly writes: readonly { readonly removes: boolean; readonly item: number }[];
}
export interface LoadCommand {
  readonly kind: "load";
  readonly named: boolean;
  readonly rows: readonly { readonly type: "item" | "user"; readonly id: number; readonly handle: number | undefined }[];
}
export interface DeleteCommand {
  readonly kind: "delete";
  readonly type: CascadingType;
  readonly id: number;
}
export interface WriteCommand {
  readonly kind: "create" | "put";
  readonly type: CascadingType | "item";
  readonly id: number;
}
export interface LinkCommand {
  readonly kind: "link";
  readonly edge: BulkEdge;
  readonly from: number;
  readonly to: number;
}
export interface NoteCommand {
  readonly kind: "note";
  readonly group: number;
  readonly line: number;
}
/** Moves items to their shards, or goes on with deletions that were left behind. */
export interface JobCommand {
  readonly kind: "reshard" | "resume";
}
export interface LookCommand {
  readonly kind: "look";
  readonly type: CascadingType | "item";
  readonly id: number;
}
/** What a client does at one moment. */
export type BulkCommand = BatchCommand | LoadCommand | DeleteCommand | WriteCommand | LinkCommand | NoteCommand | JobCommand | LookCommand;

export interface BulkHistory {
  /** The weather's seed. */
  readonly weather: number;
  /** Notes that each group begins with: more than a hundred make its deletion a job of many requests. */
  readonly notes: number;
  readonly clients: readonly (readonly BulkCommand[])[];
}

/** Ids of each type: few, so that clients meet; more items than go into one request. */
export const bulkCounts = { item: 32, user: 3, group: 2, line: 3 } as const;

const item = fc.nat({ max: bulkCounts.item - 1 });
const id = fc.nat({ max: 2 });
const type = fc.constantFrom<CascadingType>("user", "group");

const batch: fc.Arbitrary<BatchCommand> = fc.record({
  kind: fc.constant("batch" as const),
  writes: fc.array(fc.record({ removes: fc.boolean(), item }), { minLength: 1, maxLength: 40, size: "max" }),
});
const row = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("item" as const), id: item, handle: fc.constant(undefined) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("user" as const), id, handle: fc.option(fc.nat({ max: 1 }), { nil: undefined }) }),
  },
);
const load: fc.Arbitrary<LoadCommand> = fc.record({
  kind: fc.constant("load" as const),
  named: fc.boolean(),
  rows: fc.array(row, { minLength: 1, maxLength: 60, size: "max" }),
});
const write: fc.Arbitrary<WriteCommand> = fc.record({
  kind: fc.constantFrom("create", "create", "put"),
  type: fc.constantFrom("user", "group", "item"),
  id,
});
const link: fc.Arbitrary<LinkCommand> = fc.record({
  kind: fc.constant("link" as const),
  edge: fc.constantFrom<BulkEdge>("belongs", "pins", "near"),
  from: id,
  to: id,
});

const command: fc.Arbitrary<BulkCommand> = fc.oneof(
  { weight: 4, arbitrary: batch },
  { weight: 4, arbitrary: load },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("delete" as const), type, id }) },
  { weight: 4, arbitrary: write },
  { weight: 7, arbitrary: link },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("note" as const), group: id, line: id }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("reshard" as const, "resume" as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("look" as const), type: fc.constantFrom("user", "group", "item"), id }) },
);

export const bulkHistories: fc.Arbitrary<BulkHistory> = fc.record({
  weather: fc.nat({ max: 1_000_000 }),
  notes: fc.constantFrom(0, 0, 0, 110),
  clients: fc.array(fc.array(command, { minLength: 2, maxLength: 8, size: "max" }), { minLength: 2, maxLength: 3, size: "max" }),
});
