import { keyId } from "../ir/write-plan.ts";
import { decodeValue } from "../requests/attribute-value.ts";
import { documentOwner } from "../schema/grid-parts.ts";
import type { Finding } from "./finding.ts";
import { type Judging, readNeed } from "./judging.ts";
import type { SeenRow } from "./see-item.ts";

const SAYS: Readonly<Record<string, string>> = {
  missing: "has no item",
  different: "has an item with another value or place",
  unknown: "has an item, and the document has no such value",
};

/** Judges the value items of a grid's row, which the stream's processor makes from the row's document. */
export const judgeValues = (judging: Judging, { key, row, shape }: SeenRow): void => {
  const { nodes } = judging.catalog;
  const entry = nodes[documentOwner(nodes, shape.definition) ?? ""];
  if (!entry) return;
  const id = Object.fromEntries(entry.idFields.map((field) => [field, row[field]]));
  const followed = { node: entry.name, id };
  const image = readNeed(judging, { kind: "values", id: `values ${keyId(key)}`, row: followed });
  const wrong = image?.["wrong"] ? (decodeValue(image["wrong"]) as Readonly<Record<string, string>>) : {};
  const [first, ...rest] = Object.entries(wrong).map(([attribute, how]): Finding => {
    const reason = `The value of "${attribute}" ${SAYS[how]}. The stream processor is behind, or missed a change.`;
    return { kind: "staleValue", key, definition: shape.definition, attribute, reason };
  });
  if (first) judging.problems.push({ findings: [first, ...rest], mend: { kind: "follow", row: followed } });
};
