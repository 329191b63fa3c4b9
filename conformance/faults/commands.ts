import fc from "fast-check";

export type NodeType = "person" | "post" | "tag";
export type EdgeName = "follows" | "friend" | "likes" | "worksOn" | "tagged" | "pins";

export interface NodeCommand {
  readonly kind: "create" | "put" | "update" | "upsert" | "delete";
  readonly type: NodeType;
  readonly id: number;
  /** Which of the contested handles a person takes, where it takes one. */
  readonly handle: number | undefined;
  /** Whether an upsert tries to create it first. @default false */
  readonly isNew?: boolean;
}
export interface EdgeCommand {
  readonly kind: "link" | "putEdge" | "relink" | "upsertEdge" | "unlink";
  readonly edge: EdgeName;
  readonly from: number;
  readonly to: number;
  readonly role: "x" | "y";
  readonly isNew?: boolean;
}
export interface AccountCommand {
  readonly kind: "deposit" | "transfer" | "swing";
  readonly account: number;
  readonly amount: number;
  readonly alias: number | undefined;
}
export interface ClaimCommand {
  readonly kind: "claim";
  readonly handle: number;
}
export interface TransactCommand {
  readonly kind: "transact";
  readonly calls: readonly (NodeCommand | EdgeCommand)[];
}
export interface ReadCommand {
  readonly kind: "getNode" | "getEdge" | "getAccount" | "list" | "pages" | "entries";
  readonly strong: boolean;
  readonly direction: "out" | "in";
  readonly edge: EdgeName;
  readonly from: number;
  readonly to: number;
}
/** What a client does at one moment, in words of the graph. */
export type Command = NodeCommand | EdgeCommand | AccountCommand | ClaimCommand | TransactCommand | ReadCommand;

/** A history: the weather's seed, and what each client does, one thing after the other. */
export interface History {
  readonly weather: number;
  readonly clients: readonly (readonly Command[])[];
}

/** Ids of each node type: few, so that clients meet. */
export const counts: Readonly<Record<NodeType, number>> = { person: 3, post: 2, tag: 2 };

const edgeNames: readonly EdgeName[] = ["follows", "friend", "likes", "worksOn", "tagged", "pins"];
const id = fc.nat({ max: 2 });
const maybe = (most: number): fc.Arbitrary<number | undefined> => fc.option(fc.nat({ max: most }), { nil: undefined });

const node: fc.Arbitrary<NodeCommand> = fc.record({
  kind: fc.constantFrom("create", "put", "update", "update", "upsert", "upsert", "delete"),
  type: fc.constantFrom("person", "post", "tag"),
  id,
  handle: maybe(1),
  isNew: fc.boolean(),
});
const edge: fc.Arbitrary<EdgeCommand> = fc.record({
  kind: fc.constantFrom("link", "link", "putEdge", "relink", "relink", "upsertEdge", "upsertEdge", "unlink"),
  edge: fc.constantFrom(...edgeNames),
  from: fc.nat({ max: 1 }),
  to: id,
  role: fc.constantFrom("x", "y"),
  isNew: fc.boolean(),
});
const account: fc.Arbitrary<AccountCommand> = fc.record({
  kind: fc.constantFrom("deposit", "deposit", "transfer", "swing", "swing"),
  account: fc.nat({ max: 1 }),
  amount: fc.constantFrom(-1, 1, 2),
  alias: maybe(1),
});
const claim: fc.Arbitrary<ClaimCommand> = fc.record({ kind: fc.constant("claim" as const), handle: id });
const transact: fc.Arbitrary<TransactCommand> = fc.record({
  kind: fc.constant("transact" as const),
  calls: fc.array(fc.oneof({ weight: 1, arbitrary: node }, { weight: 3, arbitrary: edge }), { minLength: 2, maxLength: 3 }),
});
const read: fc.Arbitrary<ReadCommand> = fc.record({
  kind: fc.constantFrom("getNode", "getEdge", "getAccount", "list", "list", "pages", "entries"),
  strong: fc.boolean(),
  direction: fc.constantFrom("out", "in"),
  edge: fc.constantFrom(...edgeNames),
  from: fc.nat({ max: 1 }),
  to: id,
});

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: node },
  { weight: 8, arbitrary: edge },
  { weight: 5, arbitrary: account },
  { weight: 1, arbitrary: claim },
  { weight: 2, arbitrary: transact },
  { weight: 8, arbitrary: read },
);

export const histories: fc.Arbitrary<History> = fc.record({
  weather: fc.nat({ max: 1_000_000 }),
  clients: fc.array(fc.array(command, { minLength: 4, maxLength: 24, size: "max" }), { minLength: 2, maxLength: 4, size: "max" }),
});
