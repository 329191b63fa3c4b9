import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { buildCatalog } from "./build-catalog.ts";
import type { Catalog } from "./catalog.ts";
import { checkCollisions, checkIndexAttributes, checkItems } from "./check-model/check-items.ts";
import { checkEdges, checkSettings, checkTtl } from "./check-model/check-settings.ts";
import { checkMembers, checkNames } from "./check-model/check-names.ts";
import { checkSlots, checkTable, checkTemplates } from "./check-model/check-layout.ts";
import { checkValueIndexes } from "./check-model/check-value-indexes.ts";
import { each, finding, when, type ModelFinding, type ModelRule } from "./check-model/finding.ts";
import type { GraphDefinition } from "./definition.ts";
import type { AnySchema } from "./standard-schema.ts";

export { RESERVED_NAMES } from "./check-model/check-names.ts";
export type { ModelFinding } from "./check-model/finding.ts";

interface Inspection {
  readonly findings: readonly ModelFinding[];
  /** Undefined where the model's names or templates leave nothing to resolve. */
  readonly catalog: Catalog | undefined;
}

const unresolvable: ReadonlySet<ModelRule> = new Set<ModelRule>(["name", "nodeType", "template"]);

const inspectCatalog = (definition: GraphDefinition, findings: readonly ModelFinding[]): Inspection => {
  try {
    const catalog = buildCatalog(definition);
    const items = checkItems(catalog);
    // What needs a sort key has no key of its own that could be compared with others.
    const unplaced = catalog.index.sortKey === undefined && items.some(({ rule }) => rule === "identity");
    const collisions = unplaced ? [] : checkCollisions(catalog);
    return { findings: [...findings, ...collisions, ...items, ...checkIndexAttributes(catalog), ...checkTtl(catalog)], catalog };
  } catch (error) {
    if (isEdgetableError(error, "schema.invalidModel"))
      return { findings: [...findings, finding("template", "layout", error.message)], catalog: undefined };
    throw error;
  }
};

// What the types refuse, JavaScript may still hand in; the checks below look into definitions.
const checkDefinitions = (definition: GraphDefinition): readonly ModelFinding[] =>
  (["node", "edge", "part"] as const).flatMap((kind) =>
    each<unknown, ModelFinding>(definition?.[`${kind}s`], (name, one) => {
      const {
        kind: made,
        key,
        schema,
        from,
        to,
      } = (one ?? {}) as { readonly [Name in "kind" | "key" | "schema" | "from" | "to"]?: unknown };
      const isSchema = typeof (schema as AnySchema | undefined)?.["~standard"]?.validate === "function";
      const fits =
        made === kind &&
        (kind === "edge"
          ? from !== undefined && to !== undefined && (schema === undefined || isSchema)
          : typeof key === "string" && isSchema);
      const needs = kind === "edge" ? "from, to and, if any, a Standard Schema" : "a key and a Standard Schema";
      return when(!fits, "name", `${kind}s.${name}`, `this is no ${kind}: make it with ${kind}({ … }), and give it ${needs}.`);
    }),
  );

const look = (definition: GraphDefinition): Inspection => {
  const unfit = definition?.nodes
    ? checkDefinitions(definition)
    : [finding("name", "nodes", "there are none. Give defineGraph({ table, nodes }).")];
  if (unfit.length > 0) return { findings: unfit, catalog: undefined };
  const strange = checkMembers(definition);
  try {
    return lookInto(definition, strange);
  } catch (error) {
    // What has another kind of value is no defect of the check that stumbles over it.
    if (strange.length > 0) return { findings: strange, catalog: undefined };
    throw error;
  }
};

const lookInto = (definition: GraphDefinition, strange: readonly ModelFinding[]): Inspection => {
  const findings = [
    ...checkNames(definition),
    ...strange,
    ...checkTable(definition),
    ...checkTemplates(definition),
    ...checkSettings(definition),
    ...checkEdges(definition),
    ...checkValueIndexes(definition),
    ...checkSlots(definition),
  ];
  if (findings.some(({ rule }) => unresolvable.has(rule))) return { findings, catalog: undefined };
  return inspectCatalog(definition, findings);
};

// What no check expects, null where a list belongs, say, is a mistake of the model too.
const inspect = (definition: GraphDefinition): Inspection => {
  try {
    const { findings, catalog } = look(definition);
    // One definition makes several kinds of item, and each of them may show the same mistake.
    return { findings: findings.filter((one, at) => findings.findIndex((other) => sameFinding(other, one)) === at), catalog };
  } catch (error) {
    return { findings: [finding("setting", "model", (error as Error).message)], catalog: undefined };
  }
};

const sameFinding = (a: ModelFinding, b: ModelFinding): boolean => a.rule === b.rule && a.place === b.place && a.message === b.message;

/** Every mistake of a model, all at once; none when it can be used. Pure. */
export const checkModel = (definition: GraphDefinition): readonly ModelFinding[] => inspect(definition).findings;

const show = ({ place, message }: ModelFinding): string => `${place}: ${message}`;

/**
 * Resolves a model into its catalog.
 *
 * @throws {schema.invalidModel} with every mistake in `details.findings`
 */
export const assertModel = (definition: GraphDefinition): Catalog => {
  const { findings, catalog } = inspect(definition);
  if (catalog && findings.length === 0) return catalog;
  const head = findings.length === 1 ? "The model has a mistake" : `The model has ${findings.length} mistakes`;
  throw new EdgetableError("schema.invalidModel", `${head}:\n${findings.map((one) => `- ${show(one)}`).join("\n")}`, {
    details: { findings },
  });
};
