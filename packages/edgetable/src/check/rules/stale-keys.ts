import { definitionOf, keyAttributes } from "../../schema/catalog.ts";
import { keptByStream } from "../../schema/describe-model.ts";
import { askSchema, attributeNames, attributeSchemas } from "../../schema/standard-schema.ts";
import { didYouMean } from "../../util/did-you-mean.ts";
import { CONCERNS, type Advice, type AdviceRule } from "../advice.ts";
import { attributesOf, distinct, isFixed } from "../index-places.ts";

/** Computed attributes that put no item into any index. */
export const idleIndexKey: AdviceRule = (catalog) => {
  const advice: Advice[] = [];
  for (const shape of distinct(catalog.shapes, ({ definition, role }) => `${definition} ${role}`)) {
    const about = { rule: "idleIndexKey", concern: CONCERNS.indexKeys, definition: shape.definition } as const;
    for (const [attribute, { parts }] of Object.entries(shape.keys)) {
      if (keyAttributes(catalog.index).includes(attribute)) continue;
      const using = catalog.indexes.filter((index) => keyAttributes(index).includes(attribute));
      if (using.length === 0) {
        const known = didYouMean(attribute, catalog.indexes.flatMap(keyAttributes));
        // An attribute that repeats one field, or holds a constant, is what the table's items have.
        if (parts.length === 1 && !known.startsWith(" Did you mean")) continue;
        advice.push({
          ...about,
          severity: "note",
          message: `"${attribute}" of "${shape.definition}" is computed but is not a key of any index.${known}`,
          mend: "Use the name of the index's key attribute, or leave the attribute out if nothing reads it.",
        });
        continue;
      }
      const missing = using.map((index) => keyAttributes(index).filter((key) => !(key in shape.keys)));
      if (missing.some((keys) => keys.length === 0)) continue;
      const others = missing[0]?.join('", "');
      advice.push({
        ...about,
        severity: "warning",
        message: `"${shape.definition}" fills "${attribute}" but not "${others}": the index "${using[0]?.name}" only contains items with all its keys.`,
        mend: `Fill "${others}" too, or leave "${attribute}" out.`,
      });
    }
  }
  return advice;
};

/** Indexes that reject the items whose optional attribute is missing. */
export const requiredByIndex: AdviceRule = (catalog) => {
  const advice: Advice[] = [];
  for (const shape of distinct(catalog.shapes, ({ definition }) => definition)) {
    const schema = definitionOf(catalog, shape)?.schema;
    const optional = new Set<string>();
    for (const [name, attribute] of Object.entries((schema && attributeSchemas(schema)?.each) ?? {})) {
      // A schema that throws for undefined, or tells later, does not take it for a missing value.
      const result = askSchema(attribute, undefined);
      if (result && !result.issues && result.value === undefined) optional.add(name);
    }
    for (const index of optional.size > 0 ? catalog.indexes : []) {
      const keys = keyAttributes(index).filter((key) => !shape.sparse.includes(key) && !keyAttributes(catalog.index).includes(key));
      const needed = keys.flatMap((key) => shape.keys[key]?.fields ?? []).find((path) => optional.has(path));
      if (needed === undefined) continue;
      advice.push({
        rule: "requiredByIndex",
        concern: CONCERNS.indexKeys,
        definition: shape.definition,
        severity: "warning",
        message: `the index "${index.name}" needs "${needed}" of every "${shape.definition}", and the schema does not require it: an item without it is rejected.`,
        mend: catalog.escapes
          ? `Declare the entry sparse: { by: …, sparse: true } leaves such items out of the index.`
          : `Name ${keys.map((key) => `"${key}"`).join(" and ")} in sparse, which leaves such items out of the index.`,
      });
    }
  }
  return advice;
};

/** Indexes by attributes that items store but no template computes: Edgetable cannot use them. */
export const unusedIndex: AdviceRule = (catalog) => {
  const advice: Advice[] = [];
  for (const index of catalog.indexes) {
    for (const shape of distinct(catalog.shapes, ({ definition }) => definition)) {
      const own = new Map(attributesOf(catalog, shape).map((name) => [shape.stored[name] ?? name, name]));
      const key = index.partitionKeys.find((attribute) => !(attribute in shape.keys)) ?? "";
      const name = own.get(key);
      if (name === undefined || shape.carried.includes(name)) continue;
      const computed = keyAttributes(index).flatMap((attribute) =>
        attribute in shape.keys ? [] : [`${JSON.stringify(attribute)}: "{${own.get(attribute) ?? "…"}}"`],
      );
      advice.push({
        rule: "unusedIndex",
        concern: CONCERNS.indexKeys,
        definition: shape.definition,
        severity: "warning",
        message: `"${shape.definition}" stores "${name}" as "${key}", the partition key of the index "${index.name}", but no template says so: no search uses that index.`,
        mend: `Compute it instead: keys: { ${computed.join(", ")} }.`,
      });
    }
  }
  return advice;
};

/** Attributes that may change, in keys that should not. Index keys made of the item's own attributes are fine: writes recompute them. */
export const mutableKey: AdviceRule = (catalog) => {
  const advice: Advice[] = [];
  for (const shape of catalog.shapes) {
    const about = { rule: "mutableKey", concern: CONCERNS.indexKeys, definition: shape.definition } as const;
    for (const [attribute, { parts }] of Object.entries(shape.keys)) {
      const fields = parts.filter((part) => part.kind === "field");
      for (const { path, format } of distinct(fields, (field) => field.path)) {
        if (isFixed(catalog, shape, path)) continue;
        if (shape.kind === "edge" && /^(?:from|to)\./.test(path))
          advice.push({
            ...about,
            severity: "warning",
            message: `"${attribute}" of "${shape.definition}" contains {${path}}. When the node changes it, the edge keeps the old key.`,
            mend: "Make the attribute immutable on the node, or leave it out of the edge's keys.",
          });
        else if (format.kind === "shard")
          advice.push({
            ...about,
            severity: "warning",
            message: `"${attribute}" of "${shape.definition}" takes its shard from {${path}}, which may change. Each change moves the item to another shard.`,
            mend: "Take the shard from the id, or make the attribute immutable.",
          });
        else if (shape.kind !== "edge" && keyAttributes(catalog.index).includes(attribute))
          advice.push({
            ...about,
            severity: "note",
            message: `the table key "${attribute}" of "${shape.definition}" contains {${path}}, which may change. Each change deletes the item and writes another, GetItem needs more than the id, and a create or put with another value makes a second item of the same id.`,
            mend: "Make the attribute immutable, or keep it out of the table's key.",
          });
      }
    }
  }
  return advice;
};

/** Edge attributes named like a changeable attribute of an end: copies that nothing keeps fresh. */
export const staleCopy: AdviceRule = (catalog) => {
  const advice: Advice[] = [];
  for (const entry of Object.values(catalog.edges)) {
    const { schema, stored } = entry.definition;
    for (const name of schema && stored !== "reference" ? (attributeNames(schema) ?? []) : []) {
      // The node types at its ends that have such an attribute, which may change.
      const types = [...new Set([...entry.from, ...entry.to])].filter((type) => {
        const { idFields = [], definition } = catalog.nodes[type] ?? {};
        if (!definition || definition.stored === false) return false;
        const isImmutable = idFields.includes(name) || definition.immutable?.includes(name) === true;
        return !isImmutable && attributeNames(definition.schema)?.includes(name) === true;
      });
      if (types.length === 0) continue;
      advice.push({
        rule: "staleCopy",
        concern: CONCERNS.truth,
        definition: entry.name,
        severity: "warning",
        message: `"${name}" of "${entry.name}" has the name of an attribute of ${types.map((type) => `"${type}"`).join(" and ")} that may change. If it is a copy, it goes stale when that attribute changes: declare it in \`copies\` instead.`,
        mend: `Make "${name}" immutable there, or leave the copy out and read the node by entries(). If it is not a copy, give it another name.`,
      });
    }
  }
  return advice;
};

/** Facts that are maintained only if a consumer reads the table's stream. */
export const neededStream: AdviceRule = (catalog) => {
  const [first, ...more] = keptByStream(catalog);
  if (first === undefined) return [];
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  return [
    {
      rule: "neededStream",
      concern: CONCERNS.truth,
      definition: catalog.table,
      severity: "note",
      message: `The table's stream keeps ${first}${others}: without a stream, or with nothing that reads it, ${more.length === 0 ? "it does" : "they do"} not follow.`,
      mend: "Switch the stream on (edgetable table create --stream), and run a processor: edgetable stream, or createStreamHandler in Lambda. edgetable table diff shows whether it is on.",
    },
  ];
};
