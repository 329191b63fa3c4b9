import type { FieldsAnswer, GroupsAnswer, RetypeAnswer, WireFieldType, WireGrid, WriteAnswer } from "@edgetable/studio";
import { didYouMean, type Fields, type Field, type FieldInput, type GridFilter, type NewFieldType, type Values } from "edgetable";
import { nodeOf, type UntypedDb, type UntypedGrid } from "../connection.ts";
import { usageError } from "../failure.ts";
import { fromJson, isExact, isRow, toExactJson, type Row } from "../output/json.ts";
import { fitTexts, isoDate } from "../text/fit-texts.ts";
import { CHANGED, cellIn, isSame, readFilter, readNumber } from "./cells.ts";

/** Milliseconds for one call. */
const DEADLINE = 30_000;
/** Milliseconds for a job on the values of a field. */
const JOB_DEADLINE = 600_000;
/** Losses of a change of type that are shown. */
const MAX_LOSSES = 5;

/** The prefix of a user's field among the columns. */
const FIELD = "field:";

interface GridApi {
  grid(parent: Row): UntypedGrid;
  fields(parent: Row): Fields;
  values(id: Row): Values;
}

/** Which page of a grid. */
export interface GridRequest {
  readonly type: string;
  readonly parent: Row;
  /** A column, and its direction. */
  readonly sort: string | undefined;
  readonly reverse: boolean;
  /** Column → what its cells have to hold: a text as in `GET /api/rows`. */
  readonly filters: Readonly<Record<string, string>>;
  readonly cursor: string | undefined;
  readonly limit: number;
}

/** What the app has to know of a node type's grid; undefined if users define no fields for it. */
export const gridOf = (db: UntypedDb["catalog"], type: string): WireGrid | undefined => {
  const settings = db.nodes[type]?.definition.fields;
  if (!settings) return undefined;
  const { of, orderBy, sortable = [] } = settings;
  const order = orderBy?.split(":")[0];
  return { of, sortable: [...(order === undefined ? [] : [order]), ...sortable.map((one) => one.split(":")[0] ?? one)] };
};

const apiOf = (db: UntypedDb, type: string): GridApi => {
  const api = nodeOf(db, type) as unknown as GridApi;
  if (db.catalog.nodes[type]?.definition.fields) return api;
  throw usageError(`Users define no fields of "${type}".`);
};

/** A number as users write it. @throws {cli.usage} also for a whole number that would be rounded */
const numberOf = (text: string): number => {
  const value = readNumber(text.trim());
  if (typeof value === "number" || isExact(value)) return Number(value);
  throw usageError(`"${text}" has more digits than a number keeps: it would become ${Number(value)}.`);
};

/** A yes or no as users write it. @throws {cli.usage} */
const booleanOf = (text: string): boolean => {
  const value = new Map([
    ["true", true],
    ["yes", true],
    ["false", false],
    ["no", false],
  ]).get(text.trim().toLowerCase());
  if (value !== undefined) return value;
  throw usageError(`"${text}" is neither yes nor no.`);
};

/** The choices that a text names, with `;` or a comma between them. A choice may contain either: the longest that fits is meant. */
const choicesIn = (choices: readonly string[], text: string, fold = (one: string): string => one): readonly string[] => {
  const longestFirst = choices.toSorted((a, b) => b.length - a.length);
  const named: string[] = [];
  let rest = text.trim();
  while (rest !== "") {
    const known = longestFirst.find((choice) => {
      const { length } = choice.trim();
      return fold(rest.slice(0, length)) === fold(choice.trim()) && /^\s*(?:[;,]|$)/.test(rest.slice(length));
    });
    const part = known?.trim() ?? /^[^;,]*/.exec(rest)?.[0] ?? rest;
    if (part.trim() !== "") named.push(known ?? part.trim());
    rest = rest.slice(part.length).replace(/^\s*[;,]?\s*/, "");
  }
  return named;
};

/** The id that a reference is: a JSON object, or the text of an id of one field, of the type that the node's schema takes. */
const referenceOf = async ({ nodes }: UntypedDb["catalog"], node: string, text: string): Promise<FieldInput> => {
  const { idFields = [], definition } = nodes[node] ?? {};
  const isJson = text.startsWith("{");
  let id: unknown = { [idFields[0] ?? "id"]: text };
  try {
    if (isJson) id = fromJson(text);
  } catch {
    throw usageError(
      `"${text}" is not JSON. Give the id as an object, such as ${toExactJson(Object.fromEntries(idFields.map((name) => [name, "…"])))}.`,
    );
  }
  return (isJson ? id : await fitTexts(definition?.schema, id as Row, new Set(idFields))) as FieldInput;
};

/** A value of a field as a person writes it; null for none. @throws {cli.usage} for a text that is none of its type */
const inputOf = async ({ catalog }: UntypedDb, field: Field, text: string): Promise<FieldInput> => {
  if (text.trim() === "") return null;
  switch (field.type) {
    case "number":
      return numberOf(text);
    case "boolean":
      return booleanOf(text);
    case "choices":
      return choicesIn(field.choices, text);
    case "reference":
      return referenceOf(catalog, field.node, text.trim());
    case "date": {
      const day = text.trim();
      if (isoDate(day)) return day;
      throw usageError(`"${text}" is not a date, such as 2024-05-06.`);
    }
    default:
      return text;
  }
};

/** The choices that contain a text in any case, such as the beginning of one that is being typed. */
const choicesWith = (choices: readonly string[], text: string): readonly string[] =>
  choices.filter((choice) => choice.toLowerCase().includes(text.toLowerCase()));

/** What a filter of a field asks for: a sign and a value, or else what fits its type best. */
const fieldFilter = async (db: UntypedDb, field: Field, text: string): Promise<unknown> => {
  const { comparison, wanted, written } = readFilter(text);
  if (wanted === "") return { exists: comparison === "ne" };
  // A group shows the value itself, with the space around it.
  if (comparison === "eq" && field.type === "text" && written !== wanted) return { in: [written, wanted] };
  if (comparison !== undefined) {
    const value = field.type === "date" ? wanted : await inputOf(db, field, wanted);
    return { [comparison]: value };
  }
  switch (field.type) {
    case "text":
      return { contains: wanted };
    case "choice": {
      const named = choicesIn(field.choices, wanted, (one) => one.toLowerCase());
      const within = choicesWith(field.choices, wanted);
      return { in: named.every((one) => field.choices.includes(one)) || within.length === 0 ? named : within };
    }
    case "choices": {
      const exact = field.choices.find((choice) => choice.toLowerCase() === wanted.toLowerCase());
      const [only, another] = choicesWith(field.choices, wanted);
      return { contains: exact ?? (another === undefined ? (only ?? wanted) : wanted) };
    }
    case "date":
      return { gte: wanted, lte: wanted };
    default:
      return { eq: await inputOf(db, field, wanted) };
  }
};

const attributeFilter = async (db: UntypedDb, type: string, name: string, text: string): Promise<unknown> => {
  const { comparison, wanted, written } = readFilter(text);
  if (wanted === "") return { exists: comparison === "ne" };
  const { schema } = db.catalog.nodes[type]?.definition ?? {};
  const value = schema ? (await fitTexts(schema, { [name]: wanted }, new Set([name])))[name] : wanted;
  // A group shows the value itself, with the space around it.
  if (comparison === "eq" && value === wanted && written !== wanted) return { in: [written, wanted] };
  if (comparison !== undefined) return { [comparison]: value };
  return typeof value === "string" ? { contains: value } : { eq: value };
};

const filterOf = async (
  db: UntypedDb,
  { type, filters }: Pick<GridRequest, "type" | "filters">,
  fields: readonly Field[],
): Promise<GridFilter<Row>> => {
  const where: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(filters)) {
    const field = name.startsWith(FIELD) ? fields.find(({ fieldId }) => `${FIELD}${fieldId}` === name) : undefined;
    if (name.startsWith(FIELD) && !field) throw usageError(`There is no field "${name}" any more.`);
    where[name] = field ? await fieldFilter(db, field, text) : await attributeFilter(db, type, name, text);
  }
  return where as GridFilter<Row>;
};

/**
 * Reads a page of a grid with the fields of its parent. A cell of a field is an attribute `field:` and its id.
 *
 * @throws {cli.usage} for a filter that does not fit, and for an unknown type
 * @throws what `page` of a grid throws
 */
export const readGrid = async (db: UntypedDb, request: GridRequest, signal: AbortSignal): Promise<FieldsAnswer> => {
  const { type, parent, sort, reverse, cursor, limit } = request;
  const api = apiOf(db, type);
  const options = { signal, deadline: DEADLINE };
  const { value: fields, cost: listed } = await api.fields(parent).list().report(options);
  const filtered = api.grid(parent).where(await filterOf(db, request, fields));
  const grid = sort === undefined ? filtered : filtered.sort(sort, reverse ? "desc" : "asc");
  const { value, cost } = await grid.page({ limit, cursor }).report(options);
  return {
    fields,
    rows: value.items.map(({ row, cells }) => ({
      ...row,
      ...Object.fromEntries(Object.entries(cells).map(([id, cell]) => [`${FIELD}${id}`, cell.value])),
    })),
    ...(value.next === undefined ? {} : { next: value.next }),
    scanned: value.items.length,
    cost: { requests: cost.requests + listed.requests, readUnits: cost.readUnits + listed.readUnits },
  };
};

/** Counts the rows of a grid by their values of a column. @throws what `groups` of a grid throws */
export const readGroups = async (
  db: UntypedDb,
  request: Pick<GridRequest, "type" | "parent" | "filters"> & { readonly column: string },
  signal: AbortSignal,
): Promise<GroupsAnswer> => {
  const api = apiOf(db, request.type);
  const options = { signal, deadline: DEADLINE };
  const fields = await api.fields(request.parent).list().run(options);
  const grid = api.grid(request.parent).where(await filterOf(db, request, fields));
  const { groups, stopped } = await grid.groups(request.column).run(options);
  return {
    groups: groups.map(({ value, rows }) => ({ ...(value === undefined ? {} : { value }), rows })),
    complete: stopped === undefined,
  };
};

const bodyOf = (body: unknown): { readonly type: string; readonly parent: Row; readonly more: Row } => {
  const { type, parent, ...more } = isRow(body) ? body : {};
  if (typeof type !== "string" || !isRow(parent)) throw usageError('The body must be { "type": …, "parent": …, … }.');
  return { type, parent, more };
};

/** A type of field as the app sends it. */
const typeOf = ({ type, choices, node }: WireFieldType): NewFieldType =>
  ({
    type,
    ...(type === "choice" || type === "choices" ? { choices } : {}),
    ...(type === "reference" ? { node } : {}),
  }) as NewFieldType;

/** Adds, renames, moves, retypes or deletes a field. A change of type that would lose values says so, and is made only if told to. */
export const changeField = async (db: UntypedDb, body: unknown, signal: AbortSignal): Promise<RetypeAnswer> => {
  const { type, parent, more } = bodyOf(body);
  const fields = apiOf(db, type).fields(parent);
  const { fieldId, name, to, change, place, losing } = more as {
    readonly fieldId?: string;
    readonly name?: string;
    readonly to?: WireFieldType;
    readonly change?: string;
    readonly place?: number;
    readonly losing?: boolean;
  };
  const [quick, long] = [
    { deadline: DEADLINE, signal },
    { deadline: JOB_DEADLINE, signal },
  ];
  switch (change) {
    case "define":
      if (!to || typeof name !== "string") break;
      await fields.define({ ...typeOf(to), name }).run(quick);
      return { ok: true };
    case "rename":
      await fields.rename(String(fieldId), String(name)).run(quick);
      return { ok: true };
    case "move":
      await fields.move(String(fieldId), Number(place)).run(quick);
      return { ok: true };
    case "delete":
      await fields.delete(String(fieldId)).run(long);
      return { ok: true };
    case "retype": {
      if (!to) break;
      const wanted = typeOf(to);
      if (!losing) {
        const { lost, losses, values } = await fields.retype(String(fieldId), wanted, { dryRun: true }).run(long);
        if (lost > 0)
          return {
            ok: false,
            lost,
            values,
            losses: losses.slice(0, MAX_LOSSES).map(({ row, value }) => ({ row, value: toExactJson(value) })),
          };
      }
      await fields.retype(String(fieldId), wanted, { losing: losing ? "remove" : "refuse" }).run(long);
      return { ok: true };
    }
    default:
  }
  const known = ["define", "rename", "move", "retype", "delete"];
  throw usageError(`There is no field change "${String(change)}".${didYouMean(String(change), known)}`);
};

/**
 * Sets values of a row's fields, if they are what they were when the row was read. The comparison is made before the write, not with
 * it: of two people who change the same cell within the same moment, the later one wins.
 *
 * @throws {cli.usage} for a text that is no value of the field's type
 */
export const setValues = async (
  db: UntypedDb,
  { type, id, cells, was }: { readonly type: string; readonly id: Row; readonly cells: Row; readonly was: Row },
): Promise<WriteAnswer> => {
  const api = apiOf(db, type);
  const parentType = db.catalog.nodes[type]?.definition.fields?.of ?? "";
  const none = { requests: 0, readUnits: 0, writeUnits: 0 };
  const row = await nodeOf(db, type)(id).get({ consistent: true }).run({ deadline: DEADLINE });
  if (!row) return { ok: false, problem: "It is not there any more.", cost: none };
  const parent = Object.fromEntries((db.catalog.nodes[parentType]?.idFields ?? []).map((name) => [name, row[name]]));
  const fields = await api.fields(parent).list().run({ deadline: DEADLINE });
  const stored = (await api.values(id).get().run({ deadline: DEADLINE })) ?? {};
  const shown = (): Row => ({
    ...row,
    ...Object.fromEntries(Object.entries(stored).map(([fieldId, { value }]) => [`${FIELD}${fieldId}`, value])),
  });
  const values: Record<string, FieldInput> = {};
  for (const [name, given] of Object.entries(cells)) {
    const cell = cellIn(name, given);
    const field = fields.find(({ fieldId }) => `${FIELD}${fieldId}` === name);
    if (!field) throw usageError("The field was deleted meanwhile. Load the view again.");
    const value = cell === null ? null : "text" in cell ? await inputOf(db, field, cell.text) : (cell.value as FieldInput);
    const now = stored[field.fieldId]?.value;
    // What is there already was sent before: by a second click, or because its answer was lost.
    if (!isSame(now, was[name]) && !isSame(now ?? null, value)) return { ok: false, problem: CHANGED, row: shown(), cost: none };
    values[field.fieldId] = value;
  }
  const { ok, cost } = await api.values(id).set(values).run({ deadline: DEADLINE });
  const now = (await api.values(id).get().run({ deadline: DEADLINE })) ?? {};
  return {
    ok,
    ...(ok ? {} : { problem: "It is not there any more." }),
    row: { ...row, ...Object.fromEntries(Object.entries(now).map(([fieldId, { value }]) => [`${FIELD}${fieldId}`, value])) },
    cost: { requests: cost.requests, readUnits: cost.readUnits, writeUnits: cost.writeUnits },
  };
};
