import { renderTemplate, type Template } from "../keys/template.ts";
import { type Row, valueAt } from "../util/row.ts";
import type { FillSource } from "./layout.ts";

/** A field that index keys hold, filled from the first source whose fields a row has. */
export interface Fill {
  readonly field: string;
  readonly sources: readonly { readonly with: string | undefined; readonly template: Template }[];
}

/** Parses what a layout fills. */
export const fillsOf = (
  fill: Readonly<Record<string, readonly FillSource[]>> | undefined,
  parse: (field: string, source: string) => Template,
): readonly Fill[] =>
  Object.entries(fill ?? {}).map(([field, sources]) => ({
    field,
    sources: sources.map((source) =>
      typeof source === "string"
        ? { with: undefined, template: parse(field, source) }
        : { with: source.with, template: parse(field, source.value) },
    ),
  }));

const headOf = (path: string): string => path.split(".")[0] ?? path;

/** A key with a filled field changes with what fills it, which may be missing. */
export const withFills = (template: Template, fills: readonly Fill[]): Template => {
  const filled = fills.filter(({ field }) => template.fields.includes(field));
  if (filled.length === 0) return template;
  const sources = filled.flatMap((fill) => fill.sources);
  const heads = sources.flatMap((source) => [...source.template.fields, ...(source.with === undefined ? [] : [source.with])].map(headOf));
  const within = template.within.filter((path) => !filled.some(({ field }) => field === path));
  return Object.freeze({ ...template, within: [...new Set([...within, ...heads])], optional: [...template.optional, ...heads] });
};

/** A row with the fields that its layout fills from others, whatever it holds there. */
export const filledRow = (fills: readonly Fill[], row: Row): Row => {
  if (fills.length === 0) return row;
  const filled: Record<string, unknown> = { ...row };
  for (const { field, sources } of fills) {
    let text: string | undefined;
    for (const source of sources) {
      if (source.with !== undefined && (valueAt(row, source.with) ?? null) === null) continue;
      text = renderTemplate(source.template, row);
      if (text !== undefined) break;
    }
    if (text === undefined) delete filled[field];
    else filled[field] = text;
  }
  return filled;
};
