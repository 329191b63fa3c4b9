import type { CsvExportOptions } from "../client/csv-types.ts";
import type { RunOptions } from "../executor/call.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { attributesOf, derivedNames } from "../schema/facts.ts";
import { declaredNames } from "../schema/standard-schema.ts";
import { checkOptions, checkSignal } from "../util/check-options.ts";
import { jsonText } from "../util/json-text.ts";
import { own, type Row } from "../util/row.ts";
import { cellText, csvLine } from "./csv-cells.ts";
import { liveFields, readList, type StoredField } from "./field-list.ts";
import { writeText } from "./field-value.ts";
import type { GridModel } from "./grid-model.ts";
import { type GridState, resolve } from "./grid-state.ts";
import { readGridPage } from "./read-grid.ts";

const checkDelimiter = (delimiter: string): void => {
  if (typeof delimiter === "string" && /^[^"\r\n]$/u.test(delimiter)) return;
  throw new EdgetableError("plan.invalidOption", `delimiter is ${jsonText(delimiter)}: give one character, not a quote or a line break.`, {
    details: { option: "delimiter", value: delimiter },
  });
};

const PAGE = 100;
/** A page of rare matches ends at its budget, and the next one goes on. */
const BUDGET = 1000;

type ShownColumn = { readonly name: string } | { readonly field: StoredField };

/** The rows of a grid as CSV, a page at a time. */
export async function* exportCsv(
  model: GridModel,
  { parent, state, options }: { readonly parent: Row; readonly state: GridState; readonly options: CsvExportOptions },
): AsyncGenerator<string> {
  const { driver, node } = model;
  const given = checkOptions(options, {
    page: [1, 1000],
    delimiter: checkDelimiter,
    header: "boolean",
    formulas: ["keep", "escape"],
    signal: checkSignal,
  });
  const { page: limit = PAGE, header = true, signal } = given;
  const run: RunOptions = signal ? { signal } : {};
  const list = await readList(model, parent, driver.context(run));
  const { columns } = resolve(model, list, state);
  const attributes = attributesOf(node.definition);
  if (!columns && !attributes)
    throw new EdgetableError(
      "plan.unsupported",
      `The schema of "${node.name}" does not tell its attributes: name those to write with columns().`,
      {
        details: { node: node.name },
      },
    );
  const shown: readonly ShownColumn[] = columns
    ? columns.map((column) => (column.kind === "field" ? { field: column.field } : { name: column.name }))
    : [...(attributes ?? []).map((name) => ({ name })), ...liveFields(list).map((field) => ({ field }))];
  // An import takes these names for attributes, also where they are not among the columns.
  const known = [...(attributes ?? declaredNames(node.definition.schema) ?? []), ...derivedNames(node.definition), ...node.idFields];
  const names = new Set([...known, ...shown.flatMap((column) => ("name" in column ? [column.name] : []))]);
  const titles = shown.map((column) => {
    if ("name" in column) return column.name;
    // A field goes by its name, unless an attribute is called so.
    const { name, fieldId } = column.field;
    return names.has(name) || name.startsWith("field:") ? `field:${fieldId}` : name;
  });
  let text = header ? csvLine(titles, given) : "";
  let cursor: string | undefined;
  do {
    const page = await readGridPage(model, { parent, state, page: { limit, cursor, budget: { requests: BUDGET } } }, driver.context(run));
    for (const { row, cells } of page.items)
      text += csvLine(
        shown.map((column) => {
          if ("name" in column) return cellText(own(row, column.name));
          const cell = own(cells, column.field.fieldId);
          return cell ? writeText(driver.catalog, { ...column.field, type: cell.type } as StoredField, cell.value) : "";
        }),
        given,
      );
    if (text !== "") yield text;
    text = "";
    cursor = page.next;
  } while (cursor !== undefined);
}
