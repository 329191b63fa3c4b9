import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Condition } from "../ir/condition.ts";
import type { AccessStep } from "../ir/physical-plan.ts";
import { attributeOf } from "../requests/encode-item.ts";
import { heldBy } from "../schema/held-by.ts";
import { targetFields } from "../schema/end-sources.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Shape } from "../schema/shape.ts";
import { defined } from "../util/invariant.ts";
import { inShape } from "./access-path.ts";

/** Whether a field can be read: from its own attribute, or from the computed one that carries it. */
export const isHeld = (shape: Shape, field: string, held: ReadonlySet<string>): boolean => {
  const own = attributeOf(shape, field);
  if (own !== undefined) return held.has(own);
  return shape.sources.some(({ attribute, template }) => held.has(attribute) && template.fields.includes(field));
};

/**
 * To whoever reads an index, what it does not hold looks as if it were missing: no filter and no figure may be made of that.
 *
 * @param conditions those that are checked in memory
 * @throws {plan.noIndex} when a step asks for an attribute that its index leaves out, or for edges whose ends it leaves out
 */
export const checkHeld = (catalog: Catalog, step: AccessStep, conditions: readonly Condition[]): void => {
  const index = step.kind === "query" && catalog.indexes.find(({ name }) => name === step.index);
  const held = index ? heldBy(catalog, index) : undefined;
  if (!index || !held || step.kind !== "query") return;
  const asked = [...[...step.filter, ...conditions].map(({ path }) => path), ...(step.select ?? [])];
  for (const id of step.shapes) {
    const shape = defined(catalog.shapesById[id], id);
    const own = asked.filter((path) => !path.includes(".")).map((path) => inShape(shape, path));
    // Where it does not say where an edge leads, it does not even say that there is one.
    const lacking = [...own, ...targetFields(shape)].find((field) => !isHeld(shape, field, held));
    if (lacking === undefined) continue;
    throw new EdgetableError(
      "plan.noIndex",
      `The index "${index.name}" finds "${shape.definition}", but its projection leaves "${lacking}" out. Name that in the projection, or ask another index: using(…).`,
      { details: { definition: shape.definition, asked, index: index.name } },
    );
  }
};
