import { fieldNames } from "../build-catalog.ts";
import type { GraphDefinition } from "../definition.ts";
import { attributesOf } from "../facts.ts";
import { columnIndex, gridNames, isFieldPart, levelName, withFields } from "../grid-parts.ts";
import { mayLack } from "./check-orders.ts";
import { each, reportUnknown, type Report } from "./finding.ts";

/** The indexes of a grid: none is declared by the model, and each orders by one column. */
const checkIndexes = (definition: GraphDefinition, own: GraphDefinition["indexes"], name: string, report: Report): void => {
  const { sortable = [] } = definition.nodes[name]?.fields ?? {};
  const place = `nodes.${name}.fields`;
  const columns = new Map<string, string>();
  for (const column of Array.isArray(sortable) ? (sortable as readonly string[]).map(levelName) : []) {
    const index = columnIndex(name, column);
    const other = columns.get(index);
    if (other !== undefined && other !== column)
      report("reservedName", place, `"${other}" and "${column}" are both sorted by the index "${index}". Leave one of them out.`);
    columns.set(index, column);
  }
  for (const index of [gridNames(name).index, ...columns.keys()])
    if (JSON.stringify(definition.indexes?.[index]) !== JSON.stringify(own?.[index]))
      report("reservedName", place, `the grid of "${name}" has an index of its own that is called "${index}". Rename that of the model.`);
};

/** The fields that users define: their parents, the attributes that name and order rows, and the names that they take. */
export const checkGrids = (definition: GraphDefinition, report: Report): void => {
  const { indexes: own } = withFields({ ...definition, parts: {}, indexes: {} });
  each(definition.nodes, (name, node) => {
    const { fields } = node;
    if (!fields) return;
    const place = `nodes.${name}.fields`;
    if (definition.layout) report("setting", place, "fields belong to Edgetable's own layout. Leave out the layout, or the fields.");
    reportUnknown(report, `${place}.of`, [fields.of], { rule: "nodeType", what: "a node type", known: Object.keys(definition.nodes) });
    if (node.stored === false)
      report("setting", place, "it has no item (stored: false), and a grid shows items. Leave one of the two out.");
    const known = attributesOf(node);
    const parent = fieldNames(definition.nodes[fields.of]?.key ?? "");
    reportUnknown(report, place, parent, {
      rule: "attribute",
      what: `an attribute of "${name}": a row names its "${fields.of}" by it`,
      known,
    });
    const levels = [...(fields.orderBy === undefined ? [] : [fields.orderBy]), ...(Array.isArray(fields.sortable) ? fields.sortable : [])];
    reportUnknown(report, place, levels.map(levelName), { rule: "attribute", what: "an attribute here", known });
    const order = levelName(fields.orderBy ?? "");
    if (fields.orderBy !== undefined && mayLack(node, order))
      report(
        "setting",
        place,
        `a "${name}" may lack "${order}", and a row without it has no place in the grid. Let every row have it, give its schema a default, or order by another attribute.`,
      );
    checkIndexes(definition, own, name, report);
    const { index: _index, ...names } = gridNames(name);
    for (const part of Object.values(names))
      if (definition.nodes[part] ?? definition.edges?.[part] ?? !isFieldPart(definition.parts?.[part]))
        report("reservedName", place, `the fields of "${name}" are stored as "${part}", which the model defines itself. Rename that.`);
  });
};
