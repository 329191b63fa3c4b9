import { expect } from "vitest";
import type { Bound, Command, EdgeName, NodeType } from "./commands.ts";
import type { Names } from "../hostile/names.ts";
import { inNumbers, valueText } from "../hostile/values.ts";
import { fulfils } from "../naive/condition.ts";
import { NaiveGraph, same, type NaiveEdge, type NaiveEnd, type Row } from "../naive/graph.ts";

/** What a history runs on. */
export interface Subject {
  /** A connection to the oracle's graph. */
  readonly db: unknown;
  /** Keeps the ids of one history apart from those of another in the same table. */
  readonly scope: string;
  /** What the naive graph calls the nodes, by the small numbers of the commands. */
  readonly ids: readonly string[];
  /** What the library calls them. */
  readonly names: Names;
  /** Whether the layout's keys sort exactly as values; else answers are compared as sets. */
  readonly exactOrder: boolean;
}

interface Ends {
  readonly from: readonly NodeType[];
  readonly to: readonly NodeType[];
  /** The attribute of its edges, where they have one. */
  readonly attribute: string | undefined;
  readonly numeric: boolean;
}

const ends: Readonly<Record<EdgeName, Ends>> = {
  follows: { from: ["person"], to: ["person"], attribute: "since", numeric: false },
  friend: { from: ["person"], to: ["person"], attribute: "note", numeric: false },
  likes: { from: ["person"], to: ["post", "tag"], attribute: "rank", numeric: true },
  worksOn: { from: ["person"], to: ["post"], attribute: "hours", numeric: true },
  tagged: { from: ["post"], to: ["tag"], attribute: "by", numeric: false },
  pins: { from: ["person"], to: ["post"], attribute: "at", numeric: false },
  knows: { from: ["person", "tag"], to: ["person", "tag"], attribute: "how", numeric: false },
  writtenBy: { from: ["post"], to: ["person"], attribute: undefined, numeric: false },
};

const oneOf = (types: readonly NodeType[], last: boolean | undefined): NodeType => types[last ? types.length - 1 : 0] ?? "post";

const naiveTypes = {
  follows: { orderBy: "since" },
  friend: { symmetric: true },
  likes: { orderBy: "rank" },
  worksOn: { key: ["role"] },
  tagged: {},
  pins: {},
  knows: {},
  writtenBy: {},
};

const clean = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));

// The surface is typed by the model; a history picks its members at run time.
type Loose = Readonly<Record<string, (...values: readonly unknown[]) => never>>;
const member = (db: unknown, name: string): Loose & ((id: Row) => Loose) => (db as Readonly<Record<string, never>>)[name] as never;

class History {
  readonly #subject: Subject;
  readonly #naive = new NaiveGraph(naiveTypes);

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  #end(type: NodeType, id: number): NaiveEnd {
    return { type, id: this.#subject.ids[id] ?? "" };
  }

  // Answers have one spelling of an id; calls take any.
  #id(end: NaiveEnd): Row {
    return this.#subject.names.row(end);
  }

  #given(end: NaiveEnd): Row {
    return this.#subject.names.given(end);
  }

  #typed(edge: EdgeName, end: NaiveEnd, id: Row): Row {
    const { from, to } = ends[edge];
    return from.length > 1 || to.length > 1 ? { type: end.type, ...id } : id;
  }

  #ref(edge: EdgeName, end: NaiveEnd): Row {
    return this.#typed(edge, end, this.#id(end));
  }

  #author(author: number | undefined): Row {
    if (author === undefined) return {};
    const { realm, personId } = this.#id(this.#end("person", author));
    return { authorRealm: realm, authorId: personId };
  }

  // A reference goes with its source.
  #putPost(end: NaiveEnd, row: Row, author: number | undefined): void {
    this.#naive.putNode({ ...end, row });
    this.#naive.dropEdges("writtenBy", end);
    if (author === undefined) return;
    this.#naive.putEdge({ edge: "writtenBy", from: end, to: this.#end("person", author), attributes: {} });
  }

  #handle(handle: number | undefined): string | undefined {
    return handle === undefined ? undefined : `${this.#subject.scope}@${handle}`;
  }

  #handleTaken(handle: unknown, except: NaiveEnd): boolean {
    const persons = this.#naive.nodes.filter(({ type }) => type === "person");
    return handle !== undefined && persons.some((one) => one.row["handle"] === handle && !same(one, except));
  }

  #edgeRow(one: NaiveEdge): Row {
    return clean({ from: this.#ref(one.edge as EdgeName, one.from), to: this.#ref(one.edge as EdgeName, one.to), ...one.attributes });
  }

  // A date that may also be of another type can be an id, and no attribute: it is refused where a reference would lead to it.
  #referable(author: number | undefined): number | undefined {
    return author === undefined || this.#id(this.#end("person", author))["personId"] instanceof Date ? undefined : author;
  }

  async step(command: Command): Promise<void> {
    switch (command.kind) {
      case "create":
      case "put":
        return this.#write({ ...command, author: this.#referable(command.author) });
      case "update":
        return this.#update(command);
      case "many":
        return this.#many(command);
      case "author":
        return this.#relate({ ...command, author: this.#referable(command.author) });
      case "delete":
        return this.#delete(command);
      case "read":
        return this.#read(command);
      default:
        return this.#edge(command);
    }
  }

  async #write(command: Extract<Command, { kind: "create" | "put" }>): Promise<void> {
    const end = this.#end(command.type, command.id);
    const person = { name: command.name, handle: this.#handle(command.handle), age: command.age };
    const own =
      command.type === "person"
        ? person
        : command.type === "post"
          ? { title: command.name, ...this.#author(command.author) }
          : { name: command.name };
    const row = clean({ ...this.#id(end), ...own });
    const taken = command.type === "person" && this.#handleTaken(person.handle, end);
    const allowed = !taken && (command.kind === "put" || this.#naive.node(end) === undefined);
    const outcome: { readonly ok: boolean } = (await member(this.#subject.db, command.type)[command.kind]?.({
      ...row,
      ...this.#given(end),
    })) as never;
    expect(outcome.ok, `${command.kind} ${command.type}`).toBe(allowed);
    if (allowed && command.type === "post") this.#putPost(end, row, command.author);
    else if (allowed) this.#naive.putNode({ ...end, row });
    if (command.type === "person") await this.#compareBy(person.handle);
  }

  /** Compares the person that has a handle. */
  async #compareBy(handle: string | undefined): Promise<void> {
    if (handle === undefined) return;
    const owner = this.#naive.nodes.find(({ type, row }) => type === "person" && row["handle"] === handle);
    const row = await member(this.#subject.db, "person")["by"]?.({ handle });
    expect(valueText(inNumbers(row)), `by ${handle}`).toEqual(valueText(inNumbers(owner?.row)));
  }

  async #many({ type, ids }: Extract<Command, { kind: "many" }>): Promise<void> {
    const ends = ids.map((id) => this.#end(type, id));
    const rows = await member(this.#subject.db, type)["getMany"]?.(ends.map((end) => this.#given(end)));
    const texts = (list: readonly unknown[]): readonly string[] => list.map((row) => valueText(inNumbers(row)));
    expect(texts(rows ?? []), `many ${type}`).toEqual(texts(ends.map((end) => this.#naive.node(end)?.row)));
  }

  async #relate({ id, author }: Extract<Command, { kind: "author" }>): Promise<void> {
    const end = this.#end("post", id);
    const before = this.#naive.node(end);
    const changes = author === undefined ? { remove: ["authorRealm", "authorId"] } : { set: this.#author(author) };
    const outcome: { readonly ok: boolean } = (await member(this.#subject.db, "post")["update"]?.(this.#given(end), changes)) as never;
    expect(outcome.ok, "update post").toBe(before !== undefined);
    if (!before) return;
    const { authorRealm: _realm, authorId: _id, ...rest } = before.row;
    this.#putPost(end, { ...rest, ...this.#author(author) }, author);
  }

  async #update(command: Extract<Command, { kind: "update" }>): Promise<void> {
    const end = this.#end("person", command.id);
    const before = this.#naive.node(end);
    const handle = this.#handle(command.handle);
    const set = clean({ name: command.name, handle });
    if (Object.keys(set).length === 0 && command.add === undefined) return;
    const allowed = before !== undefined && !this.#handleTaken(handle, end);
    const changes = { set, ...(command.add === undefined ? {} : { add: { age: command.add } }) };
    const outcome: { readonly ok: boolean } = (await member(this.#subject.db, "person")["update"]?.(this.#given(end), changes)) as never;
    expect(outcome.ok, "update person").toBe(allowed);
    if (allowed) {
      const age = command.add === undefined ? before.row["age"] : ((before.row["age"] as number | undefined) ?? 0) + command.add;
      this.#naive.putNode({ ...end, row: clean({ ...before.row, ...set, age }) });
    }
    await this.#compareBy(handle);
    await this.#compareBy(before?.row["handle"] as string | undefined);
  }

  async #delete(command: Extract<Command, { kind: "delete" }>): Promise<void> {
    const end = this.#end(command.type, command.id);
    const allowed = this.#naive.node(end) !== undefined;
    const outcome: { readonly ok: boolean } = (await member(this.#subject.db, command.type)["delete"]?.(this.#given(end))) as never;
    expect(outcome.ok, `delete ${command.type}`).toBe(allowed);
    this.#naive.deleteNode(end);
    this.#naive.dropEdges("writtenBy", end);
  }

  #edgeOf(command: Extract<Command, { kind: "link" | "relink" | "unlink" }>): NaiveEdge {
    const { from, to, attribute, numeric } = ends[command.edge];
    const value = numeric ? command.number : command.text;
    const role = command.edge === "worksOn" ? command.role : "";
    const attributes = clean({ [attribute ?? ""]: value, role: role === "" ? undefined : role });
    const [source, target] = [this.#end(oneOf(from, command.fromTag), command.from), this.#end(oneOf(to, command.toTag), command.to)];
    return { edge: command.edge, from: source, to: target, attributes };
  }

  async #edge(command: Extract<Command, { kind: "link" | "relink" | "unlink" }>): Promise<void> {
    const edge = this.#edgeOf(command);
    const before = this.#naive.edge(edge);
    const api = member(this.#subject.db, command.edge);
    const from = this.#typed(command.edge, edge.from, this.#given(edge.from));
    const to = this.#typed(command.edge, edge.to, this.#given(edge.to));
    const { role, ...changes } = edge.attributes;
    const key = role === undefined ? undefined : { role };
    if (command.kind === "link") {
      const both = this.#naive.node(edge.from) !== undefined && this.#naive.node(edge.to) !== undefined;
      const full = command.edge === "pins" && this.#naive.degree("pins", edge.from) >= 2;
      const outcome: { readonly ok: boolean } = (await api["link"]?.(from, to, edge.attributes)) as never;
      expect(outcome.ok, `link ${command.edge}`).toBe(before === undefined && both && !full);
      if (outcome.ok) this.#naive.putEdge(edge);
      return;
    }
    const outcome: { readonly ok: boolean } = (await (command.kind === "relink"
      ? api["relink"]?.(from, to, changes, key ? { key } : {})
      : api["unlink"]?.(from, to, key ? { key } : {}))) as never;
    expect(outcome.ok, `${command.kind} ${command.edge}`).toBe(before !== undefined);
    if (!before) return;
    if (command.kind === "unlink") this.#naive.deleteEdge(before);
    else this.#naive.putEdge({ ...before, attributes: { ...before.attributes, ...changes } });
  }

  #operand(edge: EdgeName, bound: Bound): unknown {
    const operand = ends[edge].numeric ? bound.number : bound.text;
    if (bound.operator === "between" || bound.operator === "in") return [operand, this.#upper(edge, bound)];
    return bound.operator === "exists" ? true : operand;
  }

  #upper(edge: EdgeName, bound: Bound): unknown {
    return ends[edge].numeric ? bound.other : `${bound.text}~`;
  }

  #where(edge: EdgeName, bound: Bound): Row {
    return { [ends[edge].attribute ?? ""]: { [bound.operator]: this.#operand(edge, bound) } };
  }

  async #read(command: Extract<Command, { kind: "read" }>): Promise<void> {
    const { edge, direction } = command;
    const { from, to, attribute, numeric } = ends[edge];
    const type = oneOf(direction === "out" ? from : to, command.tag);
    const at = this.#end(type, command.id);
    const bound =
      command.where &&
      attribute !== undefined &&
      !(numeric && command.where.operator === "beginsWith") &&
      !(command.where.operator === "between" && numeric && command.where.other < command.where.number)
        ? command.where
        : undefined;
    const limit = this.#isOrdered(command) || command.want === "count" ? command.limit : undefined;
    const far = this.#asked(command);
    let expected = this.#naive
      .neighbours(at, { edge, direction, ordered: command.ordered })
      .filter((one) => !bound || fulfils(one.attributes[attribute ?? ""], bound.operator, this.#operand(edge, bound)))
      .filter((one) => !far || same(this.#far(command, one), far));
    if (command.reverse) expected = expected.toReversed();
    if (limit !== undefined && command.want !== "pages" && command.want !== "back") expected = expected.slice(0, limit);
    let query = (member(this.#subject.db, type)(this.#given(at))[direction] as (edge: string) => Query)(edge);
    if (!command.ordered) query = query.unordered();
    if (command.reverse) query = query.reverse();
    if (bound) query = query.where(this.#where(edge, bound));
    if (far) query = query.where({ [direction === "out" || edge === "friend" ? "to" : "from"]: this.#typed(edge, far, this.#given(far)) });
    const limited = limit === undefined ? query : query.limit(limit);
    await this.#compare(command, { query: command.want === "pages" || command.want === "back" ? query : limited, expected });
  }

  /** The far end that a read asks for. */
  #asked({ edge, direction, far, tag }: Extract<Command, { kind: "read" }>): NaiveEnd | undefined {
    const { from, to } = ends[edge];
    return far === undefined ? undefined : this.#end(oneOf(direction === "out" ? to : from, tag), far);
  }

  #far(command: Extract<Command, { kind: "read" }>, one: NaiveEdge): NaiveEnd {
    return command.direction === "out" || command.edge === "friend" ? one.to : one.from;
  }

  // An ordered edge read unordered comes as is cheapest.
  #isOrdered(command: Extract<Command, { kind: "read" }>): boolean {
    return this.#subject.exactOrder && (command.ordered || !("orderBy" in naiveTypes[command.edge]));
  }

  #same(command: Extract<Command, { kind: "read" }>, actual: readonly unknown[], expected: readonly unknown[]): void {
    const label = JSON.stringify(command);
    const texts = (list: readonly unknown[]): readonly string[] => list.map((one) => valueText(inNumbers(one)));
    if (this.#isOrdered(command)) expect(texts(actual), label).toEqual(texts(expected));
    else expect(texts(actual).toSorted(), label).toEqual(texts(expected).toSorted());
  }

  async #compare(
    command: Extract<Command, { kind: "read" }>,
    { query, expected }: { readonly query: Query; readonly expected: readonly NaiveEdge[] },
  ): Promise<void> {
    const label = JSON.stringify(command);
    const rows = expected.map((one) => this.#edgeRow(one));
    // Of several kinds, each node says of which it is.
    const several = ends[command.edge][command.direction === "out" ? "to" : "from"].length > 1;
    const nodeOf = (one: NaiveEdge): Row | undefined => {
      const far = this.#far(command, one);
      const row = this.#naive.node(far)?.row;
      return row && several ? { kind: far.type, row } : row;
    };
    switch (command.want) {
      case "edges":
        return this.#same(command, await query.edges(), rows);
      case "ids":
        return this.#same(
          command,
          await query.ids(),
          expected.map((one) => this.#ref(command.edge, this.#far(command, one))),
        );
      case "count":
        return expect(await query.count(), label).toBe(expected.length);
      case "nodes":
        return this.#same(
          command,
          await query.nodes(),
          expected.flatMap((one) => nodeOf(one) ?? []),
        );
      case "entries":
        return this.#same(
          command,
          await query.entries(),
          expected.map((one, at) => ({ edge: rows[at], node: nodeOf(one) })),
        );
      default:
        return this.#comparePages(command, query, rows);
    }
  }

  async #comparePages(command: Extract<Command, { kind: "read" }>, query: Query, rows: readonly Row[]): Promise<void> {
    const limit = command.limit ?? 2;
    const pages: Page[] = [];
    let cursor: string | undefined;
    do {
      const page = await query.page({ limit, cursor });
      pages.push(page);
      if (page.next !== undefined) expect(page.items.length, "a page that has a next one is full").toBe(limit);
      cursor = page.next;
    } while (cursor !== undefined);
    this.#same(
      command,
      pages.flatMap((page) => page.items),
      rows,
    );
    const last = pages.at(-1);
    if (command.want !== "back" || !this.#isOrdered(command) || last?.previous === undefined) return;
    const before = rows.length - last.items.length;
    const previous = await query.page({ limit, cursor: last.previous });
    this.#same(command, previous.items, rows.slice(Math.max(0, before - limit), before));
  }
}

interface Page {
  readonly items: readonly unknown[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
}
interface Query {
  unordered(): Query;
  reverse(): Query;
  where(filter: Row): Query;
  limit(most: number): Query;
  edges(): Promise<readonly unknown[]>;
  ids(): Promise<readonly unknown[]>;
  nodes(): Promise<readonly unknown[]>;
  entries(): Promise<readonly unknown[]>;
  count(): Promise<number>;
  page(options: { readonly limit: number; readonly cursor: string | undefined }): Promise<Page>;
}

/** Runs a history on the library and on the reference, and compares every answer. */
export const runHistory = async (subject: Subject, commands: readonly Command[]): Promise<void> => {
  const history = new History(subject);
  for (const command of commands) await history.step(command);
};
