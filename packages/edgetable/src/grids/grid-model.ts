import type { Driver } from "../client/driver.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { CallContext } from "../executor/session.ts";
import { batchGet } from "../executor/batch.ts";
import { byIdentity, identity } from "../executor/read-rows.ts";
import { parseTemplate, renderTemplate, type Template } from "../keys/template.ts";
import { decodeItem } from "../requests/decode-item.ts";
import { keyOf } from "../requests/encode-item.ts";
import type { NodeEntry, PartEntry, Shape } from "../schema/catalog.ts";
import { checkNodeId } from "../schema/check-values.ts";
import type { FieldSettings } from "../schema/definition.ts";
import { gridNames, type GridNames, levelName } from "../schema/grid-parts.ts";
import type { Item } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import type { RowPlace } from "./field-value.ts";

/** The grid of a node type, resolved: where everything about it is. */
export interface GridModel {
  readonly driver: Driver;
  readonly node: NodeEntry;
  readonly parent: NodeEntry;
  readonly names: GridNames;
  readonly settings: FieldSettings;
  readonly list: PartEntry;
  readonly value: PartEntry;
  readonly document: PartEntry;
  /** Writes a row's own order as text; undefined where the key alone orders rows. */
  readonly order: Template | undefined;
}

const OWN = { delimiter: "#", escapes: true } as const;
const COLUMN = parseTemplate("{parent}#{field}#{generation}", OWN);

/**
 * Resolves the grid of a node type.
 *
 * @throws {plan.unsupported} when it declares no fields
 */
export const gridModel = (driver: Driver, name: string): GridModel => {
  const { nodes, parts } = driver.catalog;
  const node = defined(nodes[name], name);
  const { fields: settings } = node.definition;
  const parent = nodes[settings?.of ?? ""];
  if (!settings || !parent)
    throw new EdgetableError(
      "plan.unsupported",
      `"${name}" has no user-defined fields: declare it with fields: { of: "…" }, the node type that defines them.`,
      {
        details: { node: name },
      },
    );
  const names = gridNames(name);
  const partNamed = (part: string): PartEntry => defined(parts[part], part);
  return {
    driver,
    node,
    parent,
    names,
    settings,
    list: partNamed(names.list),
    value: partNamed(names.value),
    document: partNamed(names.document),
    order: settings.orderBy === undefined ? undefined : parseTemplate(`{${settings.orderBy}}`, OWN),
  };
};

/** The id of the parent that a row names. */
export const parentOf = ({ parent }: GridModel, row: Row): Row => Object.fromEntries(parent.idFields.map((field) => [field, row[field]]));

/** The id of a parent, checked; its fields in the key's order, so that ids can be compared as texts. */
export const parentId = (model: GridModel, id: unknown): Row => parentOf(model, checkNodeId(model.driver.catalog, model.parent, id));

/** The id of a row. */
export const idOf = ({ node }: GridModel, row: Row): Row => Object.fromEntries(node.idFields.map((field) => [field, row[field]]));

const keyText = ({ driver: { catalog } }: GridModel, { shape }: NodeEntry, id: Row): string =>
  defined(renderTemplate(defined(shape.keys[catalog.index.partitionKey], "key"), id), "key");

/** The column of the index that orders the values of a field. */
export const columnOf = (model: GridModel, parent: Row, field: { readonly fieldId: string; readonly generation: number }): string =>
  defined(
    renderTemplate(COLUMN, { parent: keyText(model, model.parent, parent), field: field.fieldId, generation: String(field.generation) }),
    "column",
  );

/** A row's place among the rows of its parent. */
export const placeOf = (model: GridModel, row: Row): RowPlace => ({
  order: (model.order && renderTemplate(model.order, row)) ?? "-",
  row: keyText(model, model.node, row),
});

/** The attribute by which a row's order goes; undefined where the key orders rows. */
export const orderField = ({ settings }: GridModel): string | undefined =>
  settings.orderBy === undefined ? undefined : levelName(settings.orderBy);

/** An item that a batch asks for. */
export interface AskedItem {
  readonly shape: Shape;
  readonly row: Row;
}

/** Reads items of several kinds by their keys, 100 a request: a lookup of what was found. */
export const readItems = async (
  { driver: { session, catalog } }: GridModel,
  { asked, consistent }: { readonly asked: readonly AskedItem[]; readonly consistent: boolean },
  context: CallContext,
): Promise<(one: AskedItem) => Item | undefined> => {
  const keys = new Map(asked.map((one) => [one, keyOf(catalog, one.shape, one.row)]));
  const distinct = new Map([...keys.values()].map((key) => [identity(catalog, key), key]));
  const items = distinct.size === 0 ? [] : await batchGet(session, { keys: [...distinct.values()], consistent }, context);
  const found = byIdentity(catalog, items);
  return (one) => found.get(identity(catalog, keys.get(one) ?? keyOf(catalog, one.shape, one.row)));
};

/** The row of an item; undefined where there is none. */
export const rowIn = (
  { driver: { catalog } }: GridModel,
  { shape }: AskedItem,
  item: Item | undefined,
): Record<string, unknown> | undefined => item && decodeItem(catalog, shape, item);
