import type { GridView, NewView, ViewChanges, ViewSettings } from "../client/grid-types.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { addCosts, NO_COST, type RunOptions } from "../executor/call.ts";
import { namesIn, oneOf } from "../util/check-options.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import { type Changed, changeItem, readList } from "./field-list.ts";
import { type GridModel, readItems, rowIn } from "./grid-model.ts";
import { type GridState, resolve } from "./grid-state.ts";

/** Views of one parent: an item holds 400 KB. */
const MOST_VIEWS = 100;
const MOST_BYTES = 3000;
const LONGEST_NAME = 200;

/** The one item of a parent's views, beside that of its fields. */
const VIEWS = { list: "views" };

const SETTINGS = ["columns", "where", "sort", "empties", "group"] as const;

type View = GridView<Row>;

/** A view as it is kept: a filter may hold dates, which attributes of an item do not. */
interface StoredView {
  readonly viewId: string;
  readonly name: string;
  readonly settings: string;
}

interface ViewList {
  readonly views: readonly View[];
  readonly next: number;
}

/** Values that JSON lacks, in the text of a view's settings. */
const forms: Readonly<Record<string, (value: never) => unknown>> = {
  "~date": (text: string) => new Date(text),
  "~bigint": (text: string) => BigInt(text),
  "~bytes": (text: string) => new Uint8Array(Buffer.from(text, "base64")),
  "~set": (members: readonly unknown[]) => new Set(members),
};

// A Date and a Buffer have a toJSON of their own, so the value is read from its holder.
function withForm(this: Row, name: string, value: unknown): unknown {
  const given = this[name];
  if (given instanceof Date) return { "~date": given.toISOString() };
  if (given instanceof Uint8Array) return { "~bytes": Buffer.from(given).toString("base64") };
  if (given instanceof Set) return { "~set": [...(given as ReadonlySet<unknown>)] };
  return typeof value === "bigint" ? { "~bigint": String(value) } : value;
}

const fromForm = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  const [[name, inner] = ["", undefined]] = Object.entries(value);
  return Object.hasOwn(forms, name) ? forms[name]?.(inner as never) : value;
};

const settingsText = (settings: ViewSettings<Row>): string => JSON.stringify(settings, withForm);

const invalid = (message: string, details: Row): EdgetableError => new EdgetableError("grid.invalidView", message, { details });

const checkName = (name: unknown, others: readonly View[]): string => {
  const text = typeof name === "string" ? name.trim() : "";
  if (text === "" || text.length > LONGEST_NAME)
    throw invalid(`${jsonText(name)} is not a name: give a text of 1 to ${LONGEST_NAME} characters.`, { name });
  const taken = others.find((view) => view.name === text);
  if (taken)
    throw invalid(`There is a view "${text}" already (${taken.viewId}). Give this one another name.`, { name: text, view: taken.viewId });
  return text;
};

/** The settings of a view, and nothing else. */
const settingsOf = (given: ViewSettings<Row>): ViewSettings<Row> =>
  Object.fromEntries(SETTINGS.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));

/**
 * A grid with what a view says.
 *
 * @throws {plan.invalidOption} for a setting that views do not have
 */
export const withView = (state: GridState, given: unknown): GridState => {
  for (const member of namesIn(given, "view")) oneOf("setting of a view", member, [...SETTINGS, "viewId", "name"]);
  const { columns, where, sort, empties } = given as View;
  const twice = sort?.find(({ column }, at) => sort.findIndex((one) => one.column === column) < at);
  if (sort && (twice || sort.length > 2))
    throw new EdgetableError(
      "plan.invalidOption",
      `A view is sorted by up to two different columns, and this one by ${sort.map(({ column }) => `"${column}"`).join(", ")}.`,
      { details: { columns: sort.map(({ column }) => column) } },
    );
  return {
    ...state,
    columns: columns ?? state.columns,
    where: where === undefined ? state.where : [...state.where, where],
    sort:
      sort?.map(({ column, direction = "asc" }) => {
        oneOf("direction", direction, ["asc", "desc"]);
        return { column, descending: direction === "desc" };
      }) ?? state.sort,
    empties: empties ?? state.empties,
  };
};

const NO_STATE: GridState = { columns: undefined, sort: [], where: [], empties: "last" };

const listOf = (row: Row | undefined): ViewList & { readonly version: number } => ({
  views: ((row?.["views"] as readonly StoredView[] | undefined) ?? []).map(({ viewId, name, settings }) => ({
    viewId,
    name,
    ...(JSON.parse(settings, fromForm) as ViewSettings<Row>),
  })),
  next: (row?.["next"] as number | undefined) ?? 1,
  version: (row?.["version"] as number | undefined) ?? 0,
});

const viewIn = ({ views }: ViewList, parent: Row, viewId: string): View => {
  const found = views.find((view) => view.viewId === viewId);
  if (found) return found;
  const named = views.find(({ name }) => name === viewId);
  const mend = named
    ? ` The view of that name is ${jsonText(named.viewId)}.`
    : didYouMean(
        viewId,
        views.map((view) => view.viewId),
      );
  throw new EdgetableError("grid.unknownView", `There is no view ${jsonText(viewId)} in ${jsonText(parent)}.${mend}`, {
    details: { view: viewId, parent },
  });
};

/** The saved views of a parent. */
interface SavedViews {
  list(run: RunOptions): Promise<Changed<readonly View[]>>;
  save(run: RunOptions, given: NewView<Row>): Promise<Changed<View>>;
  change(run: RunOptions, viewId: string, changes: ViewChanges<Row>): Promise<Changed<View>>;
  delete(run: RunOptions, viewId: string): Promise<Changed<boolean>>;
}

/** The saved views of a parent. They are checked against its fields when they are saved, and again when they are used. */
export const savedViews = (model: GridModel, parent: Row): SavedViews => {
  const { driver, list: entry } = model;
  const item = { shape: entry.shape, row: { ...parent, ...VIEWS } };
  const change = <Result>(run: RunOptions, make: (list: ViewList) => ViewList & { readonly result: Result }): Promise<Changed<Result>> =>
    changeItem(model, parent, {
      run,
      key: VIEWS,
      what: "views",
      read: async (context) => {
        const find = await readItems(model, { asked: [item], consistent: true }, context);
        return listOf(rowIn(model, item, find(item)));
      },
      change: (list) => {
        const { result, views, next } = make(list);
        const stored = views.map(({ viewId, name, ...settings }): StoredView => ({ viewId, name, settings: settingsText(settings) }));
        return { row: { views: stored, next }, result };
      },
    });
  /** Fails now for what a page of the view would fail for. */
  const check = async (run: RunOptions, settings: ViewSettings<Row>): Promise<void> => {
    const state = withView(NO_STATE, settings);
    const group = settings.group === undefined ? {} : { group: settings.group };
    resolve(model, await readList(model, parent, driver.context(run)), { ...state, ...group });
    const bytes = Buffer.byteLength(settingsText(settings));
    if (bytes > MOST_BYTES) throw invalid(`The settings of a view take up to ${MOST_BYTES} bytes; these take ${bytes}.`, { bytes });
  };
  return {
    list: async (run) => {
      const context = driver.context(run);
      const find = await readItems(model, { asked: [item], consistent: true }, context);
      return { result: listOf(rowIn(model, item, find(item))).views, cost: addCosts(NO_COST, context.meter.cost) };
    },
    save: async (run, { name, ...given }) => {
      await check(run, given);
      return change(run, ({ views, next }) => {
        if (views.length >= MOST_VIEWS)
          throw invalid(`${jsonText(parent)} has ${views.length} views, and ${MOST_VIEWS} is the limit. Delete one first.`, { parent });
        const view: View = { viewId: `v${next}`, name: checkName(name, views), ...settingsOf(given) };
        return { views: [...views, view], next: next + 1, result: view };
      });
    },
    change: async (run, viewId, { name, ...given }) => {
      await check(run, given);
      return change(run, (list) => {
        const before = viewIn(list, parent, viewId);
        const others = list.views.filter((view) => view !== before);
        const settings = settingsOf(Object.keys(given).length > 0 ? given : before);
        const view: View = { viewId, name: name === undefined ? before.name : checkName(name, others), ...settings };
        return { ...list, views: list.views.map((one) => (one === before ? view : one)), result: view };
      });
    },
    delete: (run, viewId) =>
      change(run, (list) => {
        viewIn(list, parent, viewId);
        return { ...list, views: list.views.filter((view) => view.viewId !== viewId), result: true };
      }),
  };
};
