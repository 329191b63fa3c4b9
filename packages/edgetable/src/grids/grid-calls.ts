import type { Driver } from "../client/driver.ts";
import type {
  ColumnPlace,
  FieldChanges,
  FieldJobOptions,
  GridAsk,
  GridExplanation,
  GridPageOptions,
  RetypeOptions,
  SetOptions,
} from "../client/grid-types.ts";
import { type Call, type Cost, createCall, type Report, reportOf, type RunOptions } from "../executor/call.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { checkNodeId } from "../schema/check-values.ts";
import { checkOptions, namesIn, oneOf, type OptionChecks } from "../util/check-options.ts";
import type { Row } from "../util/row.ts";
import { definitions } from "./define-fields.ts";
import { explainPage } from "./explain-grid.ts";
import type { FieldInput, NewField, NewFieldType } from "../client/field-types.ts";
import { type Changed, readList } from "./field-list.ts";
import { deleteField, retypeField } from "./change-field.ts";
import { type GridModel, gridModel, parentId } from "./grid-model.ts";
import { type Empties, type GridState, resolve } from "./grid-state.ts";
import { readGridPage } from "./read-grid.ts";
import { getValues, setValues } from "./row-values.ts";

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
    if (name === "empties") state = { ...state, empties: args[0] as Empties };
  }
  return state;
};

type Make = (run: RunOptions) => Promise<Report<unknown>>;

const reportCost = <T>(value: T, cost: Cost): Report<T> => reportOf(value, { cost, requests: [] });

const jobChecks: OptionChecks<FieldJobOptions> = { indexLag: [0, 600_000], onProgress: "function" };
const retypeChecks: OptionChecks<RetypeOptions> = { ...jobChecks, dryRun: "boolean", losing: ["refuse", "remove"] };

const fieldsCall = (model: GridModel, { id, call, args }: GridAsk): Make => {
  const parent = parentId(model, id);
  const all = definitions(model, parent);
  const [one, two, three = {}] = args;
  const fieldId = one as string;
  const changed =
    <Result>(make: (run: RunOptions) => Promise<Changed<Result>>): Make =>
    async (run) => {
      const { result, cost } = await make(run);
      return reportCost<unknown>(result, cost);
    };
  switch (call) {
    case "list":
      return changed((run) => all.list(run));
    case "define":
      return changed((run) => all.define(run, one as NewField));
    case "rename":
      return changed((run) => all.change(run, fieldId, { name: two as string }));
    case "update":
      return changed((run) => all.change(run, fieldId, two as FieldChanges));
    case "move":
      return changed((run) => all.move(run, fieldId, two as ColumnPlace));
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

const pageOptions = (given: unknown = {}) => {
  const {
    limit = PAGE.limit,
    cursor,
    budget = {},
  } = checkOptions(given as GridPageOptions, {
    limit: [1, 1000],
    cursor: undefined,
    budget: { requests: [4, 100_000] },
  });
  return { limit, cursor, budget: { requests: budget.requests ?? PAGE.requests } };
};

const NOTHING: GridExplanation = { kind: "grid", streams: [], requests: { least: 2, most: 2 }, notes: [] };

/** The call that was asked of `fields`, `values` or `grid`. */
export const gridCall = (driver: Driver, ask: GridAsk): Call<never, never> => {
  const model = gridModel(driver, ask.node);
  if (ask.of !== "grid") {
    const make = ask.of === "fields" ? fieldsCall(model, ask) : valuesCall(model, ask);
    return createCall<unknown, GridExplanation>(() => NOTHING, make) as Call<never, never>;
  }
  const parent = parentId(model, ask.id);
  const state = stateOf(ask.steps);
  const page = pageOptions(ask.args[0]);
  const explain = async (): Promise<GridExplanation> => {
    const context = driver.context({});
    const resolved = resolve(model, await readList(model, parent, context), state);
    return explainPage(model, resolved, { limit: page.limit, most: page.budget.requests, livingAt: context.livingAt });
  };
  return createCall<unknown, GridExplanation>(explain, async (run) => {
    const context = driver.context(run);
    return reportOf(await readGridPage(model, { parent, state, page }, context), context.meter);
  }) as Call<never, never>;
};
