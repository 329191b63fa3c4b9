import { didYouMean, type Catalog } from "edgetable";
import { usageError } from "../failure.ts";
import { parseAssignments } from "./assignments.ts";
import { fitTexts } from "./fit-texts.ts";
import type { Row } from "../row.ts";

/** A node's id as it was given. */
export interface NodeId {
  readonly id: Row;
  /** Id fields that were not given, in the key's order. */
  readonly missing: readonly string[];
}

/**
 * Reads the id of a node from `name=value` arguments, JSON, or a bare value where the id has one field.
 *
 * @throws {cli.usage} for a name that is not of the id.
 */
export const parseNodeId = async (catalog: Catalog, node: string, given: readonly string[]): Promise<NodeId> => {
  const entry = catalog.nodes[node];
  const fields = entry?.idFields ?? [];
  const bare =
    given.length === 1 &&
    fields.length === 1 &&
    !given[0]?.startsWith("{") &&
    !given[0]?.startsWith(`${fields[0]}=`) &&
    !/^\w+=/.test(given[0] ?? "");
  const { values, texts } = parseAssignments(bare ? [`${fields[0]}=${given[0]}`] : given, "The id", `give ${idUsage(catalog, node)}.`);
  const stranger = Object.keys(values).find((name) => !fields.includes(name));
  if (stranger !== undefined) throw usageError(`The id of "${node}" has no "${stranger}".${didYouMean(stranger, fields)}`);
  return { id: await fitTexts(entry?.definition.schema, values, texts), missing: fields.filter((field) => values[field] === undefined) };
};

/** How the id of a node is given, such as `studentId=…`. */
export const idUsage = (catalog: Catalog, node: string): string =>
  (catalog.nodes[node]?.idFields ?? []).map((field) => `${field}=…`).join(" ");
