import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Guards } from "../../ir/logical-write.ts";
import type { Term } from "../../ir/write-plan.ts";
import { VERSION } from "../../requests/encode-item.ts";
import type { Shape } from "../../schema/catalog.ts";
import { checkOnCopy } from "../held-attributes.ts";

/** What the caller asked to hold of the item: its version, and conditions. */
export const guardTerms = (shape: Shape, guards: Guards): readonly Term[] => {
  const terms: Term[] = [];
  if (guards.version !== undefined) {
    if (!shape.version) {
      throw new EdgetableError("plan.invalidOption", `"${shape.definition}" keeps no version: declare version: true, or use \`if\`.`, {
        details: { option: "ifVersion" },
      });
    }
    terms.push({ kind: "equals", attribute: VERSION, value: { N: String(guards.version) }, failure: { reason: "versionConflict" } });
  }
  if (guards.where && guards.where.conditions.length > 0) {
    checkOnCopy(
      shape,
      guards.where.conditions.map(({ path }) => path),
    );
    terms.push({ kind: "where", shape, conditions: guards.where, failure: { reason: "conditionFailed" } });
  }
  return terms;
};
