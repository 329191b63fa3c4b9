import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { DeleteWrite } from "../../ir/logical-write.ts";
import { decodeValue, encodeValue } from "../../requests/attribute-value.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { ownerText } from "../../schema/system-items.ts";
import type { AttributeValue } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import { hexHashOf } from "../../util/hash-text.ts";
import { mapValues, type Row } from "../../util/row.ts";
import type { JobFacts } from "./job-item.ts";

// A job's id is part of a sort key: "1 to 1024 bytes" (ServiceQuotas), of which escapes may take three for one.
const LONGEST = 200;

/** The id of the job that deletes a node: the same for everybody who deletes it. */
export const deletionId = (catalog: Catalog, { name, id }: DeleteWrite): string => {
  const text = `delete ${name} ${ownerText(defined(catalog.nodes[name], "node"), id)}`;
  if (text.length <= LONGEST) return text;
  const hash = hexHashOf(text);
  return `${text.slice(0, LONGEST - hash.length - 1)} ${hash}`;
};

// A key says by its format that a field is a date; `dates` need not name it.
type IdValue = AttributeValue | { readonly D: number };

const encodeId = (value: unknown, field: string): IdValue => (value instanceof Date ? { D: value.getTime() } : encodeValue(value, field));

/** What a deletion leaves in the table for whoever resumes it. */
export const deletionFacts = ({ name, id }: DeleteWrite): JobFacts => ({
  node: name,
  of: JSON.stringify(mapValues(id, encodeId)),
  items: 0,
});

/**
 * The deletion that a job's facts speak of.
 *
 * @throws {job.mismatch} when the model has no such node
 */
export const deletionOf = (catalog: Catalog, facts: JobFacts): DeleteWrite => {
  const name = String(facts["node"]);
  const node = catalog.nodes[name];
  if (!node)
    throw new EdgetableError(
      "job.mismatch",
      `The job deletes a "${name}", which this model does not have. Resume it with the model that began it.`,
      { details: { node: name } },
    );
  const values = Object.entries(JSON.parse(String(facts["of"])) as Readonly<Record<string, IdValue>>);
  const id: Row = Object.fromEntries(values.map(([field, value]) => [field, "D" in value ? new Date(value.D) : decodeValue(value)]));
  return { kind: "delete", of: "node", name, id, guards: {} };
};
