import type { AttributeChanges, DeleteStep, PutStep, Term, WriteItem } from "../ir/write-plan.ts";
import type { BatchWriteItemInput, Item, Key, OperationInputs, TransactWriteItem, WriteRequest } from "../transport/operations.ts";
import { defined, unreachable } from "../util/invariant.ts";
import { encodeField } from "./encode-item.ts";
import { type Filters, nameIn, namesOf, Placeholders } from "./expression.ts";

/** A request as it is sent. */
export type EncodedWrite = {
  [O in "PutItem" | "UpdateItem" | "DeleteItem" | "TransactWriteItems"]: { readonly operation: O; readonly input: OperationInputs[O] };
}["PutItem" | "UpdateItem" | "DeleteItem" | "TransactWriteItems"];

const termExpression = (term: Term, { partitionKey, filters }: WriteTarget, names: Placeholders): string => {
  switch (term.kind) {
    case "absent": {
      const none = `attribute_not_exists(${names.name(partitionKey)})`;
      const { expired } = term;
      return expired ? `(${none} OR ${names.name(expired.attribute)} < ${names.value({ N: String(expired.before) })})` : none;
    }
    case "present": {
      const there = `attribute_exists(${names.name(partitionKey)})`;
      const { expired } = term;
      // An item without the attribute, or with a value that is not a number, never expires.
      return expired ? `${there} AND NOT (${names.name(expired.attribute)} < ${names.value({ N: String(expired.before) })})` : there;
    }
    case "has":
      return `attribute_exists(${names.name(term.attribute)})`;
    case "equals": {
      const name = names.name(term.attribute);
      if (term.value === undefined) return `attribute_not_exists(${name})`;
      const same = `${name} = ${names.value(term.value)}`;
      return term.orAbsent ? `(attribute_not_exists(${name}) OR ${same})` : same;
    }
    case "begins": {
      const name = names.name(term.attribute);
      return `(attribute_not_exists(${name}) OR begins_with(${name}, ${names.value({ S: term.text })}))`;
    }
    case "match": {
      const all = term.shape.match.map(({ field, attribute, values, beginsWith, exists }) => {
        const name = names.name(attribute);
        if (exists !== undefined) return `attribute_${exists ? "" : "not_"}exists(${name})`;
        const texts = (values ?? [beginsWith]).map((value) => names.value(encodeField(term.shape, field, value)));
        if (!values) return `begins_with(${name}, ${texts.join()})`;
        return texts.length === 1 ? `${name} = ${texts.join()}` : `${name} IN (${texts.join(", ")})`;
      });
      const one = all.length === 1 ? all.join() : `(${all.join(" AND ")})`;
      return `(attribute_not_exists(${names.name(partitionKey)}) OR ${one})`;
    }
    case "below": {
      const name = names.name(term.attribute);
      const less = `${name} < ${names.value({ N: String(term.limit) })}`;
      return term.limit > 0 ? `(attribute_not_exists(${name}) OR ${less})` : less;
    }
    case "atLeast":
      return `${names.name(term.attribute)} >= ${names.value({ N: String(term.least) })}`;
    case "parent":
      return `attribute_type(${names.path(term.attribute, term.within)}, ${names.value({ S: term.type })})`;
    case "where":
      return defined(filters, "filters").conditionExpression(term.shape, term.conditions, names);
    default:
      return unreachable(term);
  }
};

const clause = (before: string, verb: string, parts: readonly string[]): string => {
  if (parts.length === 0) return before;
  return `${before}${before === "" ? "" : " "}${verb} ${parts.join(", ")}`;
};

const updateExpression = (changes: AttributeChanges, names: Placeholders): string => {
  const { set, append, add } = changes;
  const sets: string[] = [];
  for (const attribute in set) sets.push(`${names.name(attribute)} = ${names.value(set[attribute]!)}`);
  for (const attribute in append) {
    const name = names.name(attribute);
    sets.push(`${name} = list_append(if_not_exists(${name}, ${names.value({ L: [] })}), ${names.value(append[attribute]!)})`);
  }
  for (const attribute in changes.defaults) {
    const name = names.name(attribute);
    sets.push(`${name} = if_not_exists(${name}, ${names.value(changes.defaults[attribute]!)})`);
  }
  const adds: string[] = [];
  for (const attribute in add) adds.push(`${names.name(attribute)} ${names.value(add[attribute]!)}`);
  const removes = changes.remove.map((attribute) => names.name(attribute));
  const deletes: string[] = [];
  for (const { verb, attribute, within, value } of changes.paths ?? []) {
    const path = names.path(attribute, within);
    const put = (): string => names.value(value!);
    if (verb === "set") sets.push(`${path} = ${put()}`);
    else if (verb === "append") sets.push(`${path} = list_append(if_not_exists(${path}, ${names.value({ L: [] })}), ${put()})`);
    else if (verb === "remove") removes.push(path);
    else (verb === "add" ? adds : deletes).push(`${path} ${put()}`);
  }
  return clause(clause(clause(clause("", "SET", sets), "REMOVE", removes), "ADD", adds), "DELETE", deletes);
};

interface Body {
  readonly TableName: string;
  Item?: Item;
  Key?: Key;
  UpdateExpression?: string;
  ConditionExpression?: string;
  ReturnValuesOnConditionCheckFailure?: "ALL_OLD";
}

const body = (target: WriteTarget, item: WriteItem): Body => {
  const names = new Placeholders();
  const body: Body = { TableName: target.table };
  if (item.kind === "put") body.Item = item.item;
  else body.Key = item.key;
  const update = item.kind === "update" ? updateExpression(item.changes, names) : "";
  if (update !== "") body.UpdateExpression = update;
  let condition = "";
  for (const term of item.terms) {
    const one = termExpression(term, target, names);
    if (one !== "") condition += condition === "" ? one : ` AND ${one}`;
  }
  if (condition !== "") {
    body.ConditionExpression = condition;
    body.ReturnValuesOnConditionCheckFailure = "ALL_OLD";
  }
  return Object.assign(body, names.fields);
};

const actions = { put: "Put", update: "Update", delete: "Delete", check: "ConditionCheck" } as const;

/** The parts of the catalog that encoding needs. */
export interface WriteTarget {
  readonly table: string;
  readonly partitionKey: string;
  /** For terms that are conditions of the caller's. */
  readonly filters?: Filters | undefined;
}

/** One item's write as a single request. */
export const encodeSingle = (target: WriteTarget, item: Exclude<WriteItem, { kind: "check" }>): EncodedWrite => {
  const input = Object.assign(body(target, item), { ReturnConsumedCapacity: "TOTAL" as const });
  switch (item.kind) {
    case "put":
      return { operation: "PutItem", input: input as unknown as OperationInputs["PutItem"] };
    case "update":
      return {
        operation: "UpdateItem",
        input: Object.assign(input, { ReturnValues: "ALL_NEW" }) as unknown as OperationInputs["UpdateItem"],
      };
    case "delete":
      return {
        operation: "DeleteItem",
        input: Object.assign(input, { ReturnValues: "ALL_OLD" }) as unknown as OperationInputs["DeleteItem"],
      };
    default:
      return unreachable(item);
  }
};

/** Several items' writes as one transaction. The token makes a repeated request exact for ten minutes. */
export const encodeTransaction = (target: WriteTarget, items: readonly WriteItem[], token: string): EncodedWrite => ({
  operation: "TransactWriteItems",
  input: {
    TransactItems: items.map((item) => {
      const one = body(target, item);
      if (item.kind !== "update" || one.UpdateExpression !== undefined) {
        const action: Record<string, Body> = {};
        action[actions[item.kind]] = one;
        return action as unknown as TransactWriteItem;
      }
      // If a copy of an edge does not store any of the changed attributes, it is only checked.
      const names: Record<string, string> = {};
      const key = nameIn(names, target.partitionKey, "#0");
      const anyhow = { ConditionExpression: `attribute_exists(${key}) OR attribute_not_exists(${key})`, ...namesOf(names) };
      return { ConditionCheck: one.ConditionExpression === undefined ? { ...one, ...anyhow } : one } as unknown as TransactWriteItem;
    }),
    ClientRequestToken: token,
    ReturnConsumedCapacity: "TOTAL",
  },
});

/** "BatchWriteItem: 25 put or delete requests, 16 MB" (ServiceQuotas); 25 items of 400 KB are 10 MB. */
export const BATCH_WRITE_ITEMS = 25;

/** A step in the form of a batch, which has no conditions. */
export const writeRequest = (step: PutStep | DeleteStep): WriteRequest =>
  step.kind === "put" ? { PutRequest: { Item: step.item } } : { DeleteRequest: { Key: step.key } };

export const encodeBatchWrite = (table: string, requests: readonly WriteRequest[]): BatchWriteItemInput => ({
  RequestItems: { [table]: requests },
  ReturnConsumedCapacity: "TOTAL",
});

/** Divides requests into batches. */
export const inBatches = <T>(requests: readonly T[]): readonly (readonly T[])[] => {
  const batches: (readonly T[])[] = [];
  for (let at = 0; at < requests.length; at += BATCH_WRITE_ITEMS) batches.push(requests.slice(at, at + BATCH_WRITE_ITEMS));
  return batches;
};
