import { join } from "node:path";
import type { Catalog } from "edgetable";
import { nodeText } from "edgetable/check";
import { type Database, literal, parquet } from "./duckdb.ts";
import type { LakeTable } from "./lake-tables.ts";
import type { StoredColumn, StoredTable } from "./lake.ts";

/** One value of a field that users defined, in a row of the table `<node>_cells`. */
const columns: readonly StoredColumn[] = [
  { name: "node", type: "text" },
  { name: "parent", type: "text" },
  { name: "field_id", type: "text" },
  { name: "field_name", type: "text" },
  { name: "type", type: "text" },
  { name: "text_value", type: "text" },
  { name: "number_value", type: "number" },
  { name: "date_value", type: "timestamp" },
  { name: "boolean_value", type: "boolean" },
  { name: "choices_value", type: "texts" },
  { name: "reference_value", type: "text" },
];

const tableIn = (lake: string, table: string): string => parquet(join(lake, table, "*.parquet"));

/** Stores the node text of each id that a SELECT finds, by that id as JSON: ids are encoded in one place only. */
const storeTexts = async (
  database: Database,
  { into, ids }: { readonly into: string; readonly ids: string },
  textOf: (row: Readonly<Record<string, unknown>>) => string | undefined,
): Promise<void> => {
  await database.run(`create or replace temp table ${into} (id varchar, text varchar)`);
  const appender = await database.connection.createAppender(into);
  for (const row of await database.rows(ids)) {
    const text = textOf(row);
    if (text === undefined) continue;
    appender.appendVarchar(String(row["id"]));
    appender.appendVarchar(text);
    appender.endRow();
  }
  appender.closeSync();
};

/**
 * The SELECT of the values that a grid shows, of either storage: by the parent's list of fields as it was read, from the row's
 * document where the list says that documents hold values, and from value items that do not follow one. While a field is
 * converted to another type, a value that is not converted yet is of its former type.
 */
const cellsSelect = (lake: string, parts: Readonly<Record<"list" | "value" | "document", string>>, node: string): string => `
  with lists as (select owner as parent, cast(more as json) as list from ${tableIn(lake, parts.list)}),
  storage as (
    select parent, coalesce(list ->> '$.storage.at', 'items') as now, coalesce(list ->> '$.storage.to', '') as later,
      coalesce(cast(list ->> '$.storage.epoch' as bigint), 0) as epoch
    from lists),
  fields as (select parent, unnest(cast(list -> '$.fields' as json[])) as field from lists),
  kept as (select parent, field, field -> '$.other' as other, coalesce(field ->> '$.state', '') as state from fields),
  definitions as (
    select parent, field ->> '$.fieldId' as field_id, field ->> '$.name' as field_name, field ->> '$.type' as type,
      cast(field ->> '$.generation' as bigint) as generation, field ->> '$.node' as refers_to
    from kept where state <> 'deleting'
    union all
    select parent, field ->> '$.fieldId', field ->> '$.name', other ->> '$.type', cast(other ->> '$.generation' as bigint), other ->> '$.node'
    from kept where state = 'converting' and other is not null),
  grid as (
    select n.node, storage.* from ${tableIn(lake, node)} as n
    join parents on parents.id = n.node join storage on storage.parent = parents.text),
  documents as (
    select grid.node, grid.parent, cast(d.more as json) -> '$.values' as cells
    from ${tableIn(lake, parts.document)} as d join grid on grid.node = d.owner
    where (grid.now = 'document' or grid.later = 'document')
      and cast(cast(d.more as json) ->> '$.epoch' as bigint) = grid.epoch
      and coalesce(cast(d.more as json) ->> '$.state', '') <> 'left'),
  inside as (select node, parent, cells, unnest(json_keys(cells)) as field_id from documents),
  stored as (
    select node, parent, field_id, cast(cells ->> ('$."' || field_id || '"[0]') as bigint) as generation,
      cells -> ('$."' || field_id || '"[1]') as value
    from inside
    union all
    select grid.node, grid.parent, v.field_id, cast(cast(v.more as json) ->> '$.generation' as bigint), cast(v.more as json) -> '$.value'
    from ${tableIn(lake, parts.value)} as v join grid on grid.node = v.owner
    where (grid.now = 'items' or grid.later = 'items') and (v.more ->> '$.follows') is null
      and v.owner not in (select node from documents))
  select stored.node, stored.parent, field_id, field_name, type, refers_to, value
  from stored join definitions using (parent, field_id, generation)`;

/** The lake's tables of the values of users' fields, one for each node type that has some: `<node>_cells`. */
export const cellTables = (catalog: Catalog, nameOf: (name: string) => string): readonly Pick<LakeTable, "name" | "definition">[] =>
  Object.values(catalog.nodes).flatMap(({ name, definition }) =>
    definition.fields ? [{ name: nameOf(`${name}Cells`), definition: name }] : [],
  );

/** Writes the values of users' fields as a long table, from the tables of a lake that are written already. */
export const writeCells = async (
  database: Database,
  catalog: Catalog,
  {
    folder,
    tables,
    name,
    definition,
  }: Pick<LakeTable, "name" | "definition"> & { readonly folder: string; readonly tables: readonly StoredTable[] },
): Promise<StoredTable> => {
  const tableOf = (kind: StoredTable["kind"], of: string): StoredTable =>
    tables.find((table) => table.kind === kind && table.definition === of)!;
  const node = tableOf("node", definition);
  const of = catalog.nodes[definition]?.definition.fields?.of ?? "";
  const parent = catalog.nodes[of]?.idFields ?? [];
  const attributes = parent.map((field) => node.columns.find(({ attribute }) => attribute === field)!.name);
  const present = attributes.map((column) => `${column} is not null`).join(" and ");
  await storeTexts(
    database,
    {
      into: "parents",
      ids: `select node as id, ${attributes.join(", ")} from ${tableIn(folder, node.name)} where ${present}`,
    },
    (row) => nodeText(of, parent, Object.fromEntries(parent.map((field, at) => [field, row[attributes[at]!]]))),
  );
  const [list, value, document] = ["Fields", "Value", "Values"].map((part) => tableOf("part", `${definition}${part}`).name);
  await database.run(
    `create or replace temp table cells as ${cellsSelect(folder, { list: list!, value: value!, document: document! }, node.name)}`,
  );
  await storeTexts(
    database,
    {
      into: "referred",
      ids: "select distinct refers_to || ' ' || cast(value as varchar) as id, refers_to, cast(value as varchar) as value from cells where type = 'reference'",
    },
    ({ refers_to: type, value: id }) => {
      const fields = catalog.nodes[String(type)]?.idFields;
      return fields && nodeText(String(type), fields, JSON.parse(String(id)) as Readonly<Record<string, unknown>>);
    },
  );
  const text = "value ->> '$'";
  // A day, or a moment in UTC.
  const moment = `replace(replace(${text}, 'T', ' '), 'Z', '')`;
  const select = `select node, parent, field_id, field_name, type,
      case when type in ('text', 'choice', 'date') then ${text} end as text_value,
      case when type = 'number' then try_cast(${text} as double) end as number_value,
      case when type = 'date' then try_cast(${moment} as timestamp) end as date_value,
      case when type = 'boolean' then try_cast(${text} as boolean) end as boolean_value,
      case when type = 'choices' then cast(value as varchar[]) end as choices_value,
      referred.text as reference_value
    from cells left join referred on type = 'reference' and referred.id = refers_to || ' ' || cast(value as varchar)`;
  const target = join(folder, name);
  await database.run(`copy (${select}) to ${literal(target)} (format parquet, file_size_bytes '256MB', overwrite_or_ignore true)`);
  const [counted] = await database.rows(`select count(*) as rows from ${tableIn(folder, name)}`);
  return { name, kind: "cells", definition, key: ["field_id"], rows: Number(counted?.["rows"]), columns };
};
