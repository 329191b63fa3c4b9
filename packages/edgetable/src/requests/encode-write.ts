import type { AttributeChanges, Term, WriteItem } from "../ir/write-plan.ts";
import type { AttributeValue, Item, Key, OperationInputs, TransactWriteItem } from "../transport/operations.ts";
import { unreachable } from "../util/invariant.ts";
import { conditionExpression } from "./condition-expression.ts";
import { nameIn, namesOf, Placeholders } from "./placeholders.ts";

/** A request as it is sent. */
export type EncodedWrite = {
  [O in "PutItem" | "UpdateItem" | "DeleteItem" | "TransactWriteItems"]: { readonly operation: O; readonly input: OperationInputs[O] };
}["PutItem" | "UpdateItem" | "DeleteItem" | "TransactWriteItems"];

const equals = (term: Term & { readonly kind: "equals" }, names: Placeholders): string => {
  const name = names.name(term.attribute);
  if (term.value === undefined) return `attribute_not_exists(${name})`;
  const same = `${name} = ${names.value(term.value)}`;
  return term.orAbsent ? `(attribute_not_exists(${name}) OR ${same})` : same;
};

const absent = ({ expired }: Term & { readonly kind: "absent" }, partitionKey: string, names: Placeholders): string => {
  const none = `attribute_not_exists(${names.name(partitionKey)})`;
  return expired ? `(${none} OR ${names.name(expired.attribute)} < ${names.value({ N: String(expired.before) })})` : none;
};

const below = (term: Term & { readonly kind: "below" }, names: Placeholders): string => {
  const name = names.name(term.attribute);
  const less = `${name} < ${names.value({ N: String(term.limit) })}`;
  return term.limit > 0 ? `(attribute_not_exists(${name}) OR ${less})` : less;
};

const termExpression = (term: Term, partitionKey: string, names: Placeholders): string => {
  switch (term.kind) {
    case "absent":
      return absent(term, partitionKey, names);
    case "present":
      return `attribute_exists(${names.name(partitionKey)})`;
    case "has":
      return `attribute_exists(${names.name(term.attribute)})`;
    case "equals":
      return equals(term, names);
    case "begins": {
      const name = names.name(term.attribute);
      return `(attribute_not_exists(${name}) OR begins_with(${name}, ${names.value({ S: term.text })}))`;
    }
    case "below":
      return below(term, names);
    case "atLeast":
      return `${names.name(term.attribute)} >= ${names.value({ N: String(term.least) })}`;
    case "where":
      return conditionExpression(term.shape, term.conditions, names);
    default:
      return unreachable(term);
  }
};

const appended = (name: string, value: AttributeValue, names: Placeholders): string =>
  `${name} = list_append(if_not_exists(${name}, ${names.value({ L: [] })}), ${names.value(value)})`;

const clause = (before: string, verb: string, parts: readonly string[]): string => {
  if (parts.length === 0) return before;
  return `${before}${before === "" ? "" : " "}${verb} ${parts.join(", ")}`;
};

const updateExpression = (changes: AttributeChanges, names: Placeholders): string => {
  const { set, append, add } = changes;
  const sets: string[] = [];
  for (const attribute in set) sets.push(`${names.name(attribute)} = ${names.value(set[attribute]!)}`);
  for (const attribute in append) sets.push(appended(names.name(attribute), append[attribute]!, names));
  for (const attribute in changes.defaults) {
    const name = names.name(attribute);
    sets.push(`${name} = if_not_exists(${name}, ${names.value(changes.defaults[attribute]!)})`);
  }
  const adds: string[] = [];
  for (const attribute in add) adds.push(`${names.name(attribute)} ${names.value(add[attribute]!)}`);
  const removes = changes.remove.map((attribute) => names.name(attribute));
  return clause(clause(clause("", "SET", sets), "REMOVE", removes), "ADD", adds);
};

const conditionOf = (item: WriteItem, partitionKey: string, names: Placeholders): string => {
  let text = "";
  for (const term of item.terms) {
    const one = termExpression(term, partitionKey, names);
    if (one !== "") text += text === "" ? one : ` AND ${one}`;
  }
  return text;
};

interface Body {
  readonly TableName: string;
  Item?: Item;
  Key?: Key;
  UpdateExpression?: string;
  ConditionExpression?: string;
  ReturnValuesOnConditionCheckFailure?: "ALL_OLD";
}

const body = (table: string, partitionKey: string, item: WriteItem): Body => {
  const names = new Placeholders();
  const body: Body = { TableName: table };
  if (item.kind === "put") body.Item = item.item;
  else body.Key = item.key;
  const update = item.kind === "update" ? updateExpression(item.changes, names) : "";
  if (update !== "") body.UpdateExpression = update;
  const condition = conditionOf(item, partitionKey, names);
  if (condition !== "") {
    body.ConditionExpression = condition;
    body.ReturnValuesOnConditionCheckFailure = "ALL_OLD";
  }
  return Object.assign(body, names.fields);
};

const actions = { put: "Put", update: "Update", delete: "Delete", check: "ConditionCheck" } as const;

/** What encoding needs of the table. */
export interface WriteTarget {
  readonly table: string;
  readonly partitionKey: string;
}

/** One item's write as a request of its own. */
export const encodeSingle = ({ table, partitionKey }: WriteTarget, item: Exclude<WriteItem, { kind: "check" }>): EncodedWrite => {
  const input = Object.assign(body(table, partitionKey, item), { ReturnConsumedCapacity: "TOTAL" as const });
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

// A copy that does not hold what is changed has nothing to update: it is checked instead, in its place.
const transactItem = ({ table, partitionKey }: WriteTarget, item: WriteItem): TransactWriteItem => {
  const one = body(table, partitionKey, item);
  if (item.kind !== "update" || one.UpdateExpression !== undefined) {
    const action: Record<string, Body> = {};
    action[actions[item.kind]] = one;
    return action as unknown as TransactWriteItem;
  }
  const names: Record<string, string> = {};
  const key = nameIn(names, partitionKey, "#0");
  const anyhow = { ConditionExpression: `attribute_exists(${key}) OR attribute_not_exists(${key})`, ...namesOf(names) };
  return { ConditionCheck: one.ConditionExpression === undefined ? { ...one, ...anyhow } : one } as unknown as TransactWriteItem;
};

/** Several items' writes as one transaction. The token makes a repeated request exact for ten minutes. */
export const encodeTransaction = (target: WriteTarget, items: readonly WriteItem[], token: string): EncodedWrite => ({
  operation: "TransactWriteItems",
  input: {
    TransactItems: items.map((item) => transactItem(target, item)),
    ClientRequestToken: token,
    ReturnConsumedCapacity: "TOTAL",
  },
});
