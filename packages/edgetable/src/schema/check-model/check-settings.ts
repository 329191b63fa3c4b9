import { isEdgetableError } from "../../errors/edgetable-error.ts";
import { parseTemplate } from "../../keys/template.ts";
import { endKey, fieldNames } from "../build-catalog.ts";
import { definitionOf, keyAttributes, type Catalog, type Shape } from "../catalog.ts";
import { degreeLimit, endTypes, isSingle, type AnyEdge, type AnyNode, type AnyPart, type GraphDefinition } from "../definition.ts";
import { summarized } from "../derived.ts";
import type { ItemLayout, Layout } from "../layout.ts";
import { attributesOf, derivedNames } from "../facts.ts";
import { attributeNames, attributeSchemas, refuses, type AnySchema } from "../standard-schema.ts";
import { liesApart } from "../stored-id.ts";
import { DEGREE_TYPE } from "../system-items.ts";
import { timeNames } from "../timestamps.ts";
import { valueType } from "../value-types.ts";
import { own } from "../../util/row.ts";
import { each, reportUnknown, type Report } from "./finding.ts";

type AnyDefinition = AnyNode | AnyEdge | AnyPart;

interface ItemNames {
  readonly fields: readonly string[] | undefined;
  readonly layout: Layout;
}

const checkItemLayout = (place: string, item: ItemLayout | undefined, { fields, layout }: ItemNames, report: Report): void => {
  if (!item) return;
  const tableKeys = keyAttributes(layout);
  const computed = [...new Set([...tableKeys, ...Object.keys(item.keys ?? {})])];
  const keys = { rule: "layout", what: "a computed attribute of this item", known: computed } as const;
  const attributes = { rule: "attribute", what: "an attribute here", known: fields } as const;
  reportUnknown(report, `${place}.attributes`, Object.keys(item.attributes ?? {}), attributes);
  reportUnknown(report, `${place}.delimiters`, Object.keys(item.delimiters ?? {}), keys);
  reportUnknown(report, `${place}.sparse`, item.sparse ?? [], { ...keys, known: computed.slice(tableKeys.length) });
  const conditions = Object.entries(item.when ?? {});
  reportUnknown(
    report,
    `${place}.when`,
    conditions.map(([attribute]) => attribute),
    { ...keys, known: computed.slice(tableKeys.length) },
  );
  for (const [attribute, condition] of conditions) {
    const at = `${place}.when.${attribute}`;
    reportUnknown(report, at, Object.keys(condition), attributes);
    const isValue = (value: unknown): boolean => ["string", "number", "bigint", "boolean"].includes(typeof value);
    const isPresence = (value: unknown): boolean => {
      const { exists, ...more } = Object(value) as { readonly exists?: unknown };
      return typeof exists === "boolean" && Object.keys(more).length === 0;
    };
    const wanted = Object.values<unknown>(condition);
    if (wanted.flat().length === 0 || !wanted.every((value) => isPresence(value) || [value].flat().every(isValue)))
      report(
        "layout",
        at,
        `it needs a text, number or boolean for each attribute, or a list of them, such as { status: "open" }, or { exists: false }.`,
      );
  }
};

/** Times need attributes of their own, in an item. */
const checkTimes = (place: string, one: AnyDefinition, idFields: readonly string[], report: Report): void => {
  const names = timeNames(one);
  const at = `${place}.timestamps`;
  if (names.length > 0 && one.kind === "node" && one.stored === false)
    report("setting", at, "it has no item to keep them in (stored: false). Leave them out.");
  if (names[0] !== undefined && names[0] === names[1])
    report("reservedName", at, `both times are called "${names[0]}". Give each a name of its own, or set one to false.`);
  const taken = [...((one.schema && attributeNames(one.schema)) ?? []), ...derivedNames(one), ...idFields];
  if (one.kind === "edge") taken.push("from", "to");
  if (one.version) taken.push("version");
  for (const name of names.filter((each) => taken.includes(each)))
    report(
      "reservedName",
      at,
      `"${name}" is an attribute here already. Take it out of the schema if Edgetable is to keep it, or give the time another name: { ${name === names[0] ? "created" : "modified"}: "…" }.`,
    );
};

/** Attributes that settings and layouts name, and names that rows need for themselves. */
export const checkSettings = (definition: GraphDefinition, report: Report): void => {
  const { layout } = definition;
  for (const group of ["nodes", "parts", "edges"] as const) {
    each<AnyDefinition>(definition[group], (name, one) => {
      const place = `${group}.${name}`;
      const known = one.schema ? attributeNames(one.schema) : [];
      const { unique, immutable, dates, ttl, key, sides } = one as Partial<AnyNode> &
        Pick<AnyEdge, "sides"> & { readonly key?: string | readonly string[] };
      const settings: Readonly<Record<string, readonly string[] | undefined>> = {
        unique,
        immutable,
        dates,
        ttl: ttl === undefined ? undefined : [ttl],
        key: typeof key === "string" ? undefined : key,
        "sides.from": sides?.from,
        "sides.to": sides?.to,
      };
      each(settings, (setting, given = []) =>
        reportUnknown(report, `${place}.${setting}`, given, { rule: "attribute", what: "an attribute here", known }),
      );
      if (one.version === true && known?.includes("version"))
        report("reservedName", place, 'with version: true, "version" counts the writes. Rename the attribute, or leave the setting out.');
      const idFields =
        one.kind === "edge"
          ? []
          : [...fieldNames(one.key), ...(one.kind === "part" ? fieldNames(definition.nodes[one.of]?.key ?? "") : [])];
      checkTimes(place, one, idFields, report);
      if (!layout) return;
      const item = layout[group]?.[name];
      const names = { fields: known && [...known, ...(one.version ? ["version"] : []), ...timeNames(one)], layout };
      checkItemLayout(`layout.${place}`, item, names, report);
      if (item && "mirror" in item) checkItemLayout(`layout.${place}.mirror`, item.mirror, names, report);
    });
  }
  each(definition.parts, (name, part) => {
    const owner = fieldNames(definition.nodes[part.of]?.key ?? "");
    const shared = fieldNames(part.key).find((field) => owner.includes(field));
    if (shared !== undefined)
      report(
        "reservedName",
        `parts.${name}.key`,
        `"${shared}" is already an id field of "${part.of}", which rows of the part contain too. Rename one.`,
      );
  });
  each(definition.edges, (name, { schema }) => {
    const known = schema && attributeNames(schema);
    for (const end of ["from", "to"])
      if (known?.includes(end)) report("reservedName", `edges.${name}`, `"${end}" is an end of every edge. Rename the attribute.`);
  });
};

// Future times in every form that a schema may take, and texts, which a time never is.
const TIMES: readonly unknown[] = [4_102_444_800, 1_893_456_000, 4_102_444_800n, new Date("2100-01-01")];
const TEXTS: readonly unknown[] = ["2100-01-01T00:00:00Z", "4102444800", "x"];

const acceptsAny = (schema: AnySchema, values: readonly unknown[]): boolean => values.some((value) => !refuses(schema, value));

/** What DynamoDB's removal of the item by the attribute would leave behind. */
const leftBehind = (catalog: Catalog, shape: Shape, ttl: string): string | undefined => {
  const edge = catalog.edges[shape.definition]?.definition;
  const unique = catalog.nodes[shape.definition]?.definition.unique ?? [];
  if (shape.kind === "node" && unique.length > 0) return "the marker of its unique value, which could not be used again";
  if (shape.kind === "node" || !edge) return undefined;
  if (shape.copied?.includes(ttl) === false) return "the edge's other copy, which does not have this attribute";
  for (const end of ["from", "to"] as const) {
    const limit = degreeLimit(edge, end);
    const isCounted = limit !== undefined && (catalog.escapes || limit > 1);
    if (isCounted || edge.onDelete?.[end] === "restrict") return "the count of the edges at its ends";
  }
  // By that count a change of the node finds all of them.
  const isCopied = catalog.facts.copies.some(
    ({ onto, freshness }) => onto.kind === "edge" && onto.name === shape.definition && freshness === "transaction",
  );
  if (isCopied) return 'the count of the edges whose copies change with their node; copies of freshness "stream" need none';
  return undefined;
};

/** The attribute by which items expire: one for the table, a time, in items whose removal leaves nothing behind. */
export const checkTtl = (catalog: Catalog, report: Report): void => {
  for (const shape of catalog.shapes) {
    const { ttl, stored } = shape;
    if (ttl === undefined) continue;
    const place = `${shape.kind}s.${shape.definition}.ttl`;
    if ((stored[ttl] ?? ttl) !== catalog.ttl)
      report(
        "setting",
        place,
        `a table has one such attribute, and another definition stores it as "${catalog.ttl}". Name one attribute in all of them.`,
      );
    if (shape.carried.includes(ttl))
      report("setting", place, `"${ttl}" is in a key and has no attribute of its own. Leave it out of the key.`);
    const schema = definitionOf(catalog, shape)?.schema;
    const own = schema && attributeSchemas(schema)?.each[ttl];
    if (own && acceptsAny(own, TEXTS) && !acceptsAny(own, TIMES))
      report(
        "setting",
        place,
        `the schema of "${ttl}" takes text. Declare a number (whole seconds since 1970), or a Date and name it in \`dates\`.`,
      );
    const left = leftBehind(catalog, shape, ttl);
    if (left !== undefined)
      report("setting", place, `DynamoDB removes expired items by itself and would leave ${left}. Leave out ttl, or what depends on it.`);
  }
};

/** An attribute of a kind without `ttl` that may hold a number under the name of another kind's `ttl`, and where the model says so. */
interface SharedTtl {
  readonly attribute: string;
  readonly place: string;
  /** What Edgetable stores there, if that is never a time of expiry. */
  readonly kept: string | undefined;
}

const sharedTtl = (catalog: Catalog, shape: Shape): SharedTtl | undefined => {
  const { ttl, definition: graph } = catalog;
  const one = definitionOf(catalog, shape);
  if (ttl === undefined || shape.ttl !== undefined || shape.role === "reference" || !one) return undefined;
  const attribute = shape.fields[ttl] ?? ttl;
  if ((shape.stored[attribute] ?? attribute) !== ttl || shape.carried.includes(attribute)) return undefined;
  const place = `${shape.kind}s.${shape.definition}`;
  const schema = one.schema && attributeSchemas(one.schema)?.each[attribute];
  // DynamoDB passes over texts, as which Dates are stored.
  if (schema !== undefined)
    return !one.dates?.includes(attribute) && acceptsAny(schema, TIMES)
      ? { attribute, place: `${place}.schema`, kept: undefined }
      : undefined;
  const type = [...derivedNames(one), ...timeNames(one)].includes(attribute) ? valueType(graph, one, attribute) : undefined;
  if (type !== "number" && type !== "bigint") return undefined;
  if (timeNames(one).includes(attribute)) return { attribute, place: `${place}.timestamps`, kept: "the time of a write" };
  const derived = one.kind === "part" ? undefined : own(one.derived ?? {}, attribute);
  if (!derived) return { attribute, place: `${place}.copies.${attribute}`, kept: undefined };
  const isValue = derived.operation === "min" || derived.operation === "max";
  return { attribute, place: `${place}.derived.${attribute}`, kept: isValue ? undefined : `a ${derived.operation}` };
};

/** DynamoDB also removes items that hold another kind's `ttl`: it must be a time there too, and leave nothing behind. */
export const checkSharedTtl = (catalog: Catalog, report: Report): void => {
  const seen = new Set<string>();
  for (const shape of catalog.shapes) {
    const shared = sharedTtl(catalog, shape);
    if (shared === undefined || seen.has(shared.place)) continue;
    const { attribute, place, kept } = shared;
    const fact = catalog.facts.aggregates.find(
      ({ freshness, node, over }) =>
        freshness === "transaction" && (shape.kind === "node" ? node : over.kind === shape.kind && over.name) === shape.definition,
    );
    const left = fact ? `"${fact.attribute}" of "${fact.node}" as it was` : leftBehind(catalog, shape, attribute);
    if (kept === undefined && left === undefined) continue;
    seen.add(place);
    report(
      "setting",
      place,
      kept === undefined
        ? `"${attribute}" is stored as the ttl of other kinds, so DynamoDB also removes items of "${shape.definition}" by it, and would leave ${left}. Give it another name, or leave out what depends on these items.`
        : `"${attribute}" is stored as the ttl of other kinds, so reads would take ${kept} for the time at which the item expires. Give it another name.`,
    );
  }
};

/** Copies that transactions keep on parts: each has to find all parts of its node at once. */
export const checkPartCopies = (catalog: Catalog, report: Report): void => {
  const { copies } = catalog.facts;
  for (const { name, definition, shape } of Object.values(catalog.parts)) {
    if (!liesApart(catalog, { definition, shape })) continue;
    const owner = catalog.nodes[definition.of];
    const fixed = [...(owner?.idFields ?? []), ...(owner?.definition.immutable ?? [])];
    for (const { onto, attribute, of, freshness, beyond } of copies)
      if (onto.kind === "part" && onto.name === name && freshness === "transaction" && beyond !== "job" && !fixed.includes(of))
        report(
          "setting",
          `parts.${name}.copies.${attribute}`,
          `only an index finds the parts of a node, and it may not show one that was created a moment before: a transaction that changes "${of}" would leave its copy behind. Let a job change the copies (beyond: "job"), which looks twice, or the stream (freshness: "stream").`,
        );
  }
};

const checkSymmetric = (place: string, edge: AnyEdge, report: Report): void => {
  const { from, to } = edge.maxDegree ?? {};
  const sources = endTypes(edge.from).toSorted().join();
  const targets = endTypes(edge.to).toSorted().join();
  if (sources !== targets)
    report(
      "setting",
      `${place}.symmetric`,
      `a symmetric edge has the same node types at both ends, but from is ${sources} and to is ${targets}. Leave symmetric out, or name the same types.`,
    );
  if (edge.multiplicity === "one-to-many" || edge.multiplicity === "many-to-one")
    report(
      "setting",
      `${place}.multiplicity`,
      `"${edge.multiplicity}" distinguishes the ends of a symmetric edge. Use "one-to-one" or "many-to-many".`,
    );
  if (from !== undefined && to !== undefined && from !== to)
    report("setting", `${place}.maxDegree`, `${from} and ${to} differ, but the ends of a symmetric edge are alike. Give one.`);
  if (edge.stored === "reference")
    report("setting", `${place}.stored`, '"reference" keeps the edge in one node, and a symmetric edge is in both. Leave one of them out.');
};

/** An edge that lives in its source's item: that item must contain the target's id, and has room for one target. */
const checkReference = (definition: GraphDefinition, place: string, edge: AnyEdge, report: Report): void => {
  for (const setting of ["key", "version", "timestamps", "ttl", "sides"] as const)
    if (edge[setting] !== undefined)
      report(
        "setting",
        `${place}.${setting}`,
        `an edge stored as a reference has no item, so that ${setting} has no effect. Leave it out.`,
      );
  // A reference is written by an update of its source, which reads no other node and counts nothing.
  const unenforced: Readonly<Record<string, unknown>> = {
    "onDelete.to": edge.onDelete?.to === "leave" ? undefined : edge.onDelete?.to,
    "onDelete.from": edge.onDelete?.from === "restrict" ? "restrict" : undefined,
    "maxDegree.to": edge.maxDegree?.to,
    multiplicity: edge.multiplicity === "one-to-one" ? edge.multiplicity : undefined,
  };
  for (const [setting, value] of Object.entries(unenforced))
    if (value !== undefined)
      report(
        "setting",
        `${place}.${setting}`,
        `${JSON.stringify(value)} cannot be enforced: a reference is written with its source, and no edges are counted. Store the edge "once", or leave it out.`,
      );
  if (edge.multiplicity === "one-to-many" || edge.multiplicity === "many-to-many" || (edge.maxDegree?.from ?? 1) > 1)
    report("setting", `${place}.stored`, 'a reference has room for one target. Set multiplicity "many-to-one", or store the edge "once".');
  const targets = endTypes(edge.to);
  if (targets.length > 1)
    report("setting", `${place}.to`, `a reference cannot distinguish ${targets.join(" from ")}. Declare an edge for each.`);
  const known = fieldNames(definition.nodes[targets[0] ?? ""]?.key ?? "");
  const by = edge.by ?? {};
  reportUnknown(report, `${place}.by`, Object.keys(by), { rule: "attribute", what: `an id field of "${targets[0]}"`, known });
  const attributes = known.map((id) => by[id] ?? id);
  for (const source of endTypes(edge.from)) {
    if (source === targets[0] && known.length > 0 && known.every((id, at) => attributes[at] === id))
      report(
        "setting",
        `${place}.by`,
        `every "${source}" would refer to itself: the attributes that hold the target's id are its own id. Name others, such as by: { ${known.at(-1)}: "parentId" }.`,
      );
    const node = definition.nodes[source];
    reportUnknown(report, `${place}.by`, attributes, {
      rule: "attribute",
      what: `an attribute of "${source}", which must contain the id of "${targets[0]}"`,
      known: node && attributeNames(node.schema),
    });
  }
};

/** What an edge cannot have whose end is a part. */
const checkPartEnds = (definition: GraphDefinition, name: string, edge: AnyEdge, report: Report): void => {
  const place = `edges.${name}`;
  const ends = (["from", "to"] as const).flatMap((end) =>
    endTypes(edge[end]).flatMap((type) => (Object.hasOwn(definition.parts ?? {}, type) ? [{ end, type }] : [])),
  );
  const [first] = ends;
  if (!first) return;
  const refuse = (at: string, what: string): void => report("setting", at, `"${first.type}" is a part, and ${what}`);
  const mend = `Leave them out, or make "${first.type}" a node with a key of its own.`;
  if (edge.stored === "reference")
    refuse(`${place}.stored`, 'an edge that leads to or from a part cannot be a reference. Store it "once" or "twice".');
  const isPart = (end: "from" | "to"): boolean => ends.some((one) => one.end === end);
  for (const end of ["from", "to"] as const)
    if (edge.copies?.[end] !== undefined && isPart(end))
      refuse(`${place}.copies.${end}`, `its attributes are not copied onto edges. ${mend}`);
  if (edge.derived !== undefined) refuse(`${place}.derived`, `its edges have no derived attributes. ${mend}`);
  for (const [group, all] of [
    ["nodes", definition.nodes],
    ["edges", definition.edges ?? {}],
  ] as const)
    for (const [holder, { derived = {} }] of Object.entries<AnyNode | AnyEdge>(all))
      for (const [attribute, { source }] of Object.entries(derived))
        if (summarized(source)?.[1] === name)
          refuse(`${group}.${holder}.derived.${attribute}`, `no summary ranges over its edges ("${name}"). ${mend}`);
  for (const { end, type } of ends)
    if (edge.onDelete?.[end] === "restrict")
      report(
        "setting",
        `${place}.onDelete.${end}`,
        `"${type}" is a part and goes with its node, whose deletion cannot ask the edges of all its parts at once. Use "cascade" or "leave".`,
      );
};

/** Settings of edges that are out of range, contradict each other or have no effect. */
export const checkEdges = (definition: GraphDefinition, report: Report): void =>
  each(definition.edges, (name, edge) => {
    const place = `edges.${name}`;
    for (const end of ["from", "to"] as const) {
      const degree = edge.maxDegree?.[end];
      if (degree !== undefined && degree > 1 && isSingle(edge, end))
        report(
          "setting",
          `${place}.maxDegree.${end}`,
          `${degree} contradicts multiplicity "${edge.multiplicity}", which allows 1. Leave one of them out.`,
        );
    }
    if (edge.symmetric) checkSymmetric(place, edge, report);
    checkPartEnds(definition, name, edge, report);
    if (edge.sides !== undefined && (edge.symmetric === true || edge.stored === "once"))
      report("setting", `${place}.sides`, 'only an edge with stored: "twice" has two sides. Store it twice, or leave sides out.');
    const isReference = edge.stored === "reference";
    if (edge.orderBy !== undefined) {
      const source = definition.nodes[endTypes(edge.from)[0] ?? ""]?.schema;
      const known = isReference ? source && attributeNames(source) : attributesOf(edge);
      const what = isReference ? "an attribute of the source" : "an attribute here";
      try {
        const { fields } = parseTemplate(`{${edge.orderBy}}`, { delimiter: "#", escapes: true });
        reportUnknown(report, `${place}.orderBy`, fields, { rule: "attribute", what, known });
      } catch (error) {
        if (!isEdgetableError(error, "schema.invalidModel")) throw error;
        report("template", `${place}.orderBy`, error.message);
      }
    }
    for (const end of ["from", "to"] as const) {
      const types = endTypes(edge[end]);
      const typed = types.find((type) => fieldNames(endKey(definition, type)).includes("type"));
      if (types.length > 1 && typed !== undefined)
        report(
          "reservedName",
          `${place}.${end}`,
          `"type" distinguishes the node types of this end, and is an id field of "${typed}". Rename the field.`,
        );
    }
    if (isReference) checkReference(definition, place, edge, report);
    else if (edge.by !== undefined) report("setting", `${place}.by`, 'by is for stored: "reference". Leave it out.');
    const isTwice = edge.stored === "twice" && !edge.symmetric;
    if (definition.layout === undefined && isTwice && `~${name}` === DEGREE_TYPE)
      report(
        "reservedName",
        place,
        `"${name}" cannot be stored twice under this name: its second copies would have the keys of Edgetable's counts. Rename it.`,
      );
    if (definition.layout?.edges?.[name]?.mirror !== undefined && !isTwice && !edge.symmetric)
      report("layout", `layout.edges.${name}.mirror`, 'the edge is stored once and has no mirror. Set stored: "twice", or leave it out.');
  });
