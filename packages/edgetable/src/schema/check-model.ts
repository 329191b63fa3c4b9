import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { buildCatalog } from "./build-catalog.ts";
import type { Catalog } from "./catalog.ts";
import { checkCopies, checkCycles, checkFacts } from "./check-model/check-facts.ts";
import { checkOrders } from "./check-model/check-orders.ts";
import { checkSummaries } from "./check-model/check-summaries.ts";
import { checkFormer, checkFormerNames } from "./check-model/check-former.ts";
import { checkGrids } from "./check-model/check-grids.ts";
import { checkCollisions, checkIndexAttributes, checkItems } from "./check-model/check-items.ts";
import { checkSlots, checkTable, checkTemplates } from "./check-model/check-layout.ts";
import { checkMembers, checkNames } from "./check-model/check-names.ts";
import { checkEdges, checkPartCopies, checkSettings, checkSharedTtl, checkTtl } from "./check-model/check-settings.ts";
import { checkTypes } from "./check-model/check-types.ts";
import { checkValueIndexes } from "./check-model/check-value-indexes.ts";
import { each, type ModelFinding, type ModelRule, type Report } from "./check-model/finding.ts";
import type { GraphDefinition } from "./definition.ts";
import type { AnySchema } from "./standard-schema.ts";

export { RESERVED_NAMES } from "./check-model/check-names.ts";
export type { ModelFinding } from "./check-model/finding.ts";

/** A model with its findings; with its catalog, if names and templates are valid enough to resolve it. */
interface Inspection {
  readonly findings: readonly ModelFinding[];
  readonly catalog: Catalog | undefined;
}

const reportTo =
  (findings: ModelFinding[]): Report =>
  (rule, place, message) => {
    // One definition makes several kinds of items, and each may show the same mistake.
    const isKnown = findings.some((one) => one.rule === rule && one.place === place && one.message === message);
    if (!isKnown) findings.push({ rule, place, message });
  };

// Callers in JavaScript may pass what the types refuse, and the other checks read the members of definitions.
const checkDefinitions = (definition: GraphDefinition, report: Report): void => {
  for (const kind of ["node", "edge", "part"] as const) {
    each<unknown>(definition[`${kind}s`], (name, one) => {
      const { kind: made, key, schema, from, to } = (one ?? {}) as Readonly<Record<string, unknown>>;
      const isSchema = typeof (schema as AnySchema | undefined)?.["~standard"]?.validate === "function";
      const isEdge = from !== undefined && to !== undefined && (schema === undefined || isSchema);
      if (made === kind && (kind === "edge" ? isEdge : typeof key === "string" && isSchema)) return;
      const needs = kind === "edge" ? "from, to and optionally a Standard Schema" : "a key and a Standard Schema";
      report(
        "name",
        `${kind}s.${name}`,
        `this is not ${kind === "edge" ? "an" : "a"} ${kind}: make it with ${kind}({ … }), and give it ${needs}.`,
      );
    });
  }
};

/** A model with one of these findings cannot be resolved. */
const UNRESOLVABLE: readonly ModelRule[] = ["name", "nodeType", "template"];

const inspectMembers = (definition: GraphDefinition, strange: readonly ModelFinding[]): Inspection => {
  const findings: ModelFinding[] = [];
  const report = reportTo(findings);
  checkNames(definition, report);
  for (const { rule, place, message } of strange) report(rule, place, message);
  checkTable(definition, report);
  checkTemplates(definition, report);
  checkSettings(definition, report);
  checkEdges(definition, report);
  checkFacts(definition, report);
  checkCopies(definition, report);
  checkCycles(definition, report);
  checkSummaries(definition, report);
  checkOrders(definition, report);
  checkFormer(definition, report);
  checkGrids(definition, report);
  checkValueIndexes(definition, report);
  checkSlots(definition, report);
  if (findings.some(({ rule }) => UNRESOLVABLE.includes(rule))) return { findings, catalog: undefined };
  try {
    const catalog = buildCatalog(definition);
    const items: ModelFinding[] = [];
    checkItems(catalog, reportTo(items));
    checkTypes(catalog, reportTo(items));
    // Items that need a sort key, in a table without one, have no key that could be compared.
    const isUnplaced = catalog.index.sortKey === undefined && items.some(({ rule }) => rule === "identity");
    if (!isUnplaced) checkCollisions(catalog, report);
    for (const { rule, place, message } of items) report(rule, place, message);
    checkIndexAttributes(catalog, report);
    checkFormerNames(catalog, report);
    checkTtl(catalog, report);
    checkSharedTtl(catalog, report);
    checkPartCopies(catalog, report);
    return { findings, catalog };
  } catch (error) {
    if (!isEdgetableError(error, "schema.invalidModel")) throw error;
    report("template", "layout", error.message);
    return { findings, catalog: undefined };
  }
};

const inspect = (definition: GraphDefinition): Inspection => {
  const findings: ModelFinding[] = [];
  const report = reportTo(findings);
  try {
    if (definition?.nodes) checkDefinitions(definition, report);
    else report("name", "nodes", "there are no nodes. Call defineGraph({ table, nodes }).");
    if (findings.length > 0) return { findings, catalog: undefined };
    checkMembers(definition, report);
    return inspectMembers(definition, findings);
  } catch (error) {
    // A value of the wrong type is reported already if a later check fails on it. Otherwise the failure is the finding.
    if (findings.length === 0) report("setting", "model", (error as Error).message);
    return { findings, catalog: undefined };
  }
};

/** All mistakes of a model; empty if it is valid. Pure. */
export const checkModel = (definition: GraphDefinition): readonly ModelFinding[] => inspect(definition).findings;

/**
 * Resolves a model into its catalog.
 *
 * @throws {schema.invalidModel} with every mistake in `details.findings`
 */
export const assertModel = (definition: GraphDefinition): Catalog => {
  const { findings, catalog } = inspect(definition);
  if (catalog && findings.length === 0) return catalog;
  const head = findings.length === 1 ? "The model has a mistake" : `The model has ${findings.length} mistakes`;
  const list = findings.map(({ place, message }) => `- ${place}: ${message}`).join("\n");
  throw new EdgetableError("schema.invalidModel", `${head}:\n${list}`, { details: { findings } });
};
