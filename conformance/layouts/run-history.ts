import { seededRandom, type Random } from "@edgetable/testing";
import { defineGraph, isEdgetableError, type Item } from "edgetable";
import { rewriteItem } from "edgetable/check";
import { type Finding, verify } from "edgetable/verify";
import { expect } from "vitest";
import type { TestEngine } from "../engines/open-engine.ts";
import { type Drawn, drawLayout, drawnModel, drawTicket, pickOf, type Row, valueFor } from "./draw.ts";
import { chance, drawCondition, isIn, meets, pathsOf, shown, sorted, textOf, type Where } from "./naive.ts";

/** A table of a drawn layout, beside plain maps. */
interface World {
  readonly random: Random;
  readonly drawn: Drawn;
  // oxlint-disable-next-line typescript/no-explicit-any -- the model is drawn at run time
  readonly db: any;
  readonly log: string[];
  readonly tickets: Map<string, Row>;
  readonly notes: Map<string, Row>;
  readonly links: Map<string, Row>;
}

interface Outcome {
  readonly ok: boolean;
  readonly row?: Row;
  readonly outcomes?: readonly Outcome[];
}

type Rows = readonly unknown[];

// What an index does not serve, and what no key holds, is refused by name.
const REFUSED = /^(plan\.noIndex|plan\.unsupported|keys\.)/;

/** The answer of a call; undefined where it is refused. */
const attempt = async <Answer>(call: () => PromiseLike<Answer>): Promise<Answer | undefined> => {
  try {
    return await call();
  } catch (error) {
    if (!isEdgetableError(error) || !REFUSED.test(error.code)) throw error;
    return undefined;
  }
};

const same = (actual: Rows | undefined, expected: Rows): void => {
  if (actual) expect(sorted(actual)).toEqual(sorted(expected));
};

const nameOf = ({ drawn }: World, { id, sub }: Row): string => {
  const own = drawn.folds ? String(id).toLowerCase() : id;
  return textOf(drawn.hasSub ? { id: own, sub } : { id: own });
};

const idIn = ({ drawn }: World, { id, sub }: Row): Row => (drawn.hasSub ? { id, sub } : { id });

const writeTicket = async (world: World, id: Row, verb: "put" | "create"): Promise<void> => {
  const { random, drawn, db, log, tickets } = world;
  const old = tickets.get(nameOf(world, id));
  // With another place in its partition it would be a second item of the id.
  if (drawn.moves && old && verb === "create") return;
  const row = { ...drawTicket(random, id), ...(drawn.moves && old ? { m: old["m"] } : {}) };
  log.push(`${verb} ${textOf(row)}`);
  const outcome = await attempt<Outcome>(() => db.ticket[verb](row));
  if (!outcome) return;
  expect(outcome.ok).toBe(verb === "put" || old === undefined);
  if (!outcome.ok) return;
  tickets.set(nameOf(world, id), row);
  expect(textOf(outcome.row)).toEqual(textOf(shown(drawn, row)));
};

const OPTIONAL = ["t", "n", "f", "d", "o", "ref"];

const changeTicket = async (world: World, id: Row, inTransaction: boolean): Promise<void> => {
  const { random, drawn, db, log, tickets } = world;
  const old = tickets.get(nameOf(world, id));
  const set: Record<string, unknown> = {};
  const remove: string[] = [];
  for (const field of new Set([pickOf(random, [...OPTIONAL, "u", "s", "m"]), pickOf(random, OPTIONAL)]))
    if (OPTIONAL.includes(field) && chance(random, 0.4)) remove.push(field);
    else set[field] = valueFor(random, field);
  const add = chance(random, 0.3) && !("m" in set) ? { m: 1 } : {};
  const changes = { set, remove, add };
  const asked = pickOf(random, ["t", "u", "s", "n", "m", "d", "ref", ...drawn.fills.map(({ field }) => field)]);
  const condition: Where = chance(random, 0.4) ? { [asked]: drawCondition(random, asked, old ? [shown(drawn, old)] : []) } : {};
  log.push(`update ${textOf(id)} ${textOf(changes)} if ${textOf(condition)}${inTransaction ? " in a transaction" : ""}`);
  const update = () => db.ticket.update(id, changes, Object.keys(condition).length > 0 ? { if: condition } : undefined);
  const outcome = await attempt<Outcome>(() => (inTransaction ? db.transact([update()]) : update()));
  if (!outcome) return;
  const passes = old !== undefined && meets(shown(drawn, old), condition);
  expect(outcome.ok).toBe(passes);
  if (!passes) return;
  const next: Record<string, unknown> = { ...old, ...set };
  for (const field of remove) delete next[field];
  if ("m" in add) next["m"] = Number(next["m"]) + 1;
  tickets.set(nameOf(world, id), next);
  const row = outcome.row ?? outcome.outcomes?.[0]?.row;
  if (row) expect(textOf(row)).toEqual(textOf(shown(drawn, next)));
};

const deleteTicket = async (world: World, id: Row): Promise<void> => {
  const { db, log, tickets, notes } = world;
  const name = nameOf(world, id);
  log.push(`delete ${name}`);
  const outcome: Outcome = await db.ticket.delete(id, { indexLag: 0 });
  expect(outcome.ok).toBe(tickets.delete(name));
  if (outcome.ok) for (const [at, one] of notes) if (nameOf(world, one) === name) notes.delete(at);
};

const writeBeside = async (world: World, id: Row): Promise<void> => {
  const { random, db, log, tickets, notes, links } = world;
  const note = { k: Math.floor(random() * 3), ...(chance(random, 0.5) ? { w: "w" } : {}) };
  log.push(`note ${textOf(id)} ${textOf(note)}`);
  if (await attempt(() => db.note.put(id, note))) notes.set(`${nameOf(world, id)} ${note.k}`, { ...note, ...id });
  if (!tickets.has(nameOf(world, id))) return;
  const to = { ownerId: valueFor(random, "ref") };
  const link = { at: pickOf(random, ["1", "2", "11"]), ...(chance(random, 0.5) ? { w: 1.5 } : {}) };
  log.push(`link ${textOf(id)} ${textOf(to)} ${textOf(link)}`);
  if (await attempt(() => db.link.put(id, to, link))) links.set(`${nameOf(world, id)} ${textOf(to)}`, { from: id, to, ...link });
};

const askReferences = async (world: World, id: Row, ownerId: unknown): Promise<void> => {
  const { random, drawn, db, tickets } = world;
  const sources = [...tickets.values()].filter((row) => row["ref"] === ownerId);
  const edgeOf = (row: Row): Row => ({ from: idIn(world, row), to: { ownerId }, s: row["s"], m: row["m"] });
  const sought: Where = { m: drawCondition(random, "m", sources) };
  const fitting = sources.filter((row) => meets(row, sought)).map(edgeOf);
  same(
    await attempt<Rows>(() =>
      db
        .find("owned")
        .where({ to: { ownerId }, ...sought })
        .rows(),
    ),
    fitting,
  );
  same(await attempt<Rows>(() => db.owner({ ownerId }).in("owned").where(sought).edges()), fitting);
  const nodes = sources.map((row) => shown(drawn, row));
  same(await attempt<Rows>(() => db.owner({ ownerId }).in("owned").nodes()), nodes);
  const held = sources.filter((row) => isIn(drawn, "REF", row)).map(edgeOf);
  same(await attempt<Rows>(() => db.owner({ ownerId }).in("owned").using("REF").edges()), held);
  const owner = tickets.get(nameOf(world, id))?.["ref"];
  same(await db.ticket(id).out("owned").nodes(), owner === undefined ? [] : [{ ownerId: owner, name: owner }]);
};

const askNear = async (world: World, id: Row): Promise<void> => {
  const { random, drawn, db, log, notes, links } = world;
  const [ownerId, held, name] = [valueFor(random, "ref"), pickOf(random, ["1", "2", "11"]), nameOf(world, id)];
  log.push(`near ${textOf(ownerId)} ${held}`);
  const reached = [...links.values()].filter(({ to }) => textOf(to) === textOf({ ownerId }));
  const conditions: readonly Where[] = [{}, { at: { gte: held } }, { at: { eq: held } }, { w: { exists: true } }];
  for (const where of conditions) {
    const fitting = reached.filter((row) => meets(row, where));
    same(await attempt<Rows>(() => db.owner({ ownerId }).in("link").where(where).edges()), fitting);
    same(
      await attempt<Rows>(() =>
        db
          .find("link")
          .where({ to: { ownerId }, ...where })
          .rows(),
      ),
      fitting,
    );
  }
  const isOwn = (row: unknown): boolean => nameOf(world, row as Row) === name;
  same(
    await db.ticket(id).out("link").edges(),
    [...links.values()].filter(({ from }) => isOwn(from)),
  );
  same(await db.ticket(id).parts("note").all(), [...notes.values()].filter(isOwn));
  if (drawn.references) await askReferences(world, id, ownerId);
};

const drawWhere = (world: World, index: Drawn["indexes"][number], all: readonly Row[]): Where => {
  const { random, drawn } = world;
  const where: Record<string, Where[string]> = {};
  const names = ["t", "u", "s", "n", "m", "f", "d", "o.x", "ref", "id", ...drawn.fills.map(({ field }) => field)];
  const inKey = (key: string | undefined): readonly string[] =>
    pathsOf(drawn.ticketKeys[key ?? ""] ?? `{${key ?? "u"}}`).filter((path) => names.includes(path));
  for (const path of inKey(index.partitionKey)) {
    const value = all.map((row) => path.split(".").reduce<unknown>((one, step) => (one as Row | undefined)?.[step], row));
    const held = value.filter((one) => one !== undefined);
    if (held.length > 0) where[path] = { eq: pickOf(random, held) };
  }
  const [next] = inKey(index.sortKey);
  for (let count = Math.floor(random() * 3); count > 0; count--) {
    const path = next !== undefined && chance(random, 0.5) ? next : pickOf(random, names);
    where[path] ??= drawCondition(random, path, all);
  }
  return where;
};

const search = async (world: World): Promise<void> => {
  const { random, drawn, db, log, tickets } = world;
  const all = [...tickets.values()].map((row) => shown(drawn, row));
  const index = pickOf(random, drawn.indexes);
  const using = chance(random, 0.4) ? index.name : undefined;
  const where = drawWhere(world, index, all);
  if (Object.keys(where).length === 0 && using === undefined) return;
  log.push(`find ${textOf(where)} ${using ?? ""}`);
  let query = db.find("ticket").where(where);
  if (using !== undefined) query = query.using(using);
  if (chance(random, 0.3)) query = query.reverse();
  const found = await attempt<Rows>(() => query.rows());
  if (!found) return;
  const wanted = all.filter((row) => meets(row, where) && (using === undefined || isIn(drawn, using, row)));
  same(found, wanted);
  expect(await query.count()).toBe(wanted.length);
  const paged: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await query.page({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
    paged.push(...(page.items as Rows));
    cursor = page.next as string | undefined;
  } while (cursor !== undefined);
  // Items of equal keys come in any order.
  same(paged, found);
};

const searchSeveral = async (world: World, { id }: Row): Promise<void> => {
  const { drawn, db, tickets, notes } = world;
  const isOwn = (row: Row): boolean => row["id"] === id;
  const wanted = [
    ...[...tickets.values()].filter(isOwn).map((row) => ({ kind: "ticket", row: shown(drawn, row) })),
    ...[...notes.values()].filter(isOwn).map((row) => ({ kind: "note", row })),
  ];
  same(await attempt<Rows>(() => db.find(["ticket", "note"]).where({ id }).rows()), wanted);
};

const COMMANDS = ["put", "put", "create", "change", "change", "transact", "delete", "beside", "near", "several"] as const;

const takeStep = async (world: World): Promise<void> => {
  const { random, drawn, db, tickets } = world;
  const id = idIn(world, { id: valueFor(random, "id"), sub: valueFor(random, "sub") });
  const command = pickOf(random, COMMANDS);
  if (command === "put" || command === "create") await writeTicket(world, id, command);
  else if (command === "change" || command === "transact") await changeTicket(world, id, command === "transact");
  else if (command === "delete") await deleteTicket(world, id);
  else if (command === "beside") await writeBeside(world, id);
  else if (command === "near") await askNear(world, id);
  else await searchSeveral(world, id);
  await search(world);
  const row = tickets.get(nameOf(world, id));
  same([(await db.ticket.get(id)) ?? null], [row ? shown(drawn, row) : null]);
};

const MAX_TRIES = 200;

/** A layout that the model's checks accept: most that are drawn. */
const drawModel = (random: Random, table: string) => {
  for (let tries = 0; ; tries++) {
    const drawn = drawLayout(random);
    try {
      return { drawn, graph: defineGraph(drawnModel(table, drawn) as never) };
    } catch (error) {
      if (!isEdgetableError(error, "schema.invalidModel") || tries === MAX_TRIES) throw error;
    }
  }
};

/** What nodes that are deleted, and edges and parts that precede theirs, leave in any layout. */
const EXPECTED = ["dangling", "orphanedPart", "leftEdge"];

/** Draws a layout, and compares a random history of writes and reads in it with plain maps. */
export const runHistory = async (engine: TestEngine, seed: number, steps: number): Promise<void> => {
  const random = seededRandom(seed);
  const table = engine.freshTableName("drawn");
  const { drawn, graph } = drawModel(random, table);
  const db = graph.connect({ transport: engine.transport, cursorSecret: "random layouts, random layouts, random" });
  const world: World = { random, drawn, db, log: [], tickets: new Map(), notes: new Map(), links: new Map() };
  try {
    await db.table.create();
    for (const ownerId of ["o1", "o2", "O1"]) await world.db.owner.create({ ownerId, name: ownerId }).orThrow();
    for (let step = 0; step < steps; step++) await takeStep(world);
    const { Items = [] } = await engine.transport.send("Scan", { TableName: table });
    for (const item of Items as readonly Item[]) {
      const { problem, differing } = rewriteItem(graph, item);
      expect({ item, problem, differing }).toEqual({ item, problem: undefined, differing: [] });
    }
    const findings: Finding[] = [];
    await verify(db, { onFinding: (finding) => void findings.push(finding) });
    expect(findings.filter(({ kind }) => !EXPECTED.includes(kind))).toEqual([]);
  } catch (error) {
    const history = [JSON.stringify(drawn.layout), ...world.log.slice(-12)].join("\n");
    throw new Error(`history ${seed}: ${(error as Error).message}\n${history}`, { cause: error });
  }
  await engine.transport.send("DeleteTable", { TableName: table });
};
