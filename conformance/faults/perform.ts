import type { AccountCommand, Command, EdgeCommand, NodeCommand, NodeType, ReadCommand } from "./commands.ts";
import type { Db } from "./model.ts";
import { edgeObject, edgeTypes, endRow, idRow, nodeAttribute, nodeId, nodeObject, placeOf, placesAt, readEdge } from "./names.ts";
import { ABSENT, type Effect, type Observation } from "./record.ts";

type Row = Readonly<Record<string, unknown>>;

/** A call not yet made, as its report tells it. */
export interface Reported {
  report(): Promise<{ readonly value: unknown }>;
}
/** One write, and what it does to registers. */
export interface WriteStep {
  readonly call: Reported;
  readonly effects: readonly Effect[];
}
export type Step = { readonly writes: readonly WriteStep[] } | { readonly read: () => Promise<readonly Observation[]> };

// The surface is typed by the model; a history picks its members at run time.
type Loose = Readonly<Record<string, (...values: readonly unknown[]) => Reported>>;
export const member = (db: Db, name: string): Loose & ((id: Row) => Loose) =>
  (db as unknown as Readonly<Record<string, never>>)[name] as never;

const asText = (row: Row | undefined, attribute: string): string => (row === undefined ? ABSENT : String(row[attribute]));

/** What turns commands into calls on one connection; `next` numbers what is written, so that no two writes are alike. */
export interface Performer {
  readonly db: Db;
  readonly next: () => number;
}

const expecting = (isNew: boolean | undefined): Row => ({ expect: isNew ? "new" : "existing" });

const nodeStep = ({ db, next }: Performer, { kind, type, id, handle, isNew = false }: NodeCommand): WriteStep => {
  const name = nodeId(type, id);
  const value = kind === "delete" ? ABSENT : `w${next()}`;
  const changes = { [nodeAttribute[type]]: value, ...(type === "person" && handle !== undefined ? { handle: `shared${handle}` } : {}) };
  const api = member(db, type);
  const call =
    kind === "delete"
      ? api["delete"]?.(idRow(type, name))
      : kind === "update"
        ? api["update"]?.(idRow(type, name), changes)
        : kind === "upsert"
          ? api["upsert"]?.({ ...idRow(type, name), ...changes }, changes, expecting(isNew))
          : api[kind]?.({ ...idRow(type, name), ...changes });
  return { call: call as Reported, effects: [{ object: nodeObject(type, name), kind, value }] };
};

const edgeStep = ({ db, next }: Performer, command: EdgeCommand): WriteStep => {
  const { edge, kind } = command;
  const type = edgeTypes[edge];
  const place = placeOf(command);
  const number = next();
  const value = type.numeric ? number : `w${number}`;
  const ends = [endRow(edge, type.from, place.from), endRow(edge, type.to, place.to)];
  const key = edge === "worksOn" ? { role: place.role } : undefined;
  const attributes = { [type.attribute]: value, ...key };
  const api = member(db, edge);
  const calls = {
    link: () => api["link"]?.(...ends, attributes),
    putEdge: () => api["put"]?.(...ends, attributes),
    relink: () => api["relink"]?.(...ends, { [type.attribute]: value }, key ? { key } : {}),
    upsertEdge: () => api["upsert"]?.(...ends, attributes, { [type.attribute]: value }, expecting(command.isNew)),
    unlink: () => api["unlink"]?.(...ends, key ? { key } : {}),
  };
  const effectKind = ({ link: "create", putEdge: "put", relink: "update", upsertEdge: "upsert", unlink: "delete" } as const)[kind];
  const effect = { object: edgeObject(place), kind: effectKind, value: kind === "unlink" ? ABSENT : String(value) };
  return { call: calls[kind]() as Reported, effects: [effect] };
};

const deposit = (
  { db }: Performer,
  account: string,
  { token, amount, alias }: { readonly token: string; readonly amount: number; readonly alias?: number | undefined },
): WriteStep => {
  const changes = {
    add: { total: amount },
    append: { tokens: [token] },
    ...(alias === undefined ? {} : { set: { alias: `alias${alias}` } }),
  };
  return {
    call: member(db, "account")["update"]?.({ accountId: account }, changes) as Reported,
    effects: [{ object: `tokens:${account}`, kind: "append", value: token }],
  };
};

const accountSteps = (performer: Performer, { kind, account, amount, alias }: AccountCommand): readonly WriteStep[] => {
  const number = performer.next();
  const own = `a${account}`;
  if (kind === "deposit") return [deposit(performer, own, { token: `${number}:${amount}`, amount, alias })];
  if (kind === "transfer") {
    const other = deposit(performer, `a${1 - account}`, { token: `${number}:${amount}`, amount });
    return [deposit(performer, own, { token: `${number}:${-amount}`, amount: -amount }), other];
  }
  // With its own alias the update reads first, and the sum is conditional on what was read.
  const set = alias === undefined ? {} : { set: { alias: `own${account}` } };
  const call = member(performer.db, "account")["update"]?.({ accountId: own }, { add: { swing: amount }, ...set }) as Reported;
  return [{ call, effects: [{ object: `swing:${own}`, kind: "add", value: String(amount) }] }];
};

const claimStep = ({ db, next }: Performer, handle: number): WriteStep => {
  const id = `claim${next()}`;
  const call = member(db, "person")["create"]?.({ personId: id, name: "claimant", handle: `claimed${handle}` }) as Reported;
  const effects: readonly Effect[] = [
    { object: `claim:claimed${handle}`, kind: "claim", value: id },
    { object: nodeObject("person", id), kind: "create", value: "claimant" },
  ];
  return { call, effects };
};

interface Query {
  unordered(): Query;
  consistent(): Query;
  edges(): Promise<readonly Row[]>;
  entries(): Promise<readonly { readonly edge: Row; readonly node: Row | undefined }[]>;
  page(options: {
    readonly limit: number;
    readonly cursor: string | undefined;
  }): Promise<{ readonly items: readonly Row[]; readonly next: string | undefined }>;
}

const allPages = async (query: Query): Promise<readonly Row[]> => {
  const items: Row[] = [];
  let cursor: string | undefined;
  do {
    const page = await query.page({ limit: 2, cursor });
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return items;
};

interface Seen {
  readonly edges: readonly Row[];
  readonly nodes: readonly Observation[];
}

const farNodes = (
  command: ReadCommand,
  entries: readonly { readonly edge: Row; readonly node: Row | undefined }[],
): readonly Observation[] => {
  const type: NodeType = edgeTypes[command.edge][command.direction === "out" ? "to" : "from"];
  return entries.flatMap(({ node }) => {
    if (!node) return [];
    // Nodes along an edge to several kinds say their kind.
    const row = "kind" in node && "row" in node ? (node["row"] as Row) : node;
    return [{ object: nodeObject(type, String(row[`${type}Id`])), value: String(row[nodeAttribute[type]]), strong: false, moving: false }];
  });
};

/** Whether the table itself, and so a consistent read, can answer. */
const inTable = ({ edge, direction }: ReadCommand): boolean => direction === "out" || edge === "friend" || edge === "tagged";

const runQuery = async (query: Query, command: ReadCommand): Promise<Seen> => {
  if (command.kind === "pages") return { edges: await allPages(query), nodes: [] };
  if (command.kind !== "entries") return { edges: await query.edges(), nodes: [] };
  const entries = await query.entries();
  return { edges: entries.map(({ edge }) => edge), nodes: farNodes(command, entries) };
};

const list = (db: Db, command: ReadCommand) => async (): Promise<readonly Observation[]> => {
  const { edge, direction } = command;
  const type = edgeTypes[edge];
  const id = nodeId(direction === "out" ? type.from : type.to, direction === "out" ? command.from : command.to);
  const strong = command.kind === "list" && command.strong && inTable(command);
  const plain = (
    member(db, direction === "out" ? type.from : type.to)(idRow(direction === "out" ? type.from : type.to, id))[direction] as unknown as (
      edge: string,
    ) => Query
  )(edge);
  const query = strong ? (type.ordered ? plain.unordered() : plain).consistent() : plain;
  const { edges, nodes } = await runQuery(query, command);
  const seen = edges.map((row) => readEdge(edge, row));
  const absent = placesAt(edge, direction, id)
    .map(edgeObject)
    .filter((object) => !seen.some((one) => one.object === object));
  const values = [...seen, ...absent.map((object) => ({ object, value: ABSENT }))];
  return [...values.map((one) => ({ ...one, strong, moving: type.ordered && !strong })), ...nodes];
};

const getOne = (db: Db, command: ReadCommand) => async (): Promise<readonly Observation[]> => {
  const { strong } = command;
  if (command.kind === "getNode") {
    const type = edgeTypes[command.edge].to;
    const id = nodeId(type, command.to);
    const row = (await member(db, type)["get"]?.(idRow(type, id), { consistent: strong })) as Row | undefined;
    return [{ object: nodeObject(type, id), value: asText(row, nodeAttribute[type]), strong, moving: false }];
  }
  const place = placeOf({ ...command, role: command.direction === "out" ? "x" : "y" });
  const type = edgeTypes[command.edge];
  const key = command.edge === "worksOn" ? { key: { role: place.role } } : {};
  const row = (await member(db, command.edge)["get"]?.(
    endRow(command.edge, type.from, place.from),
    endRow(command.edge, type.to, place.to),
    { ...key, consistent: strong },
  )) as Row | undefined;
  return [{ object: edgeObject(place), value: asText(row, type.attribute), strong, moving: false }];
};

/** What is seen of an account. */
export const accountView = (id: string, row: Row | undefined, strong: boolean): readonly Observation[] => [
  { object: `swing:${id}`, value: String(row?.["swing"] ?? 0), strong, moving: false },
  {
    object: `tokens:${id}`,
    value: `${((row?.["tokens"] ?? []) as readonly string[]).join(" ")}=${String(row?.["total"] ?? 0)}`,
    strong,
    moving: false,
  },
];

const getAccount =
  (db: Db, { from, strong }: ReadCommand) =>
  async (): Promise<readonly Observation[]> => {
    const id = `a${from}`;
    return accountView(id, (await member(db, "account")["get"]?.({ accountId: id }, { consistent: strong })) as Row | undefined, strong);
  };

/** Turns a command into calls, not yet made. */
export const stepOf = (performer: Performer, command: Command): Step => {
  switch (command.kind) {
    case "create":
    case "put":
    case "update":
    case "upsert":
    case "delete":
      return { writes: [nodeStep(performer, command)] };
    case "link":
    case "putEdge":
    case "relink":
    case "upsertEdge":
    case "unlink":
      return { writes: [edgeStep(performer, command)] };
    case "deposit":
    case "transfer":
    case "swing":
      return { writes: accountSteps(performer, command) };
    case "claim":
      return { writes: [claimStep(performer, command.handle)] };
    case "transact":
      return { writes: command.calls.map((call) => ("edge" in call ? edgeStep(performer, call) : nodeStep(performer, call))) };
    case "getNode":
    case "getEdge":
      return { read: getOne(performer.db, command) };
    case "getAccount":
      return { read: getAccount(performer.db, command) };
    default:
      return { read: list(performer.db, command) };
  }
};
