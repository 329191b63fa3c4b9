import type { Driver } from "../client/driver.ts";
import type {
  ColumnPlace,
  FieldChanges,
  FieldJobOptions,
  GridAsk,
  GridCountOptions,
  GridExplanation,
  GridPageOptions,
  NewView,
  RetypeOptions,
  SetOptions,
  ViewChanges,
} from "../client/grid-types.ts";
import { type Call, type Cost, createCall, type Report, reportOf, type RunOptions } from "../executor/call.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { checkNodeId } from "../schema/check-values.ts";
import { checkOptions, namesIn, oneOf, type OptionChecks } from "../util/check-options.ts";
import type { Row } from "../util/row.ts";
import { exportCsv } from "./export-csv.ts";
import { importCsv } from "./import-csv.ts";
import type { CsvExportOptions, CsvImportOptions, CsvSource } from "../client/csv-types.ts";
import { definitions } from "./define-fields.ts";
import type { GridBudget } from "./collect-rows.ts";
import { countRows, groupRows, unsorted } from "./count-rows.ts";
import { explainCount, explainPage } from "./explain-grid.ts";
import type { FieldInput, NewField, NewFieldType } from "../client/field-types.ts";
import { type Changed, readList } from "./field-list.ts";
import { deleteField, retypeField } from "./change-field.ts";
import { type GridModel, gridModel, parentId } from "./grid-model.ts";
import { type Empties, type GridState, resolve } from "./grid-state.ts";
import { readGridPage } from "./read-grid.ts";
import { getValues, setValues } from "./row-values.ts";
import { savedViews, withView } from "./saved-views.ts";

const stateOf = (steps: GridAsk["steps"]): GridState => {
  let state: GridState = { columns: undefined, sort: [], where: [], empties: "last" };
  for (const [name, args] of steps) {
    if (name === "columns") state = { ...state, columns: args as readonly string[] };
    if (name === "where") {
      namesIn(args[0], "where");
      state = { ...state, where: [...state.where, args[0] as Row] };
    }
    if (name === "sort") {
      const [column, direction = "asc"] = args as readonly string[];
      oneOf("direction", direction, ["asc", "desc"]);
      const [first, second] = state.sort;
      if (second || first?.column === column)
        throw new EdgetableError(
          "plan.invalidOption",
          second
            ? `The grid is sorted by "${String(first?.column)}" and "${second.column}" already: a third column is not supported.`
            : `The grid is sorted by "${column}" already. Give another column as the second one.`,
          { details: { column } },
        );
      state = { ...state, sort: [...state.sort, { column: String(column), descending: direction === "desc" }] };
    }
    if (name === "view") state = withView(state, args[0]);
    if (name === "empties") state = { ...state, empties: args[0] as Empties };
  }
  return state;
};

type Make = (run: RunOptions) => Promise<Report<unknown>>;

const reportCost = <T>(value: T, cost: Cost): Report<T> => reportOf(value, { cost, requests: [] });

const withCost =
  <Result>(make: (run: RunOptions) => Promise<Changed<Result>>): Make =>
  async (run) => {
    const { result, cost } = await make(run);
    return reportCost<unknown>(result, cost);
  };

const jobChecks: OptionChecks<FieldJobOptions> = { indexLag: [0, 600_000], onProgress: "function" };
const retypeChecks: OptionChecks<RetypeOptions> = { ...jobChecks, dryRun: "boolean", losing: ["refuse", "remove"] };

const fieldsCall = (model: GridModel, { id, call, args }: GridAsk): Make => {
  const parent = parentId(model, id);
  const all = definitions(model, parent);
  const [one, two, three = {}] = args;
  const fieldId = one as string;
  switch (call) {
    case "list":
      return withCost((run) => all.list(run));
    case "define":
      return withCost((run) => all.define(run, one as NewField));
    case "rename":
      return withCost((run) => all.change(run, fieldId, { name: two as string }));
    case "update":
      return withCost((run) => all.change(run, fieldId, two as FieldChanges));
    case "move":
      return withCost((run) => all.move(run, fieldId, two as ColumnPlace));
    case "retype": {
      const options = checkOptions(three as RetypeOptions, retypeChecks);
      const { indexLag, onProgress } = options;
      return async (run) => {
        const result = await retypeField(model, parent, { run, fieldId, indexLag, onProgress, to: two as NewFieldType, options });
        return reportCost(result, result.cost);
      };
    }
    default: {
      const { indexLag, onProgress } = checkOptions((two ?? {}) as FieldJobOptions, jobChecks);
      return async (run) => {
        const { values, cost } = await deleteField(model, parent, { run, fieldId, indexLag, onProgress });
        return reportCost({ values }, cost);
      };
    }
  }
};

const viewsCall = (model: GridModel, { id, call, args }: GridAsk): Make => {
  const views = savedViews(model, parentId(model, id));
  const [one, two] = args;
  if (call === "list") return withCost((run) => views.list(run));
  if (call === "delete") return withCost((run) => views.delete(run, String(one)));
  namesIn(call === "save" ? one : two, "view");
  return call === "save"
    ? withCost((run) => views.save(run, one as NewView<Row>))
    : withCost((run) => views.change(run, String(one), two as ViewChanges<Row>));
};

const valuesCall = (model: GridModel, { id: given, call, args }: GridAsk): Make => {
  const { driver, node } = model;
  const id = checkNodeId(driver.catalog, node, given);
  if (call === "get")
    return async (run) => {
      const context = driver.context(run);
      return reportOf(await getValues(model, id, context), context.meter);
    };
  const { complete = false } = checkOptions((args[1] ?? {}) as SetOptions, { complete: "boolean" });
  namesIn(args[0], "values");
  return async (run) => {
    const outcome = await setValues(model, id, args[0] as Readonly<Record<string, FieldInput>>, { run, complete });
    return reportCost(outcome, outcome.cost);
  };
};

const PAGE = { limit: 50, requests: 100 };

const budgetChecks = { budget: { requests: [4, 100_000] } } as const;

const budgetOf = ({ budget = {} }: GridCountOptions): GridBudget => ({ requests: budget.requests ?? PAGE.requests });

const NOTHING: GridExplanation = { kind: "grid", streams: [], requests: { least: 2, most: 2 }, notes: [] };

const gridAsked = (model: GridModel, { id, steps, call, args }: GridAsk): Call<unknown, GridExplanation> => {
  const { driver } = model;
  const parent = parentId(model, id);
  const asked = stateOf(steps);
  if (call === "page") {
    const [given = {}] = args;
    const options = checkOptions(given as GridPageOptions, { limit: [1, 1000], cursor: undefined, ...budgetChecks });
    const page = { limit: options.limit ?? PAGE.limit, cursor: options.cursor, budget: budgetOf(options) };
    const explain = async (): Promise<GridExplanation> => {
      const context = driver.context({});
      const resolved = resolve(model, await readList(model, parent, context), asked);
      return explainPage(model, resolved, { limit: page.limit, most: page.budget.requests, livingAt: context.livingAt });
    };
    return createCall<unknown, GridExplanation>(explain, async (run) => {
      const context = driver.context(run);
      return reportOf(await readGridPage(model, { parent, state: asked, page }, context), context.meter);
    });
  }
  const [column, options] = call === "groups" ? [args[0] as string, args[1]] : [undefined, args[0]];
  const budget = budgetOf(checkOptions((options ?? {}) as GridCountOptions, budgetChecks));
  const state: GridState = column === undefined ? asked : { ...asked, group: column };
  const explain = async (): Promise<GridExplanation> => {
    const context = driver.context({});
    const resolved = resolve(model, await readList(model, parent, context), unsorted(state));
    return explainCount(model, resolved, { most: budget.requests, livingAt: context.livingAt });
  };
  return createCall<unknown, GridExplanation>(explain, async (run) => {
    const context = driver.context(run);
    const count = column === undefined ? countRows : groupRows;
    return reportOf<unknown>(await count(model, { parent, state, budget }, context), context.meter);
  });
};

const importCall = (model: GridModel, { id, steps, args }: GridAsk): Make => {
  const parent = parentId(model, id);
  const [first] = steps;
  if (first)
    throw new EdgetableError("plan.unsupported", `${first[0]}() does not apply to an import: call importCsv() on the grid itself.`, {
      details: { call: first[0] },
    });
  const [source, options = {}] = args as readonly [CsvSource, CsvImportOptions<string>?];
  return async (run) => {
    const result = await importCsv(model, parent, { source, options, run });
    return reportCost(result, result.cost);
  };
};

/** The call that was asked of `fields`, `values` or `grid`. */
export const gridCall = (driver: Driver, ask: GridAsk): Call<never, never> => {
  const model = gridModel(driver, ask.node);
  if (ask.of === "grid" && ask.call !== "importCsv") return gridAsked(model, ask) as Call<never, never>;
  const make = { fields: fieldsCall, values: valuesCall, views: viewsCall, grid: importCall }[ask.of](model, ask);
  return createCall<unknown, GridExplanation>(() => NOTHING, make) as Call<never, never>;
};

/** The rows of a grid as CSV, a page at a time. */
export const exportGrid = (driver: Driver, ask: GridAsk): AsyncGenerator<string> => {
  const model = gridModel(driver, ask.node);
  const [options = {}] = ask.args as readonly [CsvExportOptions?];
  return exportCsv(model, { parent: parentId(model, ask.id), state: stateOf(ask.steps), options });
};
