import type { Transport } from "edgetable";
import { expect } from "vitest";
import type { FindCommand, Kind, Search } from "./find-commands.ts";
import { findable, type Counts, type Findable } from "./find-model.ts";
import { compareLists, fulfilsAll } from "../naive/condition.ts";
import type { Row } from "../naive/graph.ts";

/** A thing as the reference has it: plain data in a plain array. */
interface Thing {
  readonly kind: Kind;
  readonly id: string;
  readonly row: Row;
  /** What it is found by, and what tells it from others, in the order of the index. */
  readonly place: readonly unknown[];
  /** Whether it was written before its index was there, and not since: then the index does not find it. */
  readonly early?: boolean;
}

/** What only the newest indexes find. */
const isNewlyFound = (kind: Kind): boolean => kind === "task" || kind === "note";

const levelsOf: Readonly<Record<Kind, readonly string[]>> = {
  person: ["name"],
  place: ["country", "region", "city"],
  bornIn: ["country", "region", "city"],
  hasSkill: ["skill", "level"],
  note: ["topic"],
  task: ["due"],
};

export interface FindSubject {
  readonly transport: Transport;
  readonly table: string;
  readonly rulesOff: readonly string[];
  /** Numbers of shards, from the first to the last. */
  readonly counts: Counts;
  /** Edgetable's own layout, whose sort keys are unique and sort as values; else an adopted one, whose are not. */
  readonly own: boolean;
}

type Loose = Readonly<Record<string, (...values: readonly unknown[]) => never>>;

interface Query {
  where(filter: Row): Query;
  reverse(): Query;
  using(index: string): Query;
  rows(): Promise<readonly unknown[]>;
  first(): Promise<unknown>;
  count(): Promise<number>;
  limit(most: number): Query;
  sources(): Promise<readonly unknown[]>;
  page(options: { readonly limit: number; readonly cursor: string | undefined }): Promise<Page>;
  [Symbol.asyncIterator](): AsyncIterator<unknown>;
}
/** A search that is asked, and what it is to give. */
interface Asked {
  readonly query: () => Query;
  readonly rows: readonly unknown[];
  readonly label: string;
}
interface Page {
  readonly items: readonly unknown[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
}

const clean = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));

/** A row as text, whatever the order of its fields. */
const textOf = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, one]) => `${name}:${textOf(one)}`).join()}}`;
};

/** A table whose shards grow while it is used, beside a plain array. */
class FindHistory {
  readonly #subject: FindSubject;
  #things: readonly Thing[] = [];
  #at = 0;
  #young = false;
  #counts: Counts;
  #db: ReturnType<Findable["connect"]>;

  constructor(subject: FindSubject) {
    this.#subject = subject;
    this.#counts = [subject.counts[0] ?? 1];
    this.#db = this.#connect();
  }

  #connect(): ReturnType<Findable["connect"]> {
    const { transport, table, rulesOff, own } = this.#subject;
    return findable(table, { counts: this.#counts, own, young: this.#young }).connect({
      transport,
      advanced: { rulesOff },
      cursorSecret: "oracle".padEnd(43, "-"),
    });
  }

  #member(name: string): Loose {
    return (this.#db as unknown as Readonly<Record<string, Loose>>)[name] as Loose;
  }

  async step(command: FindCommand): Promise<void> {
    switch (command.kind) {
      case "put":
        return this.#put(command);
      case "delete":
        return this.#delete(command);
      case "update":
        return this.#update(command);
      case "grow":
        return this.#grow();
      case "reshard":
        return this.#reshard(command.settle);
      case "young":
      case "mature":
        this.#young = command.kind === "young";
        this.#db = this.#connect();
        return;
      case "find":
        return this.#find(command);
    }
  }

  #grow(): void {
    const next = this.#subject.counts[this.#at + 1];
    if (next === undefined) return;
    this.#at++;
    this.#counts = [next, ...this.#counts];
    this.#db = this.#connect();
  }

  async #reshard(settle: boolean): Promise<void> {
    await this.#db.reshard({ rate: 100_000, indexLag: 0 });
    if (!settle) return;
    this.#counts = this.#counts.slice(0, 1);
    this.#db = this.#connect();
  }

  #ends({ id, other, what }: Pick<Extract<FindCommand, { kind: "put" }>, "id" | "other" | "what">): {
    readonly from: Row;
    readonly to: Row;
    readonly texts: readonly string[];
  } {
    const task = what === "hasSkill" && other % 2 === 1;
    const to = task ? { type: "task", taskId: `t${other}` } : { ...(what === "hasSkill" ? { type: "place" } : {}), placeId: `l${other}` };
    const from = { ...(what === "hasSkill" ? { type: "person" } : {}), personId: `p${id}` };
    return { from, to, texts: ["PERSON", `p${id}`, task ? "TASK" : "PLACE", task ? `t${other}` : `l${other}`] };
  }

  #thing(command: Extract<FindCommand, { kind: "put" }>): Thing {
    const { what, id, other, number, more } = command;
    const [country, region, city] = command.texts;
    const thing = (key: readonly string[], row: Row): Thing => ({
      kind: what,
      id: key.join("/"),
      early: this.#young && isNewlyFound(what),
      row: clean(row),
      place: [...levelsOf[what].map((level) => row[level]), ...key],
    });
    switch (what) {
      case "person":
        return thing(["PERSON", `p${id}`], { personId: `p${id}`, name: country, age: more ? number : undefined });
      case "place":
        return thing(["PLACE", `l${id}`], { placeId: `l${id}`, country, region, city });
      case "task":
        return thing(["TASK", `t${id}`], {
          taskId: `t${id}`,
          due: more ? number : undefined,
          status: other % 3 === 0 ? undefined : other % 3 === 1 ? "open" : "done",
        });
      case "note":
        return thing(["PERSON", `p${id}`, "NOTE", String(other).padStart(3, "0")], { personId: `p${id}`, n: other, topic: country });
      default: {
        const { texts, ...ends } = this.#ends(command);
        return thing(texts, what === "bornIn" ? { ...ends, country, region, city } : { ...ends, skill: country, level: number });
      }
    }
  }

  async #put(command: Extract<FindCommand, { kind: "put" }>): Promise<void> {
    const thing = this.#thing(command);
    const { what, other } = command;
    const { from, to, personId, ...row } = thing.row;
    const api = this.#member(what);
    if (what === "bornIn" || what === "hasSkill") await api["put"]?.(from, to, row);
    else if (what === "note") await api["put"]?.({ personId }, { ...row, n: other });
    else await api["put"]?.(thing.row);
    this.#things = [...this.#things.filter(({ kind, id }) => kind !== thing.kind || id !== thing.id), thing];
  }

  async #delete(command: Extract<FindCommand, { kind: "delete" }>): Promise<void> {
    const { what, id, other } = command;
    if (what === "note") return;
    const thing = this.#thing({ ...command, kind: "put", texts: ["a", "a", "a"], number: 0, more: false });
    const found = this.#things.some((one) => one.kind === what && one.id === thing.id);
    const isEdge = what === "bornIn" || what === "hasSkill";
    const ends = this.#ends(command);
    const key = { person: { personId: `p${id}` }, place: { placeId: `l${id}` }, task: { taskId: `t${id}` } } as Readonly<
      Record<string, Row>
    >;
    const api = this.#member(what);
    const outcome: { readonly ok: boolean } = (await (isEdge ? api["unlink"]?.(ends.from, ends.to) : api["delete"]?.(key[what]))) as never;
    expect(outcome.ok, `delete ${what} ${id} ${other}`).toBe(found);
    // Its parts go with a person that is there; nobody looks for them otherwise.
    const along = found && what === "person" ? `${thing.id}/NOTE/` : undefined;
    this.#things = this.#things.filter(
      (one) => (one.kind !== what || one.id !== thing.id) && !(along !== undefined && one.kind === "note" && one.id.startsWith(along)),
    );
  }

  // Changes index keys of items that are there: a person's name, a task's time and what its shards follow from.
  async #update({ id, text, status, number }: Extract<FindCommand, { kind: "update" }>): Promise<void> {
    const change = (kind: Kind, key: string, fields: Row): void => {
      this.#things = this.#things.map((one) => {
        if (one.kind !== kind || one.id !== key) return one;
        const row = clean({ ...one.row, ...fields });
        return {
          ...one,
          early: this.#young && isNewlyFound(kind),
          row,
          place: [...levelsOf[kind].map((level) => row[level]), ...key.split("/")],
        };
      });
    };
    await this.#db.person.update({ personId: `p${id}` }, { name: text });
    change("person", `PERSON/p${id}`, { name: text });
    await this.#db.task.update({ taskId: `t${id}` }, {
      set: { status, ...(number === undefined ? {} : { due: number }) },
      ...(number === undefined ? { remove: ["due"] } : {}),
    } as never);
    change("task", `TASK/t${id}`, { status, due: number });
  }

  /** The conditions of a search; undefined where they would need what the index cannot serve. */
  #where({ kinds, levels, operator, texts, number, filter, status, list }: Search): Row {
    const [kind] = kinds as readonly [Kind];
    const names = levelsOf[kind];
    const given = Math.max(kind === "hasSkill" ? 1 : 0, Math.min(levels, names.length));
    const valueAt = (name: string, at: number): unknown => (name === "due" || name === "level" ? number : texts[at]);
    const where: Record<string, unknown> = {};
    for (const [at, name] of names.slice(0, given).entries()) where[name] = valueAt(name, at);
    const last = names[given - 1];
    if (list && last !== undefined) {
      const value = where[last];
      where[last] = { in: [value, typeof value === "number" ? value + 2 : texts[given % texts.length], value] };
    }
    const next = names[given];
    if (next !== undefined && operator !== undefined) {
      const value = valueAt(next, given);
      const numeric = typeof value === "number";
      if (operator === "between") where[next] = { between: [value, numeric ? number + 5 : `${String(value)}~`] };
      else if (operator !== "beginsWith" || !numeric) where[next] = { [operator]: value };
      else where[next] = { gte: value };
    } else if (kind === "task" && next !== undefined) where[next] = { gte: -10 };
    if (kind === "task" && status !== undefined) where["status"] = status;
    // A condition beside those that an index takes; alone it would need one of its own.
    if (kind === "person" && filter && Object.keys(where).length > 0) where["age"] = { gte: 0 };
    if (kind === "person" && filter && Object.keys(where).length > 1)
      where["or"] = [{ age: { lt: number } }, { not: { age: { lt: number + 20 }, name: { exists: true } } }];
    return where;
  }

  /** The same rows in the same order; where an adopted layout's sort keys tie, or sort otherwise than values, the same rows. */
  #same(actual: readonly unknown[], expected: readonly unknown[], label: string): void {
    const texts = (rows: readonly unknown[]): readonly string[] => rows.map(textOf).toSorted();
    if (this.#subject.own) expect(actual, label).toEqual(expected);
    else expect(texts(actual), label).toEqual(texts(expected));
  }

  async #find(search: Search): Promise<void> {
    const where = this.#where(search);
    const label = `${JSON.stringify(search)} where ${JSON.stringify(where)} over ${this.#counts.join("|")}`;
    // The level that names the partition is not in the sort key: rows of several come by the levels behind it.
    const sortsBehind = search.list === true && search.kinds[0] === "hasSkill" && search.levels <= 1;
    const placeOf = ({ place }: Thing): readonly unknown[] => (sortsBehind ? [...place.slice(1), place[0]] : place);
    const ordered = this.#things
      .filter(({ kind, row, early }) => early !== true && search.kinds.includes(kind) && fulfilsAll(row, where))
      .toSorted((a, b) => compareLists(placeOf(a), placeOf(b)));
    const expected = search.reverse ? ordered.toReversed() : ordered;
    const several = search.kinds.length > 1;
    const rows = expected.map(({ kind, row }) => (several ? { kind, row } : row));
    const query = (): Query => {
      const found = this.#db.find((several ? search.kinds : search.kinds[0]) as "person") as unknown as Query;
      const filtered = Object.keys(where).length === 0 ? found : found.where(where);
      return search.reverse ? filtered.reverse() : filtered;
    };
    switch (search.want) {
      case "rows":
        return this.#same(await query().rows(), rows, label);
      case "count":
        expect(await query().limit(search.limit).count(), `${label}, of the first`).toBe(Math.min(search.limit, rows.length));
        return expect(await query().count(), label).toBe(rows.length);
      case "first":
        return this.#compareFirst(await query().first(), rows, label);
      case "walk": {
        const walked: unknown[] = [];
        for await (const row of query()) walked.push(row);
        return this.#same(walked, rows, label);
      }
      case "ends":
        return this.#compareEnds(search, { query: query(), expected, label });
      case "pages":
        return this.#comparePages(search, { query, rows, label });
    }
  }

  async #compareEnds(
    search: Search,
    { query, expected, label }: { readonly query: Query; readonly expected: readonly Thing[]; readonly label: string },
  ): Promise<void> {
    if (search.kinds.some((kind) => kind !== "bornIn" && kind !== "hasSkill")) return;
    const sources = expected.flatMap(({ row }) => {
      const { personId } = row["from"] as { readonly personId: string };
      return this.#things.filter((one) => one.kind === "person" && one.row["personId"] === personId).map((one) => one.row);
    });
    this.#same(await query.sources(), sources, label);
  }

  async #comparePages(search: Search, asked: Asked): Promise<void> {
    const { query, rows, label } = asked;
    const { limit, turn } = search;
    const found: unknown[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await query().page({ limit, cursor });
      if (page.next !== undefined) expect(page.items.length, `${label}: a page that has a next one is full`).toBe(limit);
      if (page.previous !== undefined) {
        const back = await query().page({ limit, cursor: page.previous });
        // What moves changes its place among rows of one sort key.
        if (this.#subject.own || search.between === "nothing") expect(back.items, `${label}, backwards`).toEqual(found.slice(-limit));
      }
      if (++pages === turn && page.previous !== undefined) await this.#compareBack(search, asked, { before: [...found], page });
      found.push(...page.items);
      cursor = page.next;
      await this.#between(search);
    } while (cursor !== undefined);
    this.#same(found, rows, label);
  }

  async #between({ between }: Search): Promise<void> {
    if (between === "grow" || between === "both") this.#grow();
    if (between === "reshard" || between === "both") await this.#reshard(between === "both");
  }

  // Back to the beginning, and forth again to where it turned: the same rows each time, each once.
  async #compareBack(
    search: Search,
    { query, label }: Asked,
    { before, page }: { readonly before: readonly unknown[]; readonly page: Page },
  ): Promise<void> {
    const { limit } = search;
    const back: unknown[] = [];
    let at = page;
    while (at.previous !== undefined) {
      await this.#between(search);
      at = await query().page({ limit, cursor: at.previous });
      if (at.previous !== undefined) expect(at.items.length, `${label}, backwards: full`).toBe(limit);
      back.unshift(...at.items);
    }
    this.#same(back, before, `${label}, all the way back`);
    const forth: unknown[] = [...at.items];
    while (forth.length < before.length && at.next !== undefined) {
      await this.#between(search);
      at = await query().page({ limit: Math.min(limit, before.length - forth.length), cursor: at.next });
      forth.push(...at.items);
    }
    this.#same(forth, before, `${label}, back and forth`);
    if (before.length === 0 || at.next === undefined || page.items.length === 0) return;
    await this.#between(search);
    const again = await query().page({ limit: page.items.length, cursor: at.next });
    // Rows of one sort key that moved come in their new order.
    if (this.#subject.own) this.#same(again.items, page.items, `${label}, back and forth and on`);
    else expect(again.items, `${label}, back and forth and on`).toHaveLength(page.items.length);
  }

  #compareFirst(first: unknown, rows: readonly unknown[], label: string): void {
    if (this.#subject.own) return expect(first, label).toEqual(rows[0]);
    expect(first === undefined ? [] : rows.filter((row) => textOf(row) === textOf(first)), label).toHaveLength(rows.length > 0 ? 1 : 0);
  }
}

/** Runs a history on the library and on the plain array, and compares every answer. */
export const runFindHistory = async (subject: FindSubject, commands: readonly FindCommand[]): Promise<void> => {
  const history = new FindHistory(subject);
  for (const command of commands) await history.step(command);
};
